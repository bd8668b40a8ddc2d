//! `Timers`, one thread at a time: on a clock wound by hand.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Wake, Waker};
use std::time::Duration;

use crate::time::current::{install, install_remote};
use crate::time::tests::support::{Count, hand, poll, timers, wind};
use crate::time::{Instant, Sleep, Timers, sleep, sleep_until};

const MICRO: u64 = 1_000;
const MILLI: u64 = 1_000_000;
const FOREVER: Duration = Duration::MAX;

fn at(nanos: u64) -> Instant {
    Instant::from_nanos(1_000_000_000 + nanos)
}

/// A hundred boxed sleeps, armed, `step` apart.
fn many(count: u64, step: u64, waker: &Waker) -> Vec<std::pin::Pin<Box<Sleep>>> {
    (1..=count)
        .map(|i| {
            let mut sleep = Box::pin(sleep_until(at(i * step)));
            assert!(poll(sleep.as_mut(), waker).is_pending());
            sleep
        })
        .collect()
}

#[test]
fn a_lone_timer_is_exact() {
    let (timers, _) = timers();
    let _installed = install(&timers);
    let (count, waker) = Count::new();
    let mut sleep = pin!(sleep(Duration::from_nanos(100_001)));
    assert_eq!(timers.next(), None);
    assert!(poll(sleep.as_mut(), &waker).is_pending());
    assert_eq!(timers.next(), Some(at(100_001)));
    assert_eq!(timers.fire(at(100_000), 32), 0);
    assert!(!sleep.is_elapsed());
    assert_eq!(timers.fire(at(100_001), 32), 1);
    assert_eq!(count.get(), 1);
    assert!(sleep.is_elapsed());
    assert_eq!(timers.next(), None);
    assert!(poll(sleep, &waker).is_ready());
}

#[test]
fn a_batch_has_a_limit_and_what_is_left_is_due_at_once() {
    let (timers, _) = timers();
    let _installed = install(&timers);
    let (count, waker) = Count::new();
    let sleeps = many(100, 10, &waker);
    assert_eq!(timers.fire(at(MILLI), 70), 70);
    assert_eq!(count.get(), 70);
    assert!(timers.next().is_some_and(|next| next <= at(MILLI)));
    // Some that became due later are fired in the same call as the backlog.
    wind(at(2 * MILLI).as_nanos());
    let mut later = pin!(sleep_until(at(2 * MILLI + 1)));
    assert!(poll(later.as_mut(), &waker).is_pending());
    assert_eq!(timers.fire(at(3 * MILLI), usize::MAX), 31);
    assert!(sleeps.iter().all(|sleep| sleep.is_elapsed()));
    assert_eq!(timers.next(), None);
}

/// Arms a thousand sleeps `step` apart and fires each time `next` says so; the number of looks.
fn looks_for_a_thousand(step: u64) -> u64 {
    let (timers, _) = timers();
    let _installed = install(&timers);
    let (_, waker) = Count::new();
    let _sleeps = many(1000, step, &waker);
    let (mut looks, mut fired, mut now) = (0, 0, at(0));
    while let Some(next) = timers.next() {
        assert!(next > now);
        // Never later than the spacing after a deadline.
        let earliest = at((fired + 1) * step);
        assert!(next <= at((fired + 1) * step + 98_304), "{next:?} for {earliest:?}");
        now = next;
        fired += timers.fire(now, usize::MAX) as u64;
        looks += 1;
    }
    assert_eq!(fired, 1000);
    looks
}

#[test]
fn dense_timers_are_fired_in_company() {
    // Fifty in a spacing: full batches, and so the wider one.
    assert!(looks_for_a_thousand(MICRO) <= 1_000_000 / 98_304 + 2);
    // Twelve in a spacing.
    let looks = looks_for_a_thousand(4 * MICRO);
    assert!((4_000_000 / 98_304 + 2..=4_000_000 / 49_152 + 2).contains(&looks), "{looks} looks");
    // None but itself.
    assert_eq!(looks_for_a_thousand(100 * MICRO), 1000);
}

#[test]
fn cancelled_and_dropped_timers_leave_at_once() {
    let (timers, _) = timers();
    let _installed = install(&timers);
    let (count, waker) = Count::new();
    let weak = Arc::downgrade(&count);
    let mut sleeps = many(100, MILLI, &waker);
    drop(sleeps.remove(0));
    assert_eq!(timers.next(), Some(at(2 * MILLI)));
    drop(sleeps);
    assert_eq!(timers.next(), None);
    drop((waker, count));
    assert_eq!(weak.strong_count(), 0, "a cancelled timer keeps no waker");
}

#[test]
fn zero_and_the_past_are_over_at_once_and_for_ever_is_never() {
    let (timers, _) = timers();
    let _installed = install(&timers);
    let (count, waker) = Count::new();
    assert!(poll(pin!(sleep(Duration::ZERO)), &waker).is_ready());
    assert!(poll(pin!(sleep_until(Instant::from_nanos(0))), &waker).is_ready());
    assert!(poll(pin!(sleep_until(hand())), &waker).is_ready());
    let mut never = pin!(sleep(FOREVER));
    assert!(never.deadline().is_far_future());
    assert!(poll(never.as_mut(), &waker).is_pending());
    assert_eq!(timers.next(), None, "for ever needs no look");
    assert_eq!(timers.fire(Instant::FAR_FUTURE, 32), 0);
    // It is armed all the same: a reset is enough to be woken.
    never.as_mut().reset(at(MICRO));
    assert_eq!(timers.next(), Some(at(MICRO)));
    assert_eq!(timers.fire(at(MICRO), 32), 1);
    assert_eq!(count.get(), 1);
}

#[test]
fn reset_moves_an_armed_timer_both_ways() {
    let (timers, _) = timers();
    let _installed = install(&timers);
    let (count, waker) = Count::new();
    let mut sleep = pin!(sleep_until(at(5 * MILLI)));
    assert!(poll(sleep.as_mut(), &waker).is_pending());
    sleep.as_mut().reset(at(9 * MILLI));
    assert_eq!(timers.next(), Some(at(9 * MILLI)));
    sleep.as_mut().reset(at(2 * MILLI));
    assert_eq!(timers.next(), Some(at(2 * MILLI)));
    assert_eq!(timers.fire(at(2 * MILLI), 32), 1);
    assert_eq!(count.get(), 1);
    // And one that is over.
    sleep.as_mut().reset(at(20 * MILLI));
    assert!(!sleep.is_elapsed());
    assert!(poll(sleep.as_mut(), &waker).is_pending());
    assert_eq!(timers.fire(at(20 * MILLI), 32), 1);
    assert!(poll(sleep.as_mut(), &waker).is_ready());
}

#[test]
fn the_last_waker_is_woken() {
    let (timers, _) = timers();
    let _installed = install(&timers);
    let (first, waker) = Count::new();
    let (second, other) = Count::new();
    let mut sleep = pin!(sleep_until(at(MILLI)));
    assert!(poll(sleep.as_mut(), &waker).is_pending());
    assert!(poll(sleep.as_mut(), &waker).is_pending());
    assert!(poll(sleep.as_mut(), &other).is_pending());
    assert_eq!(timers.fire(at(MILLI), 32), 1);
    assert_eq!((first.get(), second.get()), (0, 1));
}

#[test]
fn only_other_threads_call_the_owner() {
    let (timers, calls) = timers();
    let (_, waker) = Count::new();
    let owner = install(&timers);
    let mut own = pin!(sleep_until(at(9 * MILLI)));
    assert!(poll(own.as_mut(), &waker).is_pending());
    assert_eq!(calls.get(), 0);
    let remote = install_remote(&timers);
    let mut later = pin!(sleep_until(at(10 * MILLI)));
    assert!(poll(later.as_mut(), &waker).is_pending());
    assert_eq!(calls.get(), 0, "not the earliest");
    let mut earlier = pin!(sleep_until(at(8 * MILLI)));
    assert!(poll(earlier.as_mut(), &waker).is_pending());
    assert_eq!(calls.get(), 1);
    later.as_mut().reset(at(7 * MILLI));
    assert_eq!(calls.get(), 2);
    drop((remote, owner));
}

/// Panics when woken.
struct Bomb(AtomicUsize);

impl Wake for Bomb {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
        panic!("a waker that panics");
    }
}

#[test]
fn a_waker_that_panics_is_survived() {
    let (timers, _) = timers();
    let _installed = install(&timers);
    let bomb = Arc::new(Bomb(AtomicUsize::new(0)));
    let (count, waker) = Count::new();
    let mut sleeps = many(3, MICRO, &waker);
    sleeps.extend(many(3, MICRO, &Waker::from(Arc::clone(&bomb))));
    sleeps.extend(many(3, MICRO, &waker));
    let fired = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        timers.fire(at(MILLI), usize::MAX)
    }));
    assert_eq!(fired.unwrap(), 9);
    assert_eq!((count.get(), bomb.0.load(Relaxed)), (6, 3));
    assert_eq!(timers.fire(at(2 * MILLI), usize::MAX), 0);
}

/// Arms, and drops its own sleep, when woken: needs the lock that fired it.
struct Again(std::sync::Mutex<Option<std::pin::Pin<Box<Sleep>>>>);

impl Wake for Again {
    fn wake(self: Arc<Self>) {
        let mine = self.0.lock().unwrap().take();
        drop(mine);
        let mut next = Box::pin(sleep_until(at(5 * MILLI)));
        let pending = poll(next.as_mut(), Waker::noop()).is_pending();
        *self.0.lock().unwrap() = pending.then_some(next);
    }
}

#[test]
fn wakers_may_use_the_timers() {
    let (timers, _) = timers();
    let _installed = install(&timers);
    let again = Arc::new(Again(std::sync::Mutex::new(None)));
    let mut first = Box::pin(sleep_until(at(MILLI)));
    assert!(poll(first.as_mut(), &Waker::from(Arc::clone(&again))).is_pending());
    *again.0.lock().unwrap() = Some(first);
    assert_eq!(timers.fire(at(MILLI), usize::MAX), 1);
    assert_eq!(timers.next(), Some(at(5 * MILLI)));
    *again.0.lock().unwrap() = None;
    assert_eq!(timers.next(), None);
}

#[test]
fn closed_timers_end_their_sleeps() {
    let (timers, _) = timers();
    let _installed = install(&timers);
    let (count, waker) = Count::new();
    let mut sleeps = many(50, MILLI, &waker);
    sleeps.push(Box::pin(sleep(FOREVER)));
    assert!(poll(sleeps[50].as_mut(), &waker).is_pending());
    timers.close();
    assert_eq!(count.get(), 51);
    assert_eq!(timers.next(), None);
    let panics = |sleep: std::pin::Pin<&mut Sleep>| {
        let polled = std::panic::AssertUnwindSafe(|| poll(sleep, Waker::noop()));
        let payload = std::panic::catch_unwind(polled).unwrap_err();
        payload.downcast_ref::<String>().unwrap().contains("has shut down")
    };
    assert!(panics(sleeps[7].as_mut()));
    assert!(panics(pin!(sleep(Duration::from_secs(1)))), "armed after the close");
    drop(sleeps);
}

#[test]
fn sleeps_outlive_the_guard_and_go_on_working() {
    let (timers, calls) = timers();
    let (count, waker) = Count::new();
    let installed = install(&timers);
    let mut sleep = pin!(sleep_until(at(MILLI)));
    assert!(poll(sleep.as_mut(), &waker).is_pending());
    drop(installed);
    sleep.as_mut().reset(at(MICRO));
    assert_eq!(calls.get(), 1, "no owner any more: the notifier is called");
    assert_eq!(timers.fire(at(MICRO), 32), 1);
    assert_eq!(count.get(), 1);
}

#[test]
fn without_timers_the_panic_advises() {
    let polled = std::panic::catch_unwind(|| {
        let _ = poll(pin!(sleep(Duration::from_secs(1))), Waker::noop());
    });
    let payload = polled.unwrap_err();
    let text = payload.downcast_ref::<String>().unwrap();
    assert!(text.contains("raddle::run"), "{text}");
}

/// Eight threads insert, reset and cancel while one fires: each fires exactly once, never early.
#[test]
fn threads_at_random_lose_nothing() {
    const THREADS: u64 = 8;
    const EACH: u64 = 4_000;
    let timers = Arc::new(Timers::new(|| ()));
    let done = Arc::new(AtomicUsize::new(0));
    let firing = {
        let (timers, done) = (Arc::clone(&timers), Arc::clone(&done));
        std::thread::spawn(move || {
            let mut fired = 0;
            while done.load(Relaxed) < THREADS as usize || timers.next().is_some() {
                fired += timers.fire(Instant::now(), 32);
                std::thread::yield_now();
            }
            fired
        })
    };
    let threads: Vec<_> = (0..THREADS)
        .map(|seed| {
            let (timers, done) = (Arc::clone(&timers), Arc::clone(&done));
            std::thread::spawn(move || {
                let _installed = install_remote(&timers);
                let fired = churn(seed, EACH);
                done.fetch_add(1, Relaxed);
                fired
            })
        })
        .collect();
    let counts: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let fired = firing.join().unwrap();
    // A sleep is seen to be over before its waker runs: only the firing thread's end says that
    // all of them have.
    let woken: usize = counts.iter().map(|count| count.get()).sum();
    assert_eq!(fired, woken);
    assert!(woken > 0);
}

/// Arms `each` sleeps, some of them reset, some dropped; waits for the rest. Returns what counts
/// their wakes, one for each that the timers fired (and not the first look at the clock).
fn churn(seed: u64, each: u64) -> Arc<Count> {
    let mut rng = raddle_base::random::Rng::new(seed);
    let (count, waker) = Count::new();
    let mut waiting = Vec::new();
    for i in 0..each {
        let nanos = 20_000 + u64::from(rng.below(3_000_000));
        let mut sleep = Box::pin(sleep(Duration::from_nanos(nanos)));
        if poll(sleep.as_mut(), &waker).is_pending() {
            match rng.below(4) {
                0 => drop(sleep),
                1 => {
                    sleep.as_mut().reset(Instant::now() + Duration::from_micros(200 + i % 100));
                    waiting.push(sleep);
                }
                _ => waiting.push(sleep),
            }
        }
    }
    for mut sleep in waiting {
        let deadline = sleep.deadline();
        while poll(sleep.as_mut(), &waker).is_pending() {
            std::thread::yield_now();
        }
        assert!(Instant::now() >= deadline, "early");
    }
    count
}

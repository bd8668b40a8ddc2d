//! Timers that count suspensions: two clocks wound by hand, and suspensions told by the test.

use std::cell::Cell;
use std::future::pending;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use raddle_base::clock::BootInstant;

use crate::time::MissedTickBehavior;
use crate::time::boot::{self, Sleep, resume};
use crate::time::current::install;
use crate::time::tests::support::{Count, hand, poll, timers, wind};

const SECOND: u64 = 1_000_000_000;
/// By so much the boot-time clock is ahead at first.
const AHEAD: u64 = 5_000 * SECOND;

thread_local! {
    static SUSPENDED: Cell<u64> = const { Cell::new(0) };
}

/// The boot-time clock of this thread: the hand-wound one, and all suspensions.
fn boot_hand() -> BootInstant {
    BootInstant::from_nanos(hand().as_nanos() + AHEAD + SUSPENDED.get())
}

/// The machine sleeps for so long, and everybody is told.
fn suspend(seconds: u64) {
    SUSPENDED.set(SUSPENDED.get() + seconds * SECOND);
    resume::tell();
}

fn pass(seconds: u64) {
    wind(hand().as_nanos() + seconds * SECOND);
}

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn sleep(duration: Duration) -> Sleep {
    Sleep::with_clock(boot_hand() + duration, boot_hand)
}

/// Makes the thread that tells of suspensions, so that sleeps do not go in steps.
fn watched() {
    for _ in 0..1_000_000 {
        if resume::is_watched() {
            return;
        }
        std::thread::yield_now();
    }
    panic!("this kernel tells nobody of jumps of the clock");
}

#[test]
fn without_a_suspension_it_is_a_sleep() {
    watched();
    let (timers, _) = timers();
    let _installed = install(&timers);
    let (count, waker) = Count::new();
    let mut sleep = pin!(sleep(seconds(10)));
    assert!(poll(sleep.as_mut(), &waker).is_pending());
    assert_eq!(timers.next(), Some(hand() + seconds(10)));
    pass(9);
    assert_eq!(timers.fire(hand(), 32), 0);
    assert!(poll(sleep.as_mut(), &waker).is_pending());
    pass(1);
    assert_eq!(timers.fire(hand(), 32), 1);
    assert!(count.get() >= 1);
    assert!(poll(sleep.as_mut(), &waker).is_ready());
    assert!(sleep.is_elapsed() && poll(sleep, &waker).is_ready());
}

#[test]
fn a_suspension_counts() {
    watched();
    let (timers, _) = timers();
    let _installed = install(&timers);
    let (count, waker) = Count::new();
    let mut sleep = pin!(sleep(seconds(10)));
    assert!(poll(sleep.as_mut(), &waker).is_pending());
    suspend(7);
    // At least: the other tests of this process tell of suspensions too.
    assert!(count.get() >= 1);
    assert!(poll(sleep.as_mut(), &waker).is_pending(), "never early");
    assert_eq!(timers.next(), Some(hand() + seconds(3)));
    suspend(3);
    assert!(poll(sleep.as_mut(), &waker).is_ready());
    drop(timers);
}

/// From its making on, polled or not.
#[test]
fn a_suspension_before_the_first_poll_counts() {
    watched();
    let (timers, _) = timers();
    let _installed = install(&timers);
    let (_, waker) = Count::new();
    let mut sleep = pin!(sleep(seconds(10)));
    suspend(4);
    assert!(poll(sleep.as_mut(), &waker).is_pending());
    assert_eq!(timers.next(), Some(hand() + seconds(6)));
    let mut over = pin!(sleep_until_now());
    assert!(poll(over.as_mut(), &waker).is_ready());
}

fn sleep_until_now() -> Sleep {
    Sleep::with_clock(boot_hand(), boot_hand)
}

#[test]
fn a_dropped_sleep_and_one_that_is_moved() {
    watched();
    let (timers, _) = timers();
    let _installed = install(&timers);
    let (_, waker) = Count::new();
    {
        let mut sleep = pin!(sleep(seconds(10)));
        assert!(poll(sleep.as_mut(), &waker).is_pending());
        sleep.as_mut().reset(boot_hand() + seconds(20));
        assert!(poll(sleep.as_mut(), &waker).is_pending());
        assert_eq!(timers.next(), Some(hand() + seconds(20)));
        sleep.as_mut().reset(boot_hand());
        assert!(poll(sleep.as_mut(), &waker).is_ready());
        sleep.as_mut().reset(boot_hand() + seconds(5));
        assert!(poll(sleep.as_mut(), &waker).is_pending());
        suspend(1);
    }
    assert_eq!(timers.next(), None);
    suspend(1);
}

#[test]
fn for_ever_is_for_ever() {
    watched();
    let (timers, _) = timers();
    let _installed = install(&timers);
    let (_, waker) = Count::new();
    let mut sleep = pin!(sleep(Duration::MAX));
    assert!(poll(sleep.as_mut(), &waker).is_pending());
    suspend(1_000_000_000);
    assert!(poll(sleep.as_mut(), &waker).is_pending());
    assert_eq!(timers.fire(hand() + seconds(10_000_000_000), 32), 0);
}

/// What a sleep does where nobody tells of suspensions.
#[test]
fn it_goes_in_steps_if_nobody_tells() {
    let now = boot_hand();
    let step = boot::step;
    assert_eq!(step(now + seconds(3600), now, true), seconds(3600));
    assert_eq!(step(now + seconds(3600), now, false), seconds(1));
    assert_eq!(step(now + Duration::from_millis(5), now, false), Duration::from_millis(5));
    assert_eq!(step(BootInstant::FAR_FUTURE, now, false), Duration::MAX);
}

#[test]
fn timeouts_and_intervals() {
    watched();
    let (timers, _) = timers();
    let _installed = install(&timers);
    let (_, waker) = Count::new();
    let mut limited = pin!(boot::timeout(Duration::MAX, pending::<()>()));
    assert!(poll(limited.as_mut(), &waker).is_pending());
    let ready = pin!(boot::timeout(Duration::ZERO, async { 7 }));
    assert_eq!(poll(ready, &waker), Poll::Ready(Ok(7)));
    let over = pin!(boot::timeout_at(boot::Instant::from_nanos(0), pending::<()>()));
    assert!(matches!(poll(over, &waker), Poll::Ready(Err(_))));
    let ticks = |behavior| {
        let start = boot_hand();
        let mut interval = boot::Interval::with_clock(start, seconds(10), boot_hand);
        interval.set_missed_tick_behavior(behavior);
        let mut tick = || tick(&mut interval, &waker).map(|due| (due - start).as_secs());
        assert_eq!(tick(), Some(0));
        assert_eq!(tick(), None);
        suspend(25);
        [tick(), tick(), tick()]
    };
    assert_eq!(ticks(MissedTickBehavior::Burst), [Some(10), Some(20), None]);
    assert_eq!(ticks(MissedTickBehavior::Skip), [Some(10), None, None]);
}

fn tick(interval: &mut boot::Interval, waker: &Waker) -> Option<BootInstant> {
    match interval.poll_tick(&mut Context::from_waker(waker)) {
        Poll::Ready(due) => Some(due),
        Poll::Pending => None,
    }
}

#[test]
fn futures_may_go_to_other_threads() {
    fn send<T: Send>(_: &T) {}
    let sleep: Pin<Box<Sleep>> = Box::pin(boot::sleep(seconds(1)));
    send(&sleep);
    send(&boot::interval(seconds(1)));
}

//! Both events: periods, assignment, hand-on, registration, giving up, hostile company.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use raddle_base::random::Rng;
use raddle_base::wait::WakeBatch;

use crate::tests::support::{Counter, Event as WakerEvent};
use crate::tests::support::{Polled, hostile, now, refusing, watchdog};
use crate::{AutoResetEvent, CancelExt, CancellationToken, EventSlot, EventWait, ManualResetEvent};

const MANY: usize = 3 * WakeBatch::CAPACITY + 1;

type Owned = Polled<EventWait<Arc<ManualResetEvent>>>;

fn gate(event: &ManualResetEvent, count: usize) -> Vec<Polled<EventWait<&ManualResetEvent>>> {
    (0..count).map(|_| Polled::pending(event.wait())).collect()
}

fn turnstile(event: &AutoResetEvent, count: usize) -> Vec<Polled<EventWait<&AutoResetEvent>>> {
    (0..count).map(|_| Polled::pending(event.wait())).collect()
}

#[test]
fn a_gate_stays_open_until_it_is_reset() {
    let event = ManualResetEvent::with_state(true);
    assert!(event.is_set() && event.try_wait() && event.try_wait());
    now(event.wait());
    now(event.wait());
    assert!(event.reset());
    assert!(!event.reset());
    assert!(!event.is_set() && !event.try_wait());
    let mut waiting = Polled::pending(event.wait());
    event.set();
    event.set();
    assert_eq!(waiting.wakes(), 1);
    waiting.ready();
    assert!(event.is_set(), "nobody takes it");
    assert_eq!(format!("{event:?}"), "ManualResetEvent { set: true, waiters: false }");
}

#[test]
fn a_pulse_releases_those_who_wait_and_nobody_else() {
    let event = Arc::new(ManualResetEvent::new());
    let mut waiting = gate(&event, MANY);
    let mut owned = Polled::pending(event.clone().wait_owned());
    let mut unpolled = Polled::new(event.wait());
    event.set();
    event.reset();
    assert!(unpolled.poll().is_pending());
    drop(waiting.remove(1));
    for one in &mut waiting {
        assert_eq!(one.wakes(), 1);
        one.ready();
    }
    owned.ready();
    assert!(unpolled.poll().is_pending(), "it belongs to the next period");
}

#[test]
fn a_wait_in_a_waker_belongs_to_the_next_period() {
    watchdog(|| {
        let event = Arc::new(ManualResetEvent::new());
        let next: Arc<Mutex<Option<Owned>>> = Arc::default();
        let waker = hostile({
            let (event, next) = (event.clone(), next.clone());
            move |what| {
                if what == WakerEvent::Wake {
                    event.reset();
                    *next.lock().unwrap() = Some(Polled::pending(event.clone().wait_owned()));
                }
            }
        });
        let mut first = Polled::new(event.wait());
        assert!(first.poll_with(&waker).is_pending());
        let mut others = gate(&event, MANY);
        event.set();
        assert!(others.iter_mut().all(|one| one.poll().is_ready()));
        first.ready();
        let mut next = next.lock().unwrap().take().unwrap();
        assert!(next.poll().is_pending());
        event.set();
        next.ready();
    });
}

#[test]
fn a_turnstile_lets_one_pass_for_each_set() {
    let event = AutoResetEvent::with_state(true);
    assert!(event.is_set());
    now(event.wait());
    assert!(!event.is_set());
    let mut unpolled = Polled::new(event.wait());
    event.set();
    event.set();
    assert!(event.try_wait(), "a wait that was never polled reserves nothing");
    assert!(!event.try_wait(), "two sets without a wait between are one");
    assert!(unpolled.poll().is_pending());
    event.set();
    assert!(!event.is_set(), "the signal is assigned");
    assert!(!event.try_wait() && !event.reset(), "and cannot be stolen or taken back");
    let mut newcomer = Polled::pending(event.wait());
    assert!(newcomer.poll().is_pending());
    unpolled.ready();
    drop(unpolled);
    assert!(newcomer.poll().is_pending(), "a finished wait returns nothing");
}

#[test]
fn sets_serve_waiters_in_order_before_any_is_polled() {
    let event = AutoResetEvent::new();
    let mut all = turnstile(&event, 4);
    event.set();
    event.set();
    event.set();
    assert_eq!(all.iter().map(Polled::wakes).collect::<Vec<_>>(), [1, 1, 1, 0]);
    assert!(all[3].poll().is_pending());
    (0..3).for_each(|i| all[i].ready());
    drop(all);
    assert!(!event.is_set());
}

#[test]
fn a_cancelled_signal_passes_on_and_is_stored_at_the_end() {
    let event = Arc::new(AutoResetEvent::new());
    let mut all: Vec<_> = (0..3).map(|_| Polled::pending(event.clone().wait_owned())).collect();
    event.set();
    event.reset();
    for _ in 0..3 {
        assert_eq!(all[0].wakes(), 1);
        assert!(!event.is_set());
        drop(all.remove(0));
    }
    assert!(event.is_set(), "also after a reset in between");
    // Three signals and two that give up coalesce to one.
    assert!(event.reset());
    let all: Vec<_> = (0..2).map(|_| Polled::pending(event.clone().wait_owned())).collect();
    (0..3).for_each(|_| event.set());
    drop(all);
    assert!(event.try_wait() && !event.try_wait());
    assert_eq!(Arc::strong_count(&event), 1);
}

#[test]
fn enable_registers_before_the_first_poll() {
    let event = ManualResetEvent::new();
    let mut wait = Polled::new(event.wait());
    assert!(!wait.future.as_mut().enable() && !wait.future.as_mut().enable());
    event.set();
    event.reset();
    assert!(wait.future.as_mut().enable());
    wait.ready();

    let event = AutoResetEvent::new();
    let mut first = Polled::new(event.wait());
    assert!(!first.future.as_mut().enable());
    let mut second = Polled::pending(event.wait());
    event.set();
    assert!(second.poll().is_pending());
    first.ready();
    drop((first, second));
    event.set();
    let mut taken = Polled::new(event.wait());
    assert!(taken.future.as_mut().enable(), "it takes the stored signal");
    assert!(!event.is_set());
    drop(taken);
    assert!(event.is_set(), "and gives it back unseen");
    let mut taken = Polled::new(event.wait());
    assert!(taken.future.as_mut().enable());
    taken.ready();
    drop(taken);
    assert!(!event.is_set());
}

#[test]
fn a_slot_serves_one_wait_after_the_other() {
    let (event, other) = (ManualResetEvent::new(), ManualResetEvent::new());
    let mut cx = Context::from_waker(Waker::noop());
    let mut slot = pin!(EventSlot::new(&event));
    for _ in 0..3 {
        assert!(event.poll_wait(slot.as_mut(), &mut cx).is_pending());
        event.set();
        event.reset();
        assert!(event.poll_wait(slot.as_mut(), &mut cx).is_ready());
        event.set();
        assert!(slot.as_mut().enable());
        event.reset();
        assert!(event.poll_wait(slot.as_mut(), &mut cx).is_ready());
    }
    let wrong = AssertUnwindSafe(|| other.poll_wait(slot.as_mut(), &mut cx));
    assert!(catch_unwind(wrong).is_err());
    assert!(event.poll_wait(slot.as_mut(), &mut cx).is_pending());
}

#[test]
fn a_new_waker_replaces_the_old_one() {
    let event = AutoResetEvent::new();
    let mut wait = Polled::pending(event.wait());
    let old = std::mem::replace(&mut wait.counter, Counter::new());
    assert!(wait.poll().is_pending());
    assert_eq!(Arc::strong_count(&old), 1);
    event.set();
    assert_eq!((old.count(), wait.wakes()), (0, 1));
}

#[test]
fn tokens_end_waits_and_take_nothing() {
    let (event, token) = (AutoResetEvent::new(), CancellationToken::new());
    let mut wait = Polled::pending(event.wait().cancel_on(&token));
    token.cancel();
    event.set();
    assert!(wait.ready().is_ok(), "the signal came first to the wait");
    drop(wait);
    event.set();
    assert!(now(event.wait().cancel_on(&token)).is_err());
    assert!(event.is_set(), "a cancelled token leaves the event untouched");
}

#[test]
fn blocking_and_timed_waits() {
    watchdog(|| {
        let shared = Arc::new((ManualResetEvent::new(), AutoResetEvent::new()));
        assert!(!shared.0.blocking_wait_timeout(Duration::from_millis(1)));
        assert!(!shared.1.blocking_wait_timeout(Duration::from_millis(1)));
        let theirs = shared.clone();
        let thread = std::thread::spawn(move || {
            theirs.0.blocking_wait();
            theirs.1.set();
        });
        shared.0.set();
        shared.1.blocking_wait();
        thread.join().unwrap();
        assert!(shared.0.blocking_wait_timeout(Duration::ZERO), "looked at before the clock");
    });
}

#[test]
fn ten_thousand_wait_at_once() {
    let (gate, turnstile) = (ManualResetEvent::new(), AutoResetEvent::new());
    let mut passing: Vec<_> = (0..10_000).map(|_| Polled::pending(gate.wait())).collect();
    let mut turning: Vec<_> = (0..10_000).map(|_| Polled::pending(turnstile.wait())).collect();
    gate.set();
    (0..10_000).for_each(|_| turnstile.set());
    for (one, other) in passing.iter_mut().zip(&mut turning) {
        assert_eq!((one.wakes(), other.wakes()), (1, 1));
        one.ready();
        other.ready();
    }
    assert!(gate.is_set() && !turnstile.is_set());
}

#[test]
fn hostile_wakers_may_do_anything() {
    watchdog(|| {
        let shared = Arc::new((ManualResetEvent::new(), AutoResetEvent::new()));
        let make = || {
            let shared = Arc::downgrade(&shared);
            hostile(move |_| {
                let Some(shared) = shared.upgrade() else { return };
                let (gate, turnstile) = (&shared.0, &shared.1);
                let mut waits = (Polled::new(gate.wait()), Polled::new(turnstile.wait()));
                let _ = (waits.0.poll_with(Waker::noop()), waits.1.poll_with(Waker::noop()));
                gate.set();
                turnstile.set();
                drop(waits);
                let _ = (gate.reset(), turnstile.reset());
            })
        };
        for round in 0..4 {
            let mut waits: Vec<_> = (0..3)
                .map(|_| (Polled::new(shared.0.wait()), Polled::new(shared.1.wait())))
                .collect();
            for (one, other) in &mut waits {
                for _ in 0..2 {
                    let _ = (one.poll_with(&make()), other.poll_with(&make()));
                }
            }
            if round % 2 == 0 {
                shared.0.set();
                shared.1.set();
            }
            drop(waits);
        }
    });
}

#[test]
fn a_panicking_waker_strands_nobody() {
    let event = ManualResetEvent::new();
    let mut before = gate(&event, 2);
    let mut bad = Polled::new(event.wait());
    assert!(bad.poll_with(&refusing()).is_pending());
    let mut after = gate(&event, MANY);
    assert!(catch_unwind(AssertUnwindSafe(|| event.set())).is_err());
    before.iter_mut().chain(&mut after).for_each(Polled::ready);
    bad.ready();

    let event = AutoResetEvent::new();
    let mut bad = Polled::new(event.wait());
    assert!(bad.poll_with(&refusing()).is_pending());
    let mut after = turnstile(&event, 1);
    assert!(catch_unwind(AssertUnwindSafe(|| event.set())).is_err());
    event.set();
    after[0].ready();
    drop(bad);
    assert!(event.is_set(), "the signal was assigned to it all the same");
}

/// A coalesced set publishes: each round announces by a relaxed write, and the waiter that took
/// the signal sees it.
#[test]
fn threads_see_what_was_published() {
    watchdog(|| {
        let shared = Arc::new((AutoResetEvent::new(), AtomicUsize::new(0)));
        let theirs = shared.clone();
        let thread = std::thread::spawn(move || {
            while theirs.1.load(Relaxed) < 1000 {
                theirs.0.blocking_wait();
            }
        });
        for _ in 0..1000 {
            shared.1.fetch_add(1, Relaxed);
            shared.0.set();
        }
        thread.join().unwrap();
    });
}

/// The sequential model: what is set, and who waits in which order. A wait that was assigned or
/// released is out of the queue.
#[derive(Clone, Default)]
struct Oracle {
    auto: bool,
    set: bool,
    queue: Vec<usize>,
    done: Vec<usize>,
}

impl Oracle {
    fn set(&mut self) {
        if self.auto && !self.queue.is_empty() {
            self.done.push(self.queue.remove(0));
            return;
        }
        self.set = true;
        self.done.append(&mut self.queue);
    }

    /// Whether the poll of wait `id` is ready.
    fn poll(&mut self, id: usize) -> bool {
        if let Some(at) = self.done.iter().position(|&done| done == id) {
            self.done.remove(at);
            return true;
        }
        if self.queue.contains(&id) {
            return false;
        }
        if self.set {
            self.set = !self.auto;
            return true;
        }
        self.queue.push(id);
        false
    }

    fn leave(&mut self, id: usize) {
        self.queue.retain(|&waiting| waiting != id);
        if let Some(at) = self.done.iter().position(|&done| done == id) {
            self.done.remove(at);
            if self.auto {
                self.set();
            }
        }
    }
}

/// One step on both the event and its oracle: 0 set, 1 reset, 2 try; then poll or drop wait i.
fn step<E: Faces>(
    event: &Arc<E>,
    waits: &mut [Option<Polled<E::Wait>>],
    oracle: &mut Oracle,
    op: usize,
) {
    let id = op.saturating_sub(3) / 2;
    match op {
        0 => {
            event.set_it();
            oracle.set();
        }
        1 => assert_eq!(event.reset_it(), std::mem::take(&mut oracle.set)),
        2 => {
            assert_eq!(event.try_it(), oracle.set);
            oracle.set &= !oracle.auto;
        }
        _ if op % 2 == 1 => {
            let wait = waits[id].get_or_insert_with(|| Polled::new(E::wait_it(event)));
            let ready = wait.poll().is_ready();
            assert_eq!(ready, oracle.poll(id));
            if ready {
                waits[id] = None;
            }
        }
        _ => {
            waits[id] = None;
            oracle.leave(id);
        }
    }
}

trait Faces: Send + Sync + Sized {
    type Wait: Future<Output = ()>;
    const AUTO: bool;
    fn fresh() -> Self;
    fn set_it(&self);
    fn reset_it(&self) -> bool;
    fn try_it(&self) -> bool;
    fn wait_it(event: &Arc<Self>) -> Self::Wait;
}

macro_rules! faces {
    ($event:ident, $auto:literal) => {
        impl Faces for $event {
            type Wait = EventWait<Arc<$event>>;
            const AUTO: bool = $auto;
            fn fresh() -> Self {
                $event::new()
            }
            fn set_it(&self) {
                self.set();
            }
            fn reset_it(&self) -> bool {
                self.reset()
            }
            fn try_it(&self) -> bool {
                self.try_wait()
            }
            fn wait_it(event: &Arc<Self>) -> Self::Wait {
                event.clone().wait_owned()
            }
        }
    };
}
faces!(ManualResetEvent, false);
faces!(AutoResetEvent, true);

fn run<E: Faces>(ops: impl Iterator<Item = usize>, count: usize) {
    let event = Arc::new(E::fresh());
    let mut waits: Vec<_> = (0..count).map(|_| None).collect();
    let mut oracle = Oracle { auto: E::AUTO, ..Oracle::default() };
    for op in ops {
        step(&event, &mut waits, &mut oracle, op);
    }
    assert_eq!(event.try_it(), oracle.set);
}

/// All sequences of six operations with two waits, against the sequential model.
#[test]
fn every_short_history_is_that_of_the_sequential_model() {
    const OPS: usize = 3 + 2 * 2;
    const LENGTH: u32 = 6;
    for history in 0..OPS.pow(LENGTH) {
        let ops = || (0..LENGTH).map(|i| history / OPS.pow(i) % OPS);
        run::<ManualResetEvent>(ops(), 2);
        run::<AutoResetEvent>(ops(), 2);
    }
}

#[test]
fn random_histories_are_those_of_the_sequential_model() {
    for seed in 0..200 {
        let ops =
            |rng: &mut Rng| (0..200).map(|_| rng.below(3 + 2 * 5) as usize).collect::<Vec<_>>();
        let ops = ops(&mut Rng::new(seed));
        run::<ManualResetEvent>(ops.iter().copied(), 5);
        run::<AutoResetEvent>(ops.into_iter(), 5);
    }
}

#[test]
fn events_are_small_and_shared() {
    fn shared<T: Send + Sync + Unpin>() {}
    fn send_sync<T: Send + Sync>(_: &T) {}
    shared::<ManualResetEvent>();
    shared::<AutoResetEvent>();
    assert_eq!(size_of::<ManualResetEvent>(), 16);
    assert_eq!(size_of::<AutoResetEvent>(), 16);
    let event = Arc::new(AutoResetEvent::new());
    send_sync(&event.wait());
    send_sync(&event.clone().wait_owned());
    send_sync(&EventSlot::new(&*event));
    assert_eq!(Polled::new(event.wait()).poll(), Poll::Pending);
}

//! The demands on every primitive that lets all who wait go at once, written down once.
//!
//! A primitive's tests describe it by a [`Case`], and [`check`] asks: is everybody woken, once, in
//! order, ten thousand too; is a wait gone that was dropped at whatever point; may wakers call
//! back; does one that panics strand nobody; does the budget count; and does it behave as its model
//! of a few lines under every sequence of operations up to a length.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use raddle_base::context::{self, BUDGET};
use raddle_base::wait::WakeBatch;

use super::sequences::every_sequence;
use super::support::{Counter, Event, Polled, hostile, refusing, watchdog};
use crate::{CancelExt, CancellationToken};

const MANY: usize = 3 * WakeBatch::CAPACITY + 1;

/// An operation on the primitive and on its model. Returns whether it lets everybody go who waits.
pub(crate) type Operation<P, M> = fn(&Arc<P>, &mut M) -> bool;

/// A primitive `P`, its model `M`, and its wait `F`.
pub(crate) struct Case<P: 'static, M: 'static, F> {
    /// One for which waits do not end at once.
    pub(crate) make: fn() -> (Arc<P>, M),
    pub(crate) wait: fn(&Arc<P>) -> F,
    /// Ends all waits.
    pub(crate) end: fn(&Arc<P>),
    /// Whether a wait that begins now ends at once.
    pub(crate) is_over: fn(&M) -> bool,
    pub(crate) operations: &'static [Operation<P, M>],
    /// Compares what can be seen of the primitive with the model.
    pub(crate) compare: fn(&Arc<P>, &M),
}

/// All demands.
pub(crate) fn check<P, M, F>(case: &'static Case<P, M, F>)
where
    P: Send + Sync + 'static,
    M: 'static,
    F: Future + 'static,
{
    in_order(case);
    at_every_stage(case);
    watchdog(move || foreign_code(case));
    a_waker_that_panics(case);
    budget(case);
    every_sequence(4 + case.operations.len(), 5, |sequence| as_its_model(case, sequence));
}

/// Ten thousand waiters: woken once each, in the order in which they came, some having left.
fn in_order<P: 'static, M: 'static, F: Future>(case: &Case<P, M, F>) {
    let (primitive, _) = (case.make)();
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut waits: Vec<_> = (0..10_000_usize)
        .map(|number| {
            let order = order.clone();
            let waker = hostile(move |event| {
                if event == Event::Wake {
                    order.lock().unwrap().push(number);
                }
            });
            let mut wait = Polled::new((case.wait)(&primitive));
            assert!(wait.poll_with(&waker).is_pending());
            (number, wait)
        })
        .collect();
    waits.retain(|(number, _)| number % 7 != 3);
    (case.end)(&primitive);
    let expected: Vec<_> = waits.iter().map(|(number, _)| *number).collect();
    assert_eq!(*order.lock().unwrap(), expected);
    // The last one first: nobody depends on another one being polled.
    for (_, wait) in waits.iter_mut().rev() {
        assert!(wait.poll().is_ready());
    }
}

/// Dropped when made, waiting, waiting with another waker, let go, ready: no waker and no reference
/// stays behind, and those who stay are served.
fn at_every_stage<P: 'static, M: 'static, F: Future>(case: &Case<P, M, F>) {
    for stage in 0..5 {
        let (primitive, _) = (case.make)();
        let before = Arc::strong_count(&primitive);
        let mut neighbours = [(); 2].map(|()| Polled::pending((case.wait)(&primitive)));
        let mut wait = Polled::new((case.wait)(&primitive));
        let old = wait.counter.clone();
        if stage >= 1 {
            assert!(wait.poll().is_pending());
        }
        if stage >= 2 {
            wait.counter = Counter::new();
            assert!(wait.poll().is_pending());
            assert_eq!(Arc::strong_count(&old), 1, "the old waker was released");
        }
        let new = wait.counter.clone();
        if stage >= 3 {
            (case.end)(&primitive);
            assert_eq!((old.count(), new.count()), (0, 1));
        }
        if stage >= 4 {
            assert!(wait.poll().is_ready());
        }
        drop((wait, old));
        assert_eq!(Arc::strong_count(&new), 1, "no waker stays behind at {stage}");
        if stage < 3 {
            (case.end)(&primitive);
        }
        for neighbour in &mut neighbours {
            assert_eq!(neighbour.wakes(), 1);
            assert!(neighbour.poll().is_ready());
        }
        drop(neighbours);
        assert_eq!(Arc::strong_count(&primitive), before, "no reference stays behind at {stage}");
    }
    cancelled_on_a_token(case);
}

fn cancelled_on_a_token<P: 'static, M: 'static, F: Future>(case: &Case<P, M, F>) {
    let (primitive, _) = (case.make)();
    let token = CancellationToken::new();
    let mut wait = Polled::pending((case.wait)(&primitive).cancel_on(&token));
    token.cancel();
    assert_eq!(wait.wakes(), 1);
    assert!(wait.ready().is_err());
    drop(wait);
    let mut late = Polled::new((case.wait)(&primitive).cancel_on(&token));
    assert!(late.ready().is_err(), "cancelled beforehand");
    let token = CancellationToken::new();
    let mut both = Polled::pending((case.wait)(&primitive).cancel_on(&token));
    (case.end)(&primitive);
    token.cancel();
    assert!(both.ready().is_ok(), "completion counts");
}

/// Wakers whose clone, wake and drop wait, give up and run every operation of the primitive.
fn foreign_code<P: Send + Sync + 'static, M: 'static, F: Future>(case: &'static Case<P, M, F>) {
    for round in 0..2 + case.operations.len() {
        let (primitive, _) = (case.make)();
        let make = || {
            let primitive = Arc::downgrade(&primitive);
            hostile(move |_| {
                let Some(primitive) = primitive.upgrade() else { return };
                let mut wait = Polled::new((case.wait)(&primitive));
                let _ = wait.poll_with(Waker::noop());
                drop(wait);
                let (_, mut scratch) = (case.make)();
                if let Some(operation) = case.operations.get(round.wrapping_sub(2)) {
                    let _ = catch_unwind(AssertUnwindSafe(|| operation(&primitive, &mut scratch)));
                }
            })
        };
        let mut waits: Vec<_> = (0..3).map(|_| Polled::new((case.wait)(&primitive))).collect();
        for wait in &mut waits {
            let _ = wait.poll_with(&make());
            let _ = wait.poll_with(&make());
        }
        if round % 2 == 0 {
            (case.end)(&primitive);
        }
    }
}

fn a_waker_that_panics<P: 'static, M: 'static, F: Future>(case: &Case<P, M, F>) {
    let (primitive, _) = (case.make)();
    let mut waits: Vec<_> = (0..MANY).map(|_| Polled::pending((case.wait)(&primitive))).collect();
    let mut bad = Polled::new((case.wait)(&primitive));
    assert!(bad.poll_with(&refusing()).is_pending());
    waits.extend((0..MANY).map(|_| Polled::pending((case.wait)(&primitive))));
    let result = catch_unwind(AssertUnwindSafe(|| (case.end)(&primitive)));
    assert!(result.is_err(), "the panic goes on");
    for wait in &mut waits {
        assert_eq!(wait.wakes(), 1);
        assert!(wait.poll().is_ready());
    }
    assert!(bad.poll().is_ready());
}

/// Waits that end at their first poll spend the budget; one that was let go is not lost without.
fn budget<P: 'static, M: 'static, F: Future>(case: &Case<P, M, F>) {
    let (primitive, _) = (case.make)();
    let waker = Waker::from(Counter::new());
    let mut cx = Context::from_waker(&waker);
    let mut waits: Vec<_> =
        (0..=BUDGET).map(|_| Polled::pending((case.wait)(&primitive))).collect();
    (case.end)(&primitive);
    // SAFETY: the function does not look at its argument.
    let worker = unsafe { context::enter_worker(waker.vtable(), |_| 1) };
    context::begin_poll(waker.data());
    let ready = waits.iter_mut().map(|wait| wait.future.as_mut().poll(&mut cx));
    assert_eq!(ready.filter(Poll::is_ready).count(), BUDGET as usize);
    assert!(context::end_poll().is_yield(), "the task is to be polled again");
    drop(worker);
    assert!(waits.last_mut().unwrap().poll().is_ready());
}

/// One of the two waits of a sequence.
enum Slot<F> {
    Absent,
    Waiting(Polled<F>),
    Released(Polled<F>),
}

/// Runs a sequence of operations and polls and drops of two waits on primitive and model.
fn as_its_model<P: 'static, M: 'static, F: Future>(case: &Case<P, M, F>, sequence: &[usize]) {
    let (primitive, mut model) = (case.make)();
    let mut slots = [const { Slot::Absent }; 2];
    for step in sequence {
        match step {
            0 | 1 => poll_slot(case, &primitive, &model, &mut slots[*step], sequence),
            2 | 3 => slots[step - 2] = Slot::Absent,
            _ => {
                if case.operations[step - 4](&primitive, &mut model) {
                    slots.iter_mut().for_each(release);
                }
            }
        }
        for slot in &slots {
            let (wait, wakes) = match slot {
                Slot::Absent => continue,
                Slot::Waiting(wait) => (wait, 0),
                Slot::Released(wait) => (wait, 1),
            };
            assert_eq!(wait.wakes(), wakes, "{sequence:?}");
        }
        (case.compare)(&primitive, &model);
    }
}

fn poll_slot<P: 'static, M: 'static, F: Future>(
    case: &Case<P, M, F>,
    primitive: &Arc<P>,
    model: &M,
    slot: &mut Slot<F>,
    sequence: &[usize],
) {
    *slot = match std::mem::replace(slot, Slot::Absent) {
        Slot::Absent => {
            let mut wait = Polled::new((case.wait)(primitive));
            assert_eq!(wait.poll().is_ready(), (case.is_over)(model), "{sequence:?}");
            if (case.is_over)(model) { Slot::Absent } else { Slot::Waiting(wait) }
        }
        Slot::Waiting(mut wait) => {
            assert!(wait.poll().is_pending(), "{sequence:?}");
            Slot::Waiting(wait)
        }
        Slot::Released(mut wait) => {
            assert!(wait.poll().is_ready(), "{sequence:?}");
            Slot::Absent
        }
    };
}

fn release<F>(slot: &mut Slot<F>) {
    *slot = match std::mem::replace(slot, Slot::Absent) {
        Slot::Waiting(wait) => Slot::Released(wait),
        other => other,
    };
}

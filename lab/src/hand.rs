//! Polling by hand on one thread: the loops of the cases that ask what a primitive alone costs.
//!
//! Futures lie on the stack, pinned there; the waker counts its wakes and costs a load and a store.
//! A future that is not in the state that a case expects is a panic, and so a failed sample.
//! `black_box` hides from the compiler which primitive is used and what becomes of its results, in
//! the same places for every contender. What polls is always inlined, or some contenders' futures
//! would be copied into a call and others not.

use crate::outcome::{Verdict, expect_equal};
use crate::plan::Plan;
use crate::rounds::{Judge, repeat_blocking};
use std::future::Future;
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

/// How many hands there may be.
const HANDS: usize = 16;

/// Wakes so far, by hand.
static WAKES: [AtomicU64; HANDS] = [const { AtomicU64::new(0) }; HANDS];

static WAKER: RawWakerVTable = RawWakerVTable::new(clone, wake, wake, ignore);

fn clone(data: *const ()) -> RawWaker {
    RawWaker::new(data, &WAKER)
}

fn wake(data: *const ()) {
    // SAFETY: `Hand::new` is the only source of the pointer, which it takes from a static.
    let wakes = unsafe { &*data.cast::<AtomicU64>() };
    // Relaxed, and no read-modify-write: only one thread polls by hand, and wakes.
    wakes.store(wakes.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

fn ignore(_: *const ()) {}

/// What polls: a waker, and the number of its wakes.
pub(crate) struct Hand {
    waker: Waker,
    wakes: &'static AtomicU64,
}

impl Hand {
    /// Hand number `number`, below 16; different hands have different wakers.
    pub(crate) fn new(number: usize) -> Hand {
        let wakes = &WAKES[number];
        let data = (&raw const *wakes).cast();
        // SAFETY: the functions of the table only count in a static, from this one thread; clones
        // own nothing.
        let waker = unsafe { Waker::new(data, &WAKER) };
        Hand { waker, wakes }
    }

    /// How often its waker was woken.
    pub(crate) fn wakes(&self) -> u64 {
        // Relaxed: the same thread counts.
        self.wakes.load(Ordering::Relaxed)
    }

    /// Polls a future that must be ready at once.
    #[inline(always)]
    pub(crate) fn ready<F: Future>(&self, future: F) -> F::Output {
        self.finish(pin!(future))
    }

    /// Polls a future that must be ready now.
    #[inline(always)]
    pub(crate) fn finish<F: Future>(&self, future: Pin<&mut F>) -> F::Output {
        match self.poll(future) {
            Poll::Ready(output) => output,
            Poll::Pending => panic!("a future that must be ready is pending"),
        }
    }

    /// Polls a future that must not be ready yet.
    #[inline(always)]
    pub(crate) fn park<F: Future>(&self, future: Pin<&mut F>) {
        assert!(self.poll(future).is_pending(), "a future that must wait is ready");
    }

    /// Polls a future.
    #[inline(always)]
    pub(crate) fn poll<F: Future>(&self, future: Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(&self.waker))
    }
}

/// Repeats a round of `full` operations by hand; the round is told how many to do.
pub(crate) fn by_hand(plan: Plan, full: u64, mut round: impl FnMut(u64, &Hand)) -> Verdict {
    let units = plan.units(full, 100);
    let hand = Hand::new(0);
    repeat_blocking(plan, Judge::Wall, || {
        round(units, &hand);
        Ok(units)
    })
}

/// The same for operations that end with `wakes` wakes each; a different number is a mismatch.
pub(crate) fn with_wakes(
    plan: Plan,
    full: u64,
    wakes: u64,
    mut round: impl FnMut(u64, &Hand),
) -> Verdict {
    let units = plan.units(full, 100);
    let hand = Hand::new(0);
    repeat_blocking(plan, Judge::Wall, || {
        let before = hand.wakes();
        round(units, &hand);
        expect_equal("wakes", hand.wakes() - before, units * wakes)?;
        Ok(units)
    })
}

/// Uses what a guard protects.
#[inline]
pub(crate) fn touch(value: &mut usize) {
    *black_box(value) += 1;
}

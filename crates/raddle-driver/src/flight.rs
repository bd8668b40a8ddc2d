//! An operation on its way: the future holds one end, the kernel (or a blocking thread) the other.
//!
//! # Question
//!
//! A future that started an operation may be dropped at any moment; the operation may complete at
//! any moment, on another thread. Who takes the operation's buffer, and who gives back what a late
//! success has brought?
//!
//! # States
//!
//! | state | the operation belongs to | next |
//! |---|---|---|
//! | FLYING | the kernel | DONE by the completion, ABANDONED by the future's drop |
//! | DONE | the future | the future takes it, by poll or by drop |
//! | ABANDONED | the kernel, then the completion | the completion takes it |
//!
//! # Protocol
//!
//! The completion stores the result and swaps in DONE. If it finds ABANDONED, it takes the
//! operation and lets it give its result back ([`Operation::abandon`]); else it wakes the future.
//! The drop tries FLYING → ABANDONED and asks for cancellation; if it finds DONE, it takes the
//! operation itself.
//!
//! # Race
//!
//! Completion and drop at once: each does one read-modify-write on the state, so exactly one of
//! them is second, and the second one takes the operation. The first outcome stays: a completion
//! that succeeded is never reported as cancelled.
//!
//! # Proof
//!
//! The second one acquires what the first one released, so it sees the result and whatever the
//! kernel's side wrote. Waiting is the waiter cell's protocol: register, then look again. Model:
//! `model_drop_against_completion`.

use crate::op::Operation;
use crate::sys::errno;
use crate::watcher::{Due, News, Role, Then, Watcher};
use raddle_base::shim::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use raddle_base::shim::cell::UnsafeCell;
use raddle_base::wait::WaiterCell;
use std::io;
use std::task::{Context, Poll};

const FLYING: u8 = 0;
const DONE: u8 = 1;
const ABANDONED: u8 = 2;

/// An operation, its result, and whoever waits for it. One allocation for each operation that
/// leaves the future: the kernel's use of it may outlive the future.
pub(crate) struct Flight<O> {
    state: AtomicU8,
    result: AtomicU32,
    key: AtomicU64,
    waiter: WaiterCell,
    /// Accessed by whom the state says; while FLYING by nobody but the kernel, through the
    /// addresses in the entry.
    operation: UnsafeCell<Option<O>>,
}

// SAFETY: the operation is accessed by one side at a time, as the table says; it is `Send`.
unsafe impl<O: Send> Send for Flight<O> {}
// SAFETY: as above.
unsafe impl<O: Send> Sync for Flight<O> {}

impl<O: Operation> Flight<O> {
    pub(crate) fn new(operation: O) -> Flight<O> {
        Flight {
            state: AtomicU8::new(FLYING),
            result: AtomicU32::new(0),
            key: AtomicU64::new(0),
            waiter: WaiterCell::new(),
            operation: UnsafeCell::new(Some(operation)),
        }
    }

    /// Runs `f` on the operation at its final address: to build the entry before anything flies,
    /// or to carry it out on a blocking thread.
    ///
    /// # Safety
    ///
    /// The caller is the kernel's side, and the kernel has not begun.
    pub(crate) unsafe fn with<R>(&self, f: impl FnOnce(&mut O) -> R) -> R {
        self.operation.with_mut(|slot| {
            // SAFETY: the kernel's side alone accesses it while FLYING or ABANDONED.
            let operation = unsafe { &mut *slot }.as_mut().expect("an operation before its end");
            f(operation)
        })
    }

    /// # Safety
    ///
    /// The caller is the side the table names for the state it has seen; once per flight.
    unsafe fn take(&self) -> O {
        // SAFETY: promised by the caller.
        let taken = self.operation.with_mut(|slot| unsafe { (*slot).take() });
        taken.expect("an operation is taken once")
    }

    fn result(&self) -> io::Result<u32> {
        // Relaxed: ordered by the state.
        errno::from_completion(self.result.load(Ordering::Relaxed).cast_signed())
    }

    /// The future's look. `Ready` once, then never again.
    pub(crate) fn poll(&self, cx: &mut Context<'_>) -> Poll<O::Output> {
        if !self.is_done() {
            self.waiter.register(cx.waker());
            if !self.is_done() {
                return Poll::Pending;
            }
        }
        // SAFETY: DONE, and the future polls and drops by `&mut`: it is the only taker.
        let operation = unsafe { self.take() };
        Poll::Ready(operation.finish(self.result()))
    }

    /// The output of an operation that was refused before it began.
    pub(crate) fn refuse(&self, error: io::Error) -> Poll<O::Output> {
        // SAFETY: nobody else knows the flight: the other side has let go of it untouched.
        Poll::Ready(unsafe { self.take() }.finish(Err(error)))
    }

    /// The output of an operation that ended without having begun, with a better reason.
    pub(crate) fn refuse_ended(&self, error: io::Error) -> Poll<O::Output> {
        if !self.is_done() {
            return Poll::Pending;
        }
        // SAFETY: DONE, and the future alone calls this: it is the only taker.
        Poll::Ready(unsafe { self.take() }.finish(Err(error)))
    }

    fn is_done(&self) -> bool {
        // Acquire: pairs with the swap in `complete`.
        self.state.load(Ordering::Acquire) == DONE
    }

    /// The future is dropped. True if the operation is still on its way and should be cancelled.
    pub(crate) fn abandon(&self) -> bool {
        // Release: what the future did is before what the completion then does. Acquire on
        // failure: the result and the kernel's writes are visible.
        let exchange =
            self.state.compare_exchange(FLYING, ABANDONED, Ordering::AcqRel, Ordering::Acquire);
        if exchange.is_ok() {
            return true;
        }
        // SAFETY: DONE, and the future's only other access was its polls.
        let operation = unsafe { self.take() };
        operation.abandon(self.result());
        false
    }

    /// The end: `result` is not negative, or a negated error number. True if the future is gone,
    /// in which case the caller then calls [`give_back`](Self::give_back).
    #[must_use]
    fn complete(&self, result: i32) -> bool {
        // Relaxed: the swap publishes it.
        self.result.store(result.cast_unsigned(), Ordering::Relaxed);
        // Release for the result and the kernel's writes; acquire for the drop's.
        self.state.swap(DONE, Ordering::AcqRel) == ABANDONED
    }

    fn give_back(&self) {
        // SAFETY: the state was ABANDONED when the completion came, so it is the taker.
        let operation = unsafe { self.take() };
        operation.abandon(self.result());
    }

    /// The end, on a thread that holds no lock.
    pub(crate) fn complete_and_wake(&self, result: io::Result<u32>) {
        let result = match result {
            Ok(value) => i32::try_from(value).unwrap_or(i32::MAX),
            // Every error of a blocking call is the kernel's.
            Err(error) => -error.raw_os_error().unwrap_or(libc::EIO),
        };
        if self.complete(result) { self.give_back() } else { self.waiter.wake() }
    }
}

impl<O: Operation> Watcher for Flight<O> {
    fn tell(&self, _role: Role, news: News, due: &mut Due) -> Then {
        let result = match news {
            News::Completed(cqe) => cqe.result,
            _ => -libc::ECANCELED,
        };
        if self.complete(result) {
            return Then::later(true);
        }
        due.wake(self.waiter.take());
        Then::DONE
    }

    fn later(&self) {
        self.give_back();
    }

    fn set_key(&self, _role: Role, key: Option<u64>) {
        // Relaxed: written and read under the driver lock.
        self.key.store(key.unwrap_or(0), Ordering::Relaxed);
    }

    fn key(&self, _role: Role) -> Option<u64> {
        // Relaxed: as above. Keys are never 0.
        Some(self.key.load(Ordering::Relaxed)).filter(|&key| key != 0)
    }
}

#[cfg(test)]
#[path = "tests/flight.rs"]
mod tests;

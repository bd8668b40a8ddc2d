//! Wakers collected under a lock and called outside of it, at most [`WakeBatch::CAPACITY`] at once.
//!
//! Question: who is stranded when one of many wakers panics? Nobody: the rest of the batch is
//! called first, then the first panic goes on its way. Users that serve more waiters than fit
//! call [`WakeBatch::wake_all`] each time the batch is full, with the lock dropped, and
//! [`WakeBatch::finish`] once at the end; a panic is held back until then.

use std::any::Any;
use std::fmt;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::task::Waker;

use super::contain::discard;
use super::waiter::Wake;
use crate::shim::model::bound;

/// Room for a few dozen wakers on the stack. Making one writes nothing but a length.
pub struct WakeBatch {
    wakers: [MaybeUninit<Waker>; WakeBatch::CAPACITY],
    /// `wakers[..len]` is initialised.
    len: usize,
    panic: Option<Box<dyn Any + Send>>,
}

impl WakeBatch {
    /// Wakers that fit: enough to make the cost of taking a lock again small, few enough for any
    /// stack (512 bytes).
    pub const CAPACITY: usize = bound(32, 2);

    /// An empty batch.
    #[inline]
    pub const fn new() -> Self {
        WakeBatch { wakers: [const { MaybeUninit::uninit() }; Self::CAPACITY], len: 0, panic: None }
    }

    /// Whether the next [`push`](Self::push) would not fit.
    #[inline]
    pub const fn is_full(&self) -> bool {
        self.len == Self::CAPACITY
    }

    /// How many more fit.
    #[inline]
    pub const fn room(&self) -> usize {
        Self::CAPACITY - self.len
    }

    /// Whether there is nobody to wake.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds whoever is to be woken. Safe to call under a lock: no foreign code runs.
    ///
    /// # Panics
    ///
    /// If the batch [is full](Self::is_full): a fault of the caller.
    #[inline]
    pub fn push(&mut self, wake: Wake) {
        if let Some(waker) = wake.into_waker() {
            assert!(!self.is_full(), "a full batch of wakers was pushed to");
            self.wakers[self.len].write(waker);
            self.len += 1;
        }
    }

    /// Calls all wakers, first in first out, and empties the batch. Call it without a lock.
    ///
    /// Does not panic: the first panic of a waker is kept for [`finish`](Self::finish).
    #[inline]
    pub fn wake_all(&mut self) {
        if self.len > 0 {
            self.wake_some();
        }
    }

    fn wake_some(&mut self) {
        let len = std::mem::take(&mut self.len);
        let mut next = 0;
        while next < len {
            let round = catch_unwind(AssertUnwindSafe(|| {
                while next < len {
                    // SAFETY: `wakers[..len]` was initialised; `len` was set to zero above and
                    // `next` grows first, so each waker is moved out exactly once.
                    let waker = unsafe { self.wakers[next].assume_init_read() };
                    next += 1;
                    waker.wake();
                }
            }));
            if let Err(payload) = round {
                self.keep(payload);
            }
        }
    }

    #[cold]
    fn keep(&mut self, payload: Box<dyn Any + Send>) {
        match &self.panic {
            None => self.panic = Some(payload),
            // A payload's destructor may panic as well; what that gives is forgotten.
            Some(_) => std::mem::forget(catch_unwind(AssertUnwindSafe(|| drop(payload)))),
        }
    }

    /// Calls the remaining wakers, then lets the first panic go on, unless this thread is already
    /// unwinding.
    ///
    /// By reference, since moving a batch would copy all of its room.
    #[inline]
    pub fn finish(&mut self) {
        self.wake_all();
        if let Some(payload) = self.panic.take() {
            if std::thread::panicking() {
                discard(payload);
            } else {
                resume_unwind(payload);
            }
        }
    }
}

impl Default for WakeBatch {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for WakeBatch {
    /// Strands nobody when the code that filled the batch unwinds.
    fn drop(&mut self) {
        self.wake_all();
    }
}

impl fmt::Debug for WakeBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WakeBatch").field("len", &self.len).finish()
    }
}

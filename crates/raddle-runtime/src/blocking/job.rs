//! A job on its way: a closure that is run once, or never, and tells which.
//!
//! # States of a typed job
//!
//! | state | closure | output | who moves it on |
//! |---|---|---|---|
//! | WAITING | there | | whoever claims it first: a pool thread, an abort, a refusal |
//! | CLAIMED | the claimer's | the claimer's | the claimer |
//! | DONE | | there, until the handle takes it | the handle |
//!
//! WAITING → CLAIMED is one compare-and-exchange, so a job runs at most once and its handle is
//! resolved exactly once. CLAIMED → DONE releases the output; the handle acquires it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use raddle_base::shim::atomic::AtomicU8;
use raddle_base::shim::atomic::Ordering::{Acquire, Relaxed, Release};
use raddle_base::shim::cell::UnsafeCell;
use raddle_base::wait::WaiterCell;

use crate::blocking::error::{NoOutput, Refusal};

const WAITING: u8 = 0;
const CLAIMED: u8 = 1;
const DONE: u8 = 2;

/// What a pool queues.
pub(crate) enum Job {
    /// A closure that nobody waits for.
    Plain(Box<dyn FnOnce() + Send>),
    /// One with a handle.
    Typed(Arc<dyn Run>),
}

impl Job {
    /// Runs it; a panic is caught: given to the handle, or dropped where there is none.
    pub(crate) fn run(self) {
        match self {
            Job::Plain(job) => contain(job),
            Job::Typed(job) => {
                job.run();
                // The last reference may drop the output.
                contain(move || drop(job));
            }
        }
    }

    /// Ends it without running it.
    pub(crate) fn refuse(self, refusal: Refusal) {
        contain(move || match self {
            Job::Plain(job) => drop(job),
            Job::Typed(job) => job.give_up(NoOutput::Refused(refusal)),
        });
    }
}

/// Calls foreign code and drops its panic, which the panic hook has reported.
pub(crate) fn contain(f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        // Not dropped: the destructor of a payload may panic as well.
        std::mem::forget(payload);
    }
}

/// A typed job, to the pool.
pub(crate) trait Run: Send + Sync {
    /// Runs the closure unless it was given up.
    fn run(&self);
    /// Resolves the handle without running the closure, unless somebody claimed it.
    fn give_up(&self, reason: NoOutput);
}

/// A typed job, to its handle.
pub(crate) trait Output<T>: Send + Sync {
    fn poll(&self, cx: &mut Context<'_>) -> Poll<Result<T, NoOutput>>;
    fn is_done(&self) -> bool;
    fn abort(&self);
}

enum Stage<F, T> {
    Closure(F),
    Output(Result<T, NoOutput>),
    Nothing,
}

/// A closure, then its output: one allocation for both sides.
pub(crate) struct Typed<F, T> {
    state: AtomicU8,
    waiter: WaiterCell,
    stage: UnsafeCell<Stage<F, T>>,
}

// SAFETY: the stage belongs to one side at a time: to whoever made WAITING into CLAIMED, then to
// the handle; both steps order the accesses. Closure and output only move between threads.
unsafe impl<F: Send, T: Send> Send for Typed<F, T> {}
// SAFETY: as above; nothing gives out a shared reference to the stage.
unsafe impl<F: Send, T: Send> Sync for Typed<F, T> {}

impl<F, T> Typed<F, T> {
    pub(crate) fn new(closure: F) -> Self {
        Typed {
            state: AtomicU8::new(WAITING),
            waiter: WaiterCell::new(),
            stage: UnsafeCell::new(Stage::Closure(closure)),
        }
    }

    /// Takes the closure, if nobody else has.
    pub(crate) fn claim(&self) -> Option<F> {
        // Acquire: the closure was published with the job, and is now ours alone. Relaxed on
        // failure: nothing is read on its strength.
        self.state.compare_exchange(WAITING, CLAIMED, Acquire, Relaxed).ok()?;
        match self.replace(Stage::Nothing) {
            Stage::Closure(closure) => Some(closure),
            // Only the holder of the claim changes the stage.
            Stage::Output(_) | Stage::Nothing => None,
        }
    }

    fn replace(&self, stage: Stage<F, T>) -> Stage<F, T> {
        // SAFETY: called with the claim held, or by the handle after DONE: nobody else accesses
        // the stage.
        self.stage.with_mut(|place| unsafe { std::mem::replace(&mut *place, stage) })
    }

    /// Resolves the handle. The caller holds the claim.
    fn finish(&self, output: Result<T, NoOutput>) {
        self.replace(Stage::Output(output));
        // Release: the output is whole before the handle sees DONE.
        self.state.store(DONE, Release);
        contain(|| self.waiter.wake());
    }
}

impl<F, T> Run for Typed<F, T>
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    fn run(&self) {
        if let Some(closure) = self.claim() {
            self.finish(catch_unwind(AssertUnwindSafe(closure)).map_err(NoOutput::Panicked));
        }
    }

    fn give_up(&self, reason: NoOutput) {
        if let Some(closure) = self.claim() {
            self.finish(Err(reason));
            drop(closure);
        }
    }
}

impl<F, T> Output<T> for Typed<F, T>
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    fn poll(&self, cx: &mut Context<'_>) -> Poll<Result<T, NoOutput>> {
        if !self.is_done() {
            self.register(cx.waker());
            // The second look: the job may have ended before the waker was there.
            if !self.is_done() {
                return Poll::Pending;
            }
        }
        match self.replace(Stage::Nothing) {
            Stage::Output(output) => Poll::Ready(output),
            Stage::Closure(_) | Stage::Nothing => {
                panic!("the handle of a blocking job was polled after it gave its output")
            }
        }
    }

    fn is_done(&self) -> bool {
        // Acquire: pairs with the release in `finish`.
        self.state.load(Acquire) == DONE
    }

    fn abort(&self) {
        self.give_up(NoOutput::Aborted);
    }
}

impl<F, T> Typed<F, T> {
    fn register(&self, waker: &Waker) {
        self.waiter.register(waker);
    }
}

//! The cell itself, and what needs no waiting.

use std::fmt;
use std::future::Future;

use raddle_base::shim::cell::UnsafeCell;

use crate::once::Once;

/// A value that is computed once, when it is first asked for.
///
/// The cell owns its one initialiser. When whoever drives it is dropped, the next one who asks
/// resumes the same future where it stopped.
///
/// * *Poison.* If the initialiser itself panics, the cell is poisoned: every later and waiting
///   `force` panics. A panic elsewhere does nothing to it.
/// * *Pinning.* The future lies in the cell, so [`force_pin`](Self::force_pin) wants the cell
///   pinned; [`force`](Self::force) is for futures that can be moved, a boxed one for example.
/// * *Order.* When the value is there, all waits end in one round, woken in the order of their
///   first poll.
/// * *Ordering.* Who gets the value sees all that its initialiser did. Reading is one acquire load.
/// * *Recursion.* An initialiser that waits for its own cell waits for ever; reported as by a
///   [`Mutex`](crate::Mutex#misuse).
/// * *Cost.* Future and value lie in the cell. Waiting does not allocate.
///
/// ```
/// use std::pin::pin;
/// use raddle_sync::{LazyCell, block_on};
///
/// let lazy = pin!(LazyCell::new(|| async { 6 * 7 }));
/// assert_eq!(lazy.get(), None);
/// assert_eq!(block_on(lazy.as_ref().force_pin()), &42);
/// assert_eq!(lazy.get(), Some(&42));
/// ```
///
/// A future that must stay in its place is not driven in a cell that may move:
///
/// ```compile_fail,E0277
/// let lazy = raddle_sync::LazyCell::new(|| async { 1 });
/// let _ = lazy.force();
/// ```
pub struct LazyCell<A: Future, F = fn() -> A> {
    pub(super) once: Once,
    pub(super) stage: UnsafeCell<Stage<A, F>>,
}

pub(super) enum Stage<A: Future, F> {
    Start(F),
    /// Pinned with the cell.
    Future(A),
    Value(A::Output),
    Empty,
}

impl<A: Future, F> Stage<A, F> {
    /// The closure, which is moved out; anything else stays where it is.
    pub(super) fn take_start(&mut self) -> Self {
        match self {
            Stage::Start(_) => std::mem::replace(self, Stage::Empty),
            _ => Stage::Empty,
        }
    }
}

// SAFETY: all that the cell holds may be made on one thread and dropped on another.
unsafe impl<A: Future<Output: Send> + Send, F: Send> Send for LazyCell<A, F> {}
// SAFETY: closure and future are used by one thread at a time (the leader's), the value is shared
// once it is there.
unsafe impl<A: Future<Output: Send + Sync> + Send, F: Send> Sync for LazyCell<A, F> {}

// Only the future is ever pinned: closure and value are moved.
impl<A: Future + Unpin, F> Unpin for LazyCell<A, F> {}

impl<A: Future, F> LazyCell<A, F> {
    raddle_base::const_unless_loom! {
        /// A cell whose value the future that `f` makes will compute.
        pub const fn new(f: F) -> Self {
            LazyCell { once: Once::new(), stage: UnsafeCell::new(Stage::Start(f)) }
        }

        /// A cell whose value `future` will compute.
        pub const fn from_future(future: A) -> Self {
            LazyCell { once: Once::new(), stage: UnsafeCell::new(Stage::Future(future)) }
        }

        /// A cell that has its value.
        pub const fn from_value(value: A::Output) -> Self {
            LazyCell { once: Once::done(), stage: UnsafeCell::new(Stage::Value(value)) }
        }
    }

    /// The value, if it is there.
    #[inline]
    pub fn get(&self) -> Option<&A::Output> {
        if !self.once.is_completed() {
            return None;
        }
        // SAFETY: the once is done, so the stage does not change while the cell is borrowed.
        self.stage.with(|stage| match unsafe { &*stage } {
            Stage::Value(value) => Some(value),
            _ => None,
        })
    }

    /// The value for writing, if it is there.
    pub fn get_mut(&mut self) -> Option<&mut A::Output> {
        match self.stage.get_mut() {
            Stage::Value(value) => Some(value),
            _ => None,
        }
    }

    /// Whether the initialiser has panicked.
    pub fn is_poisoned(&self) -> bool {
        self.once.is_poisoned()
    }
}

impl<A: Future<Output: fmt::Debug>, F> fmt::Debug for LazyCell<A, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LazyCell").field(&self.get()).finish()
    }
}

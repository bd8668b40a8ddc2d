//! State that only the owner's thread may touch, reachable from a structure that is shared.

use crate::sys::thread;

/// A value for the thread that made the cell. Other threads find it closed.
pub(crate) struct OwnerCell<T> {
    owner: usize,
    value: T,
}

// SAFETY: the value is only reached on the thread whose token was taken when the cell was made. A
// token may pass to a later thread, but only after the earlier one has ended, so two threads never
// reach the value at once. What is dropped with the cell elsewhere is plain data or `Send`, as
// each use of this type keeps to.
unsafe impl<T> Send for OwnerCell<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for OwnerCell<T> {}

impl<T> OwnerCell<T> {
    /// For the calling thread. `value` must be plain data or `Send`.
    pub(crate) fn new(value: T) -> OwnerCell<T> {
        OwnerCell { owner: thread::token(), value }
    }

    /// The value, on the owner's thread.
    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        (self.owner == thread::token()).then_some(&self.value)
    }
}

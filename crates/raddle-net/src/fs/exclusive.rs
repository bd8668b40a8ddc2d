//! A value that is only ever reached through `&mut`.
//!
//! A file holds the future of its operation in flight, which is `Send` but not `Sync`. Shared
//! references to a file (for [`metadata`](super::File::metadata), say) must be allowed on several
//! threads all the same, and they never touch that future.

/// Holds a value that shared references give no access to.
#[derive(Debug, Default)]
pub(crate) struct Exclusive<T>(T);

// SAFETY: a shared reference to this type gives no access to the value: the only way in is
// `get`, which takes `&mut`.
unsafe impl<T: Send> Sync for Exclusive<T> {}

impl<T> Exclusive<T> {
    pub(crate) fn new(value: T) -> Exclusive<T> {
        Exclusive(value)
    }

    pub(crate) fn get(&mut self) -> &mut T {
        &mut self.0
    }
}

//! What every operation must be able to say of itself.

use crate::handle::Handle;
use crate::interest::Direction;
use crate::sys::sqe::Sqe;
use std::io;

/// An operation of the kernel. Implemented by the types of this module only.
///
/// # Safety
///
/// The addresses in [`entry`](Self::entry) must stay valid, and be accessed by nobody else where
/// the kernel writes, for as long as the value lives at its address and no other method is called.
pub unsafe trait Operation: Send + Unpin + Sized + 'static {
    /// What the future gives: usually the result and the buffer.
    type Output;

    /// Tries it in place without blocking. `None`: it would block, or cannot be tried so. `ring`
    /// says that the other way is a submission entry.
    fn attempt(&mut self, ring: bool) -> Option<io::Result<u32>>;

    /// Whether the entry may be submitted now. If not, it waits as without a ring.
    fn may_fly(&self) -> bool {
        true
    }

    /// How it looks to io_uring.
    fn entry(&mut self) -> Entry;

    /// How it goes on where there is no ring.
    fn route(&self) -> Route<'_>;

    /// Does it by a blocking call. Called for [`Route::Offload`] only.
    fn block(&mut self) -> io::Result<u32> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Makes the output.
    fn finish(self, result: io::Result<u32>) -> Self::Output;

    /// Nobody waits any more: gives back what the result holds.
    fn abandon(self, result: io::Result<u32>) {
        drop(self.finish(result));
    }
}

/// A submission entry.
#[derive(Debug)]
pub struct Entry(pub(crate) Sqe);

/// How an operation goes on when it cannot be done in place and there is no ring.
#[derive(Debug)]
pub enum Route<'a> {
    /// Wait until the source is ready, then attempt again.
    Ready(&'a Handle, Direction),
    /// A blocking call elsewhere.
    Offload,
}

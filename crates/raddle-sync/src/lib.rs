//! Synchronisation primitives that never allocate to wait and know no runtime.
//!
//! Everything here works under any executor and on plain threads: waiting needs a waker and
//! nothing else, and [`block_on`] makes one out of a thread. A waiter lies in the future that
//! waits, so waiting allocates nothing, ready or suspended; creating a channel or a token does.
//!
//! | to … | use |
//! |---|---|
//! | wait for a future on a plain thread | [`block_on`], [`Wait`] |
//! | stop work and all that belongs to it | [`CancellationToken`], [`CancelExt`] |
//! | hand one value over | [`oneshot`] |
//! | send many values to one receiver | [`mpsc`] |
//! | limit how many may do something | [`Semaphore`] |
//! | say that something happened | [`Notify`] |
//! | open a gate for all, or a turnstile for one | [`ManualResetEvent`], [`AutoResetEvent`] |
//!
//! Rules that hold for all of them.
//!
//! * *Cancel safety.* Dropping a future at any point loses nothing: a permit or a notification
//!   that it had been granted passes on to the next waiter, a value it had not handed over comes
//!   back or is dropped with it, once.
//! * *Order.* Waiters are served first come first served, from their first poll on.
//! * *Foreign code.* Wakers, destructors of values and callbacks never run under an internal lock.
//!   A waker that panics strands nobody: the others are served, then the panic goes on.
//! * *Budget.* Operations of a raddle task spend its budget, so that a loop over ready primitives
//!   gives way to other tasks. On other executors the budget has no limit.

mod block_on;
pub mod cancel;
pub mod event;
pub mod mpsc;
pub mod notify;
pub mod oneshot;
mod permits;
pub mod semaphore;

pub use block_on::{Refused, Wait, block_on, try_block_on, wait_timeout, wait_until};
pub use cancel::{CancelError, CancelExt, CancelOn, CancellationToken};
pub use event::{AutoResetEvent, EventSlot, EventWait, ManualResetEvent};
pub use notify::{Notified, Notify, OwnedNotified};
pub use semaphore::{
    Acquire, AcquireError, AcquireOwned, OwnedSemaphorePermit, Semaphore, SemaphorePermit,
    TryAcquireError,
};

#[cfg(test)]
mod tests;

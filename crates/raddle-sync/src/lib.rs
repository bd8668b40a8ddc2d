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
//! | share out values among several receivers | [`mpmc`], [`spmc`] |
//! | send every value to all of many receivers | [`broadcast`] |
//! | let many see the latest value | [`watch`] |
//! | share data, one task at a time | [`Mutex`], [`Condvar`] |
//! | share data among readers, one writer at a time | [`RwLock`] |
//! | limit how many may do something | [`Semaphore`] |
//! | say that something happened | [`Notify`] |
//! | open a gate for all, or a turnstile for one | [`ManualResetEvent`], [`AutoResetEvent`] |
//! | wait until so many have done their part, once | [`Latch`], [`WaitGroup`] |
//! | meet, round after round | [`Barrier`], [`Phaser`] |
//! | wait for a condition of your own | [`EventCount`] |
//! | wait for tasks that come and go | [`TaskTracker`] |
//! | ask for an end and wait for it, in parts and stages | [`Shutdown`] |
//! | compute a value for a key once, or once at a time | [`OnceMap`], [`singleflight`] |
//! | wait for the answer to one request | [`WaitMap`] |
//! | use costly objects again | [`pool`] |
//! | do something once, make a value once | [`Once`], [`OnceCell`], [`LazyCell`] |
//! | set a value once, for many to read | [`SetOnce`], [`completion`] |
//!
//! Whoever knows the primitives of tokio, async-lock, asyncband or Elio finds their names and the
//! differences in [`coming_from`].
//!
//! Rules that hold for all of them.
//!
//! * *Cancel safety.* Dropping a future at any point loses nothing: a permit or a notification
//!   that it had been granted passes on to the next waiter, a value it had not handed over comes
//!   back or is dropped with it, once.
//! * *Order.* Waiters are served first come first served, from their first poll on.
//! * *Memory.* What was done before a set, release, send, arrival or answer happens before what is
//!   done after the wait that it ended, or the look that found it: release and acquire, unless a
//!   method says less.
//! * *Allocation.* No wait allocates. What making a thing, or storing into it, allocates is said
//!   there.
//! * *Panics.* Only those that a method names; a refused call has changed nothing.
//! * *Foreign code.* Wakers, destructors of values and callbacks never run under an internal lock.
//!   A waker that panics strands nobody: the others are served, then the panic goes on.
//! * *Budget.* Operations of a raddle task spend its budget, so that a loop over ready primitives
//!   gives way to other tasks. On other executors the budget has no limit.
//! * *Size.* Bytes on 64-bit machines, with values of eight bytes where a type holds values; what
//!   counts or holds ends of something shared (8 bytes) points to one allocation.
//!
//! | type | bytes |
//! |---|---|
//! | `ManualResetEvent` | 16 |
//! | `AutoResetEvent` | 16 |
//! | `Mutex<()>` | 16 |
//! | `RwLock<()>` | 24 |
//! | `Condvar` | 24 |
//! | `Semaphore` | 24 |
//! | `Notify` | 24 |
//! | `Latch` | 24 |
//! | `WaitGroup` | 8 |
//! | `Barrier` | 32 |
//! | `Phaser` | 24 |
//! | `EventCount` | 24 |
//! | `TaskTracker` | 8 |
//! | `Shutdown` | 8 |
//! | `CancellationToken` | 8 |
//! | `Once` | 40 |
//! | `OnceCell<u64>` | 48 |
//! | `SetOnce<u64>` | 48 |
//! | `OnceMap<u64, u64>` | 648 |
//! | `WaitMap<u64, u64>` | 392 |
//! | `oneshot::Sender` | 8 |
//! | `oneshot::Receiver` | 8 |
//! | `mpsc::Sender` | 8 |
//! | `mpsc::Receiver` | 56 |
//! | `mpmc::Sender` | 8 |
//! | `mpmc::Receiver` | 8 |
//! | `broadcast::Sender` | 8 |
//! | `broadcast::Receiver` | 32 |
//! | `watch::Sender` | 8 |
//! | `watch::Receiver` | 16 |

mod audience;
pub mod barrier;
mod block_on;
pub mod broadcast;
pub mod cancel;
mod closing;
#[doc = include_str!("../../../docs/coming-from.md")]
pub mod coming_from {}
pub mod completion;
pub mod condvar;
mod crowd;
mod ends;
pub mod event;
pub mod event_count;
mod hasher;
pub mod latch;
pub mod lazy;
pub mod mpmc;
pub mod mpsc;
pub mod mutex;
pub mod notify;
pub mod once;
pub mod once_cell;
pub mod once_map;
pub mod oneshot;
mod owner;
mod permits;
pub mod phaser;
mod places;
pub mod pool;
pub mod rwlock;
pub mod semaphore;
pub mod set_once;
pub mod shutdown;
pub mod singleflight;
pub mod spmc;
mod timed;
pub mod tracker;
pub mod wait_group;
pub mod wait_map;
pub mod watch;

pub use barrier::{Barrier, BarrierWait, BarrierWaitResult, OwnedBarrierWait};
pub use block_on::{Refused, Wait, block_on, try_block_on, wait_timeout, wait_until};
pub use cancel::{CancelError, CancelExt, CancelOn, CancellationToken, DropGuard, DropGuardRef};
pub use completion::{Completer, Completion};
pub use condvar::Condvar;
pub use event::{AutoResetEvent, EventSlot, EventWait, ManualResetEvent};
pub use event_count::{EventCount, EventCountWait, OwnedEventCountWait};
pub use latch::{ArriveAndWait, Latch, LatchWait, OwnedLatchWait};
pub use lazy::LazyCell;
pub use mutex::{MappedMutexGuard, Mutex, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard};
pub use notify::{Notified, Notify, OwnedNotified};
pub use once::{Once, OnceWait, OwnedOnceWait};
pub use once_cell::{OnceCell, SetError};
pub use once_map::OnceMap;
pub use phaser::{Participant, Phaser, PhaserError};
pub use rwlock::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockUpgradableGuard,
    OwnedRwLockWriteGuard, RwLock, RwLockMappedWriteGuard, RwLockReadGuard, RwLockUpgradableGuard,
    RwLockWriteGuard,
};
pub use semaphore::{
    Acquire, AcquireError, AcquireOwned, AddPermitsError, OwnedSemaphorePermit, Semaphore,
    SemaphorePermit, TryAcquireError,
};
pub use set_once::{SetOnce, SetOnceError};
pub use shutdown::{Shutdown, ShutdownGuard, ShutdownWatch};
pub use tracker::{TaskTracker, TaskTrackerToken, TrackedFuture};
pub use wait_group::{WaitGroup, WaitGroupFuture};
pub use wait_map::WaitMap;

#[cfg(test)]
mod tests;

//! The mutex itself: its data beside its state machine, and what needs no waiting.

use std::cell::UnsafeCell;

use super::raw::RawMutex;

/// Mutual exclusion whose guard may be held across awaits.
///
/// # Order
///
/// [`new`](Self::new) makes a lock that can be *overtaken*: a release frees the lock and wakes the
/// one that has waited longest, and whoever comes first takes it. That is what makes a busy lock
/// fast: nobody waits for a task that does not run yet. A waiter that was woken and found the lock
/// taken goes back to the front; once it has been passed over for half a millisecond, the next
/// release hands the lock over to it. [`fair`](Self::fair) makes a lock that is handed over at
/// every release with waiters, strictly first come first served from the first poll on.
///
/// A waiter that was woken, or handed the lock, must be polled or dropped: others wait behind it.
/// Dropping it passes on what it had.
///
/// # Cost
///
/// Taking and releasing are one atomic exchange each while nobody waits, without an internal lock.
/// Waiting does not allocate, and reads the clock only after having been passed over. `Mutex<()>`
/// is 16 bytes. What happened under the lock is visible to whoever has it next.
///
/// # Misuse
///
/// A task that asks for a lock it holds waits for itself. With debug assertions, under raddle's
/// runtime or in [`block_on`](crate::block_on()), that is reported on standard error, once for each
/// place that waits: the task (or thread), and where it took the lock. A guard may be dropped by
/// another task; the report follows it. A panic while a guard lives releases it; there is no
/// poison.
///
/// ```
/// use raddle_sync::{Mutex, block_on};
///
/// static COUNT: Mutex<u32> = Mutex::new(0);
///
/// block_on(async {
///     let mut count = COUNT.lock().await;
///     *count += 1;
///     assert!(COUNT.try_lock().is_none());
/// });
/// ```
pub struct Mutex<T: ?Sized> {
    pub(crate) raw: RawMutex,
    pub(super) data: UnsafeCell<T>,
}

// SAFETY: the mutex owns the data.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: one thread at a time has access, and may take the data away (`Send`).
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    raddle_base::const_unless_loom! {
        /// A free lock, which can be overtaken for half a millisecond.
        pub const fn new(value: T) -> Self {
            Mutex { raw: RawMutex::new(false), data: UnsafeCell::new(value) }
        }

        /// The same as [`new`](Self::new), under tokio's name.
        pub const fn const_new(value: T) -> Self {
            Mutex::new(value)
        }

        /// A free lock that is handed from waiter to waiter, first come first served.
        pub const fn fair(value: T) -> Self {
            Mutex { raw: RawMutex::new(true), data: UnsafeCell::new(value) }
        }
    }

    /// The value, the lock being owned.
    pub fn into_inner(self) -> T {
        self.data.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// The value, the lock being borrowed exclusively.
    pub fn get_mut(&mut self) -> &mut T {
        self.data.get_mut()
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

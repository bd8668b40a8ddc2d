//! The reader–writer lock itself: its data beside its state machine, and what needs no waiting.

use std::cell::UnsafeCell;

use super::raw::RawRwLock;

/// Many readers or one writer.
///
/// # Order
///
/// [`new`](Self::new) makes a *phase-fair* lock: a writer that waits stops new readers, and the
/// readers that queue up meanwhile all go, together, before the next writer. So a reader waits for
/// at most one writer, and the writer in place k for at most k groups of readers. With
/// [`preferring_writers`](Self::preferring_writers) writers pass the lock on among themselves
/// while any waits, and readers may starve. Within a kind, first come first served, from the
/// first poll on. A lock that passes on to a waiter belongs to it, polled or not; dropping the
/// waiter passes it on.
///
/// One of the readers may be [*upgradable*](Self::upgradable_read): it reads beside the others,
/// and can become the writer without anybody writing in between.
///
/// # Cost
///
/// Entering and leaving are one atomic operation each while nobody has to wait, without a lock.
/// Waiting does not allocate. `RwLock<()>` is 24 bytes. What happened under the lock is visible to
/// whoever has it next: to readers what was written, to a writer also that reading is over.
///
/// # Misuse
///
/// A task that reads, and reads again while a writer waits, waits for itself: the writer waits for
/// the first guard, and the second one for the writer. So does a task that writes and asks again,
/// and one that upgrades beside another guard of its own. With debug assertions, under raddle's
/// runtime or in [`block_on`](crate::block_on()), such a wait is reported on standard error, once
/// for each place that waits: the task (or thread), and where it took the lock. A guard may be
/// dropped by another task; the report follows it. A panic while a guard lives releases it; there
/// is no poison.
///
/// ```
/// use raddle_sync::{RwLock, block_on};
///
/// static TABLE: RwLock<Vec<u32>> = RwLock::new(Vec::new());
///
/// block_on(async {
///     TABLE.write().await.push(7);
///     let (one, other) = (TABLE.read().await, TABLE.read().await);
///     assert_eq!(one[0] + other[0], 14);
///     assert!(TABLE.try_write().is_none());
/// });
/// ```
pub struct RwLock<T: ?Sized> {
    pub(crate) raw: RawRwLock,
    pub(crate) data: UnsafeCell<T>,
}

// SAFETY: the lock owns the data.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: several readers share the data (`Sync`), and a writer on any thread may take it away
// (`Send`).
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

impl<T> RwLock<T> {
    raddle_base::const_unless_loom! {
        /// A free lock: phase-fair.
        pub const fn new(value: T) -> Self {
            RwLock { raw: RawRwLock::new(false, None), data: UnsafeCell::new(value) }
        }

        /// The same as [`new`](Self::new), under tokio's name.
        pub const fn const_new(value: T) -> Self {
            RwLock::new(value)
        }

        /// A free lock that passes from writer to writer while any waits.
        pub const fn preferring_writers(value: T) -> Self {
            RwLock { raw: RawRwLock::new(true, None), data: UnsafeCell::new(value) }
        }

        /// A free lock: phase-fair, with at most `max` readers at a time.
        ///
        /// An upgradable reader counts as one. Who finds no place waits, and places are given in
        /// order: a reader that leaves lets the next one in, and upgradable and plain readers take
        /// turns. A group of readers that goes before the next writer has at most `max` members, so
        /// the reader in place j waits for at most one writer for each `max` of those j.
        ///
        /// ```
        /// use raddle_sync::RwLock;
        ///
        /// static CACHE: RwLock<u32> = RwLock::with_max_readers(7, 2);
        ///
        /// let (one, _other) = (CACHE.try_read().unwrap(), CACHE.try_upgradable_read().unwrap());
        /// assert!(CACHE.try_read().is_none());
        /// drop(one);
        /// assert!(CACHE.try_read().is_some());
        /// ```
        ///
        /// # Panics
        ///
        /// If `max` is 0, or above [`MAX_LIMIT`](Self::MAX_LIMIT).
        #[track_caller]
        pub const fn with_max_readers(value: T, max: u32) -> Self {
            RwLock::limited(value, false, max)
        }

        /// As [`with_max_readers`](Self::with_max_readers), for a lock that passes from writer to
        /// writer while any waits.
        ///
        /// # Panics
        ///
        /// If `max` is 0, or above [`MAX_LIMIT`](Self::MAX_LIMIT).
        #[track_caller]
        pub const fn preferring_writers_with_max_readers(value: T, max: u32) -> Self {
            RwLock::limited(value, true, max)
        }

        #[track_caller]
        const fn limited(value: T, prefer_writers: bool, max: u32) -> Self {
            assert!(max > 0, "a lock that no reader may enter");
            assert!(max <= Self::MAX_LIMIT, "a limit above RwLock::MAX_LIMIT");
            let raw = RawRwLock::new(prefer_writers, Some(max));
            RwLock { raw, data: UnsafeCell::new(value) }
        }
    }

    /// The largest limit of readers that a lock may be given: 8,191.
    pub const MAX_LIMIT: u32 = super::word::MAX_LIMIT;

    /// The value, the lock being owned.
    pub fn into_inner(self) -> T {
        self.data.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// The value, the lock being borrowed exclusively.
    pub fn get_mut(&mut self) -> &mut T {
        self.data.get_mut()
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

//! The semaphore itself, and what needs no waiting.

use std::error::Error;
use std::fmt;

use crate::permits::Permits;

/// Limits how many may do something at the same time.
///
/// Permits are given out strictly first come first served: a waiter that wants many collects what
/// comes back until it has enough, and nobody behind it overtakes, [`try_acquire`] included. A
/// wait for more permits than will ever exist never ends.
///
/// With nobody waiting, taking and returning permits is one atomic exchange each. Waiting does
/// not allocate. What happened before a permit was returned is visible to whoever takes it next. 24
/// bytes.
///
/// # Misuse
///
/// Permits return themselves, once. What can be added too often is permits by hand:
/// [`add_permits`](Self::add_permits) panics, and [`try_add_permits`](Self::try_add_permits)
/// refuses, where more would be free than the [`maximum`](Self::maximum), and the count stays as it
/// was. Should permits come back for which there is no room, because others were added in their
/// place, they go.
///
/// [`try_acquire`]: Self::try_acquire
///
/// ```
/// use raddle_sync::{Semaphore, block_on};
///
/// static CONNECTIONS: Semaphore = Semaphore::const_new(2);
///
/// let first = CONNECTIONS.try_acquire().unwrap();
/// let second = block_on(CONNECTIONS.acquire()).unwrap();
/// assert!(CONNECTIONS.try_acquire().is_err());
/// drop(first);
/// assert_eq!(CONNECTIONS.available_permits(), 1);
/// # drop(second);
/// ```
#[derive(Debug)]
pub struct Semaphore {
    pub(crate) permits: Permits,
}

impl Semaphore {
    /// The most permits a semaphore can hold.
    pub const MAX_PERMITS: usize = <Permits>::MAX;

    raddle_base::const_unless_loom! {
        /// A semaphore with `permits` free permits.
        ///
        /// # Panics
        ///
        /// If `permits` is more than [`MAX_PERMITS`](Self::MAX_PERMITS).
        #[track_caller]
        pub const fn new(permits: usize) -> Self {
            Semaphore { permits: Permits::new(permits) }
        }

        /// The same as [`new`](Self::new), under tokio's name.
        ///
        /// # Panics
        ///
        /// If `permits` is more than [`MAX_PERMITS`](Self::MAX_PERMITS).
        #[track_caller]
        pub const fn const_new(permits: usize) -> Self {
            Semaphore::new(permits)
        }

        /// A semaphore with `permits` free permits, of which never more than `maximum` are free at
        /// a time.
        ///
        /// # Panics
        ///
        /// If `permits` is more than `maximum`, or that is zero: nobody would ever get a permit.
        ///
        /// ```
        /// use raddle_sync::Semaphore;
        ///
        /// static SLOTS: Semaphore = Semaphore::with_maximum(2, 2);
        ///
        /// assert_eq!(SLOTS.try_add_permits(1).unwrap_err().room(), 0);
        /// let one = SLOTS.try_acquire().unwrap();
        /// assert_eq!(SLOTS.try_add_permits(1), Ok(()));
        /// drop(one);
        /// assert_eq!(SLOTS.available_permits(), 2);
        /// ```
        #[track_caller]
        pub const fn with_maximum(permits: usize, maximum: u32) -> Self {
            assert!(maximum > 0, "a semaphore with room for no permit");
            assert!(permits <= maximum as usize, "more permits than the semaphore's maximum");
            Semaphore { permits: Permits::limited(permits, maximum) }
        }
    }

    /// The most permits that may be free at a time.
    pub fn maximum(&self) -> usize {
        self.permits.most()
    }

    /// Permits that are free now. While somebody waits there are none.
    pub fn available_permits(&self) -> usize {
        self.permits.available()
    }

    /// Adds `count` permits: to those who wait, and what is left to the free ones. Also how
    /// permits come back that were [forgotten](super::SemaphorePermit::forget).
    ///
    /// # Panics
    ///
    /// If more than the [`maximum`](Self::maximum) would be free; the count stays as it was.
    #[track_caller]
    pub fn add_permits(&self, count: usize) {
        if let Err(error) = self.try_add_permits(count) {
            panic!("{count} permits to add: {error}");
        }
    }

    /// As [`add_permits`](Self::add_permits), without a panic.
    ///
    /// # Errors
    ///
    /// If more than the [`maximum`](Self::maximum) would be free; the count stays as it was.
    pub fn try_add_permits(&self, count: usize) -> Result<(), AddPermitsError> {
        self.permits.add(count).map_err(|room| AddPermitsError { room })
    }

    /// Removes up to `count` free permits for good, and tells how many.
    pub fn forget_permits(&self, count: usize) -> usize {
        self.permits.forget(count)
    }

    /// Removes all free permits for good, and tells how many they were.
    pub fn drain_permits(&self) -> usize {
        self.permits.forget(usize::MAX)
    }

    /// Takes `count` permits away for good, and never waits: those that are free at once, and for
    /// the rest the next ones that come back, before anybody who waits gets any.
    ///
    /// # Panics
    ///
    /// If more than [`MAX_PERMITS`](Self::MAX_PERMITS) would be owed; the count stays as it was.
    ///
    /// ```
    /// let semaphore = raddle_sync::Semaphore::new(3);
    /// let two = semaphore.try_acquire_many(2).unwrap();
    /// semaphore.reduce_permits(2);
    /// assert_eq!((semaphore.available_permits(), semaphore.owed_permits()), (0, 1));
    /// drop(two);
    /// assert_eq!((semaphore.available_permits(), semaphore.owed_permits()), (1, 0));
    /// ```
    #[track_caller]
    pub fn reduce_permits(&self, count: usize) {
        self.permits.reduce(count);
    }

    /// Permits that were [taken away](Self::reduce_permits) while in use and have not come back.
    pub fn owed_permits(&self) -> usize {
        self.permits.debt()
    }

    /// Gives out no permits any more, and ends all waits with an error. Permits that are held, or
    /// were granted before, stay valid.
    pub fn close(&self) {
        self.permits.close();
    }

    /// Whether [`close`](Self::close) was called.
    pub fn is_closed(&self) -> bool {
        self.permits.is_closed()
    }
}

/// There is no room for so many more permits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddPermitsError {
    room: usize,
}

impl AddPermitsError {
    /// How many there was room for.
    pub fn room(&self) -> usize {
        self.room
    }
}

impl fmt::Display for AddPermitsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the semaphore has room for {} more", self.room)
    }
}

impl Error for AddPermitsError {}

//! A cell that is set once, from outside, and everybody who waits for that.
//!
//! A face of [`OnceCell`]: the same cell, set by a plain call and never by an initialiser.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::once_cell::{OnceCell, OnceCellWait};

/// A value that somebody sets at most once, and that others wait for.
///
/// * *Order.* When the value is set, all waits end in one round, woken in the order of their first
///   poll.
/// * *Ordering.* Who gets the value sees all that was done before it was set. Reading is one
///   acquire load.
/// * *Cost.* The value lies in the cell, with 40 bytes beside it. Neither setting nor waiting
///   allocates.
///
/// ```
/// use raddle_sync::{SetOnce, block_on};
///
/// static ADDRESS: SetOnce<String> = SetOnce::new();
///
/// std::thread::spawn(|| ADDRESS.set(String::from("localhost")));
/// assert_eq!(block_on(ADDRESS.wait()), "localhost");
/// assert!(ADDRESS.set(String::new()).is_err());
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SetOnce<T> {
    cell: OnceCell<T>,
}

impl<T> SetOnce<T> {
    raddle_base::const_unless_loom! {
        /// Not set.
        pub const fn new() -> Self {
            SetOnce { cell: OnceCell::new() }
        }

        /// The same as [`new`](Self::new), under tokio's name.
        pub const fn const_new() -> Self {
            SetOnce::new()
        }

        /// Set from the start.
        pub const fn from_value(value: T) -> Self {
            SetOnce { cell: OnceCell::from_value(value) }
        }
    }

    /// Whether the value is set.
    #[inline]
    pub fn initialized(&self) -> bool {
        self.cell.is_initialized()
    }

    /// The value, if it is set.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        self.cell.get()
    }

    /// Sets the value, and wakes everybody who waits for it.
    ///
    /// # Errors
    ///
    /// If somebody else was first; the value comes back. The other one's may become visible an
    /// instant later, if both came at the same time.
    pub fn set(&self, value: T) -> Result<(), SetOnceError<T>> {
        self.cell.set(value).map_err(|error| SetOnceError(error.into_inner()))
    }

    /// Waits until the value is set.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing but its place in the order of wakes.
    #[track_caller]
    pub fn wait(&self) -> OnceCellWait<'_, T> {
        self.cell.wait()
    }

    /// Blocks the thread until the value is set.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task: use [`wait`](Self::wait) there.
    #[track_caller]
    pub fn blocking_wait(&self) -> &T {
        self.cell.blocking_wait()
    }

    /// As [`blocking_wait`](Self::blocking_wait) for at most `limit`.
    ///
    /// # Panics
    ///
    /// As [`blocking_wait`](Self::blocking_wait).
    #[track_caller]
    pub fn blocking_wait_timeout(&self, limit: Duration) -> Option<&T> {
        self.cell.blocking_wait_timeout(limit)
    }

    /// The value, if it is set.
    pub fn into_inner(self) -> Option<T> {
        self.cell.into_inner()
    }
}

impl<T> From<T> for SetOnce<T> {
    fn from(value: T) -> Self {
        Self::from_value(value)
    }
}

impl<T: fmt::Debug> fmt::Debug for SetOnce<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SetOnce").field(&self.get()).finish()
    }
}

/// The cell was set before. Holds the value that was not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetOnceError<T>(pub T);

impl<T> fmt::Display for SetOnceError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the cell was set before")
    }
}

impl<T: fmt::Debug> Error for SetOnceError<T> {}

#[cfg(all(test, not(loom)))]
#[path = "tests/set_once.rs"]
mod tests;

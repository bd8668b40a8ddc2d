//! The cell itself, and what needs no waiting.

use std::error::Error;
use std::fmt;
use std::mem::MaybeUninit;

use raddle_base::shim::cell::UnsafeCell;

use crate::block_on::block_on;
use crate::once::{Lead, Leading, NoLead, Once};

/// A value that is made at most once, by the first who asks for it; the others wait for that.
///
/// * *Retries.* An initialiser that fails, panics or is dropped passes the lead to exactly one of
///   those who wait; that one runs its own. The cell is never poisoned.
/// * *Order.* When the value is there, all waits end in one round, woken in the order of their
///   first poll; none depends on another being polled.
/// * *Ordering.* Who gets the value sees all that was done before it was set. Reading is one
///   acquire load.
/// * *Recursion.* An initialiser that waits for its own cell waits for ever; reported as by a
///   [`Mutex`](crate::Mutex#misuse).
/// * *Cost.* The value lies in the cell, with 40 bytes beside it. Waiting does not allocate.
///
/// ```
/// use raddle_sync::{OnceCell, block_on};
///
/// static CONFIG: OnceCell<String> = OnceCell::new();
///
/// let config = block_on(CONFIG.get_or_init(|| async { String::from("read once") }));
/// assert_eq!(CONFIG.get(), Some(config));
/// ```
///
/// It is as `Sync` as a shared value can be made and read:
///
/// ```compile_fail,E0277
/// fn sync<T: Sync>() {}
/// sync::<raddle_sync::OnceCell<std::cell::Cell<u8>>>();
/// ```
///
/// ```compile_fail,E0277
/// fn send<T: Send>() {}
/// send::<raddle_sync::OnceCell<std::rc::Rc<u8>>>();
/// ```
pub struct OnceCell<T> {
    pub(super) once: Once,
    /// Initialised exactly while the once is done.
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: the value is moved in on one thread and may be dropped on another.
unsafe impl<T: Send> Send for OnceCell<T> {}
// SAFETY: as above, and once written it is only shared.
unsafe impl<T: Send + Sync> Sync for OnceCell<T> {}

impl<T> OnceCell<T> {
    raddle_base::const_unless_loom! {
        /// An empty cell.
        pub const fn new() -> Self {
            OnceCell { once: Once::new(), value: UnsafeCell::new(MaybeUninit::uninit()) }
        }

        /// The same as [`new`](Self::new), under tokio's name.
        pub const fn const_new() -> Self {
            OnceCell::new()
        }

        /// A cell that has its value.
        pub const fn from_value(value: T) -> Self {
            OnceCell { once: Once::done(), value: UnsafeCell::new(MaybeUninit::new(value)) }
        }
    }

    /// Whether the value is there.
    #[inline]
    pub fn is_initialized(&self) -> bool {
        self.once.is_completed()
    }

    /// The value, if it is there.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        // SAFETY: the once is done, so the value was written and is not written again while the
        // cell is borrowed; the load that told so acquires.
        self.is_initialized()
            .then(|| self.value.with(|value| unsafe { (*value).assume_init_ref() }))
    }

    /// The value for writing, if it is there.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        if !self.is_initialized() {
            return None;
        }
        // SAFETY: the once is done, so the value was written.
        Some(unsafe { self.value.get_mut().assume_init_mut() })
    }

    /// The value; made by `f` on this thread, if nobody makes it before.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task, if somebody else is making the value.
    #[track_caller]
    pub fn blocking_get_or_init(&self, f: impl FnOnce() -> T) -> &T {
        if !self.is_initialized() {
            let leading = match self.once.try_lead() {
                Ok(leading) => Some(leading),
                Err(NoLead::Over) => None,
                Err(NoLead::Running) => block_on(Lead::new(&self.once)),
            };
            if let Some(leading) = leading {
                self.write(f(), leading);
            }
        }
        self.get().expect("it was set above")
    }

    /// Sets the value, if nobody has set it or is making it.
    ///
    /// # Errors
    ///
    /// If somebody has or is; the value comes back.
    pub fn set(&self, value: T) -> Result<(), SetError<T>> {
        match self.once.try_lead() {
            Ok(leading) => {
                self.write(value, leading);
                Ok(())
            }
            Err(NoLead::Running) => Err(SetError::InitializingError(value)),
            Err(NoLead::Over) => Err(SetError::AlreadyInitializedError(value)),
        }
    }

    /// The value, out of the cell, which is empty after.
    pub fn take(&mut self) -> Option<T> {
        std::mem::take(self).into_inner()
    }

    /// The value, if it is there.
    pub fn into_inner(mut self) -> Option<T> {
        if !self.is_initialized() {
            return None;
        }
        // The destructor finds the cell empty.
        self.once = Once::new();
        // SAFETY: the once was done, so the value was written; it is moved out once.
        Some(unsafe { self.value.get_mut().assume_init_read() })
    }

    /// Writes the value and lets everybody go.
    pub(crate) fn once(&self) -> &Once {
        &self.once
    }

    pub(crate) fn write<'a>(&'a self, value: T, leading: Leading<'a>) -> &'a T {
        // SAFETY: the leader is alone with the place until it completes.
        let place = self.value.with_mut(|place| unsafe { &*(*place).write(value) });
        leading.complete();
        place
    }
}

impl<T> Drop for OnceCell<T> {
    fn drop(&mut self) {
        if let Some(value) = self.get_mut() {
            // SAFETY: the value was written, and nobody reads it any more.
            unsafe { std::ptr::drop_in_place(value) };
        }
    }
}

impl<T> Default for OnceCell<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for OnceCell<T> {
    fn from(value: T) -> Self {
        Self::from_value(value)
    }
}

impl<T: Clone> Clone for OnceCell<T> {
    /// A cell of its own, with a clone of the value if it is there.
    fn clone(&self) -> Self {
        self.get().map_or_else(Self::new, |value| Self::from_value(value.clone()))
    }
}

impl<T: PartialEq> PartialEq for OnceCell<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceCell<T> {}

impl<T: fmt::Debug> fmt::Debug for OnceCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OnceCell").field(&self.get()).finish()
    }
}

/// Why [`OnceCell::set`] did not set the value, which is in here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetError<T> {
    /// The cell has a value.
    AlreadyInitializedError(T),
    /// Somebody is making one.
    InitializingError(T),
}

impl<T> SetError<T> {
    /// The value that was not set.
    pub fn into_inner(self) -> T {
        match self {
            SetError::AlreadyInitializedError(value) | SetError::InitializingError(value) => value,
        }
    }
}

impl<T> fmt::Display for SetError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SetError::AlreadyInitializedError(_) => "the cell has a value",
            SetError::InitializingError(_) => "a value of the cell is being made",
        })
    }
}

impl<T: fmt::Debug> Error for SetError<T> {}

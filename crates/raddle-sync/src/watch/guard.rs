//! A look at the watched value in place.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use super::shared::Reading;

/// The value, which stays as it is while this lives: senders wait for it, by blocking their
/// thread. Keep it for a moment only, and copy or clone what is needed longer.
///
/// A guard stays on its thread, so that a task that moves between threads cannot hold it across an
/// await:
///
/// ```compile_fail,E0277
/// fn crosses_threads<T: Send>() {}
/// crosses_threads::<raddle_sync::watch::Ref<'static, u8>>();
/// ```
pub struct Ref<'a, T> {
    reading: Reading<'a, T>,
    changed: bool,
    /// Not sent.
    thread: PhantomData<*const T>,
}

// SAFETY: a shared guard gives out `&T` and nothing more.
unsafe impl<T: Sync> Sync for Ref<'_, T> {}

impl<'a, T> Ref<'a, T> {
    #[inline]
    pub(super) fn new(reading: Reading<'a, T>, seen: u64) -> Self {
        let changed = reading.version != seen;
        Ref { reading, changed, thread: PhantomData }
    }

    /// Whether the receiver that gave this out had not seen the value as it is. False for one of a
    /// sender.
    pub fn has_changed(&self) -> bool {
        self.changed
    }

    #[inline]
    pub(super) fn version(&self) -> u64 {
        self.reading.version
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.reading.value()
    }
}

impl<T: fmt::Debug> fmt::Debug for Ref<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: fmt::Display> fmt::Display for Ref<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

//! A value alone on its cache line, so that writers of neighbours do not slow its readers.

use std::ops::{Deref, DerefMut};

/// Aligns its content to 128 bytes.
///
/// Intel's spatial prefetcher pulls pairs of 64-byte lines, and some Arm cores have lines of 128
/// bytes; 128 covers both.
#[derive(Debug, Default, Clone, Copy)]
#[repr(align(128))]
pub struct CachePadded<T>(T);

impl<T> CachePadded<T> {
    /// Puts `value` on a line of its own.
    #[inline]
    pub const fn new(value: T) -> Self {
        CachePadded(value)
    }

    /// The value itself.
    #[inline]
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for CachePadded<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for CachePadded<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

#[cfg(test)]
#[path = "tests/padded.rs"]
mod tests;

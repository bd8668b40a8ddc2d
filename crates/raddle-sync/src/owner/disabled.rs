//! The twin that does nothing: see `owner.rs`.

use std::panic::Location;

use raddle_base::wait::WaitSite;

/// Goes with what is held.
#[derive(Debug)]
pub(crate) struct Held;

impl Held {
    /// Nothing is noted.
    pub(crate) const NOTHING: Held = Held;

    /// Somebody took the lock at this address.
    #[inline]
    pub(crate) fn new(_lock: usize, _place: &'static Location<'static>) -> Self {
        Held
    }
}

/// Somebody is about to wait for it.
#[inline]
pub(crate) fn waits(_lock: usize, _site: WaitSite, _entitled: usize) {}

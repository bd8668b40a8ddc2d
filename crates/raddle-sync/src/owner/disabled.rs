//! The twin that does nothing: see `owner.rs`.

use std::panic::Location;

use raddle_base::wait::WaitSite;

/// Somebody took the lock at this address.
#[inline]
pub(crate) fn acquired(_lock: usize, _place: &'static Location<'static>) {}

/// Somebody released it.
#[inline]
pub(crate) fn released(_lock: usize) {}

/// Somebody is about to wait for it.
#[inline]
pub(crate) fn waits(_lock: usize, _site: WaitSite) {}

//! Time and entropy: the system's, or those of a run of shuttle's, which must be repeatable.

/// Nanoseconds of the monotonic clock, by `read`, or the run's own.
#[cfg(not(shuttle))]
#[inline(always)]
pub(crate) fn nanos(read: impl FnOnce() -> u64) -> u64 {
    read()
}

/// Nanoseconds of the run's own clock.
#[cfg(shuttle)]
pub(crate) fn nanos(_read: impl FnOnce() -> u64) -> u64 {
    super::world::nanos()
}

/// A seed, by `draw`, or the run's own next one.
#[cfg(not(shuttle))]
#[inline(always)]
pub(crate) fn seed(draw: impl FnOnce() -> u64) -> u64 {
    draw()
}

/// The run's own next seed.
#[cfg(shuttle)]
pub(crate) fn seed(_draw: impl FnOnce() -> u64) -> u64 {
    super::world::seed()
}

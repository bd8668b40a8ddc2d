//! Instants of the boot-time clock, which goes on while the machine is suspended. Used by the
//! timers that count suspensions.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

use super::{read, saturated};

/// A point of the boot-time clock (`CLOCK_BOOTTIME`): as [`Instant`](super::Instant), but the time
/// in which the machine was suspended counts.
///
/// The two clocks are not comparable, so they are two types. Arithmetic saturates here too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BootInstant(u64);

impl BootInstant {
    /// Never: later than anything the clock will show.
    pub const FAR_FUTURE: BootInstant = BootInstant(u64::MAX);

    /// Reads the clock. Through the vDSO this costs some 20 ns and no system call.
    #[inline]
    pub fn now() -> BootInstant {
        BootInstant(read(libc::CLOCK_BOOTTIME))
    }

    /// The instant `nanos` nanoseconds after boot.
    #[inline]
    pub const fn from_nanos(nanos: u64) -> BootInstant {
        BootInstant(nanos)
    }

    /// Nanoseconds since boot.
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whether this is [`FAR_FUTURE`](Self::FAR_FUTURE).
    #[inline]
    pub const fn is_far_future(self) -> bool {
        self.0 == u64::MAX
    }

    /// The time since this instant, suspensions included, or zero if it lies ahead.
    #[inline]
    pub fn elapsed(self) -> Duration {
        BootInstant::now().duration_since(self)
    }

    /// The time from `earlier` to `self`, or zero if `earlier` is later.
    #[inline]
    pub const fn duration_since(self, earlier: BootInstant) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for BootInstant {
    type Output = BootInstant;

    #[inline]
    fn add(self, duration: Duration) -> BootInstant {
        BootInstant(self.0.saturating_add(saturated(duration)))
    }
}

impl Sub<Duration> for BootInstant {
    type Output = BootInstant;

    #[inline]
    fn sub(self, duration: Duration) -> BootInstant {
        BootInstant(self.0.saturating_sub(saturated(duration)))
    }
}

impl Sub<BootInstant> for BootInstant {
    type Output = Duration;

    #[inline]
    fn sub(self, earlier: BootInstant) -> Duration {
        self.duration_since(earlier)
    }
}

impl fmt::Debug for BootInstant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_far_future() {
            return f.write_str("BootInstant(far future)");
        }
        write!(f, "BootInstant({}.{:09})", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

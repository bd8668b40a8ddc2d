//! The only source of time in the workspace: a monotonic instant of 64 bits that saturates.
//!
//! `std::time::Instant` panics on overflow and cannot be made by hand, so timers near the end of
//! time and virtual clocks need a type of their own. Conversions go both ways.

use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::Duration;

use crate::shim::time;

mod boot;
mod cpu;

pub use boot::BootInstant;
pub use cpu::CpuClock;

/// A point of the monotonic clock (`CLOCK_MONOTONIC`): nanoseconds since some time before boot.
///
/// Arithmetic saturates: adding `Duration::MAX` gives [`FAR_FUTURE`](Self::FAR_FUTURE), which is
/// never reached (584 years), and subtracting beyond the beginning gives the beginning.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// Never: later than anything the clock will show.
    pub const FAR_FUTURE: Instant = Instant(u64::MAX);

    /// Reads the clock. Through the vDSO this costs some 20 ns and no system call.
    #[inline]
    pub fn now() -> Instant {
        Instant(time::nanos(|| read(libc::CLOCK_MONOTONIC)))
    }

    /// The same clock at the kernel's last tick, 1 to 10 ms late: at a third of the price.
    #[inline]
    pub fn coarse() -> Instant {
        Instant(read(libc::CLOCK_MONOTONIC_COARSE))
    }

    /// The instant `nanos` nanoseconds after the clock's origin.
    #[inline]
    pub const fn from_nanos(nanos: u64) -> Instant {
        Instant(nanos)
    }

    /// Nanoseconds since the clock's origin.
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whether this is [`FAR_FUTURE`](Self::FAR_FUTURE).
    #[inline]
    pub const fn is_far_future(self) -> bool {
        self.0 == u64::MAX
    }

    /// The time since this instant, or zero if it lies ahead.
    #[inline]
    pub fn elapsed(self) -> Duration {
        Instant::now().duration_since(self)
    }

    /// The time from `earlier` to `self`, or zero if `earlier` is later.
    #[inline]
    pub const fn duration_since(self, earlier: Instant) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The same as [`duration_since`](Self::duration_since), under std's name.
    #[inline]
    pub const fn saturating_duration_since(self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }

    /// The time from `earlier` to `self`, or `None` if `earlier` is later.
    #[inline]
    pub const fn checked_duration_since(self, earlier: Instant) -> Option<Duration> {
        match self.0.checked_sub(earlier.0) {
            Some(nanos) => Some(Duration::from_nanos(nanos)),
            None => None,
        }
    }

    /// This instant plus `duration`, or `None` where it would pass the end of time.
    #[inline]
    pub fn checked_add(self, duration: Duration) -> Option<Instant> {
        self.0.checked_add(u64::try_from(duration.as_nanos()).ok()?).map(Instant)
    }

    /// This instant minus `duration`, or `None` where it would pass the beginning.
    #[inline]
    pub fn checked_sub(self, duration: Duration) -> Option<Instant> {
        self.0.checked_sub(u64::try_from(duration.as_nanos()).ok()?).map(Instant)
    }
}

/// Wall-clock time since the Unix epoch; zero before 1970.
pub fn unix_time() -> Duration {
    Duration::from_nanos(read(libc::CLOCK_REALTIME))
}

#[inline]
fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec for the call to fill; these clocks exist on all of Linux,
    // so the call cannot fail, and if it did the zero above is returned.
    unsafe { libc::clock_gettime(clock, &mut time) };
    (time.tv_sec.max(0) as u64).saturating_mul(1_000_000_000).saturating_add(time.tv_nsec as u64)
}

fn saturated(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

impl Add<Duration> for Instant {
    type Output = Instant;

    #[inline]
    fn add(self, duration: Duration) -> Instant {
        Instant(self.0.saturating_add(saturated(duration)))
    }
}

impl AddAssign<Duration> for Instant {
    #[inline]
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;

    #[inline]
    fn sub(self, duration: Duration) -> Instant {
        Instant(self.0.saturating_sub(saturated(duration)))
    }
}

impl SubAssign<Duration> for Instant {
    #[inline]
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}

impl Sub<Instant> for Instant {
    type Output = Duration;

    #[inline]
    fn sub(self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }
}

impl From<std::time::Instant> for Instant {
    fn from(then: std::time::Instant) -> Instant {
        let (now, std_now) = (Instant::now(), std::time::Instant::now());
        match then.checked_duration_since(std_now) {
            Some(ahead) => now + ahead,
            None => now - std_now.duration_since(then),
        }
    }
}

impl From<Instant> for std::time::Instant {
    /// Instants that std cannot express (centuries ahead) become one that is 30 years ahead.
    fn from(then: Instant) -> std::time::Instant {
        const FAR: Duration = Duration::from_secs(30 * 365 * 86_400);
        let (now, std_now) = (Instant::now(), std::time::Instant::now());
        match then.checked_duration_since(now) {
            Some(ahead) => std_now + ahead.min(FAR),
            None => std_now.checked_sub(now.duration_since(then)).unwrap_or(std_now),
        }
    }
}

impl std::fmt::Debug for Instant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_far_future() {
            return f.write_str("Instant(far future)");
        }
        write!(f, "Instant({}.{:09})", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

#[cfg(test)]
#[path = "tests/clock.rs"]
mod tests;

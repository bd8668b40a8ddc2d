//! Time: sleeps, time-outs and intervals.
//!
//! Each worker has a timer wheel. A timer is never early; on an idle runtime it is late by less
//! than 100 µs. Deadlines saturate: what would pass the end of the clock (584 years after boot) is
//! never. Arming a timer allocates nothing, and a dropped sleep leaves the wheel at once.
//!
//! The clock stands still while the machine is suspended. For what ends by the world's time, a
//! lease or a token, [`boot`] has the same functions on the boot-time clock, which goes on.

pub use raddle_runtime::time::boot;
pub use raddle_runtime::time::{
    Elapsed, Instant, Interval, MissedTickBehavior, Sleep, Timeout, interval, interval_at, sleep,
    sleep_until, timeout, timeout_at,
};
pub use std::time::Duration;

/// The error of a time-out, where users of tokio look for it.
pub mod error {
    pub use raddle_runtime::time::Elapsed;
}

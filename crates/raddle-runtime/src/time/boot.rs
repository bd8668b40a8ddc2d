//! Timers on the boot-time clock: the time in which the machine was suspended counts.
//!
//! The monotonic clock stands still while a machine sleeps: after a night in a bag, `sleep` for an
//! hour still has most of its hour to go. That is right for pauses and time-outs of operations,
//! and wrong for what ends by the world's time: leases, tokens, caches, "ask again in an hour".
//! These timers are for the latter. They do not wake the machine; what fell due while it slept is
//! over when it wakes.
//!
//! Names are those of [`time`](crate::time); instants are of a type of their own, because the two
//! clocks cannot be compared.
//!
//! # How
//!
//! A [`Sleep`] arms a timer of the usual kind for what is left by the boot-time clock, and listens
//! for the end of a suspension, after which it looks at its clock and arms anew. It is over only
//! by its own clock, hence never early. The first one to wait starts one thread in the process,
//! `raddle-resume`, which sleeps until the kernel says that clocks have jumped (see
//! `time/boot/resume.rs`). Where that cannot be had, a sleep looks at its clock once a second
//! instead.

mod interval;
pub(crate) mod resume;
mod sleep;
mod timeout;

pub use interval::{Interval, interval, interval_at};
pub use raddle_base::clock::BootInstant as Instant;
#[cfg(test)]
pub(crate) use sleep::step;
pub use sleep::{Sleep, sleep, sleep_until};
pub use timeout::{Timeout, timeout, timeout_at};

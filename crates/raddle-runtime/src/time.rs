//! Time: sleeps, time-outs and intervals, and the timer wheel under them.
//!
//! Each worker has one [`Timers`]: a hierarchical wheel behind a small lock, with the next
//! deadline in a word that a worker reads between dispatches. A [`Sleep`] holds its node in place
//! and lends it to the wheel of the worker that polls it first; arming allocates nothing.
//!
//! | file | answers |
//! |---|---|
//! | `time/level.rs` | what the digits of a time are, and what one level of the wheel holds |
//! | `time/wheel.rs` | which deadline is next and which have passed; pure |
//! | `time/entry.rs` | who may touch which field of a sleeping deadline, and when |
//! | `time/timers.rs` | how threads arm, cancel and fire without missing each other |
//! | `time/current.rs` | which timers a thread uses |
//! | `time/sleep.rs`, `time/timeout.rs`, `time/interval.rs` | what users see |
//! | `time/boot.rs` | the same by a clock that counts suspensions of the machine |
//!
//! Promises: a timer is never early; on an idle runtime it is late by less than 100 µs. Deadlines
//! saturate: what would pass the end of the clock (584 years after boot) is never. Nothing
//! depends on how long the machine has been up. A dropped sleep leaves the wheel at once. The clock
//! is the monotonic one, which stands still while the machine is suspended; [`boot`] has timers on
//! one that does not.

pub mod boot;
pub mod current;
mod entry;
mod interval;
mod level;
mod sleep;
mod timeout;
mod timers;
mod wheel;

#[cfg(test)]
mod tests;

pub use interval::{Interval, MissedTickBehavior, interval, interval_at};
pub use raddle_base::clock::Instant;
pub use sleep::{Sleep, sleep, sleep_until};
pub use timeout::{Elapsed, Timeout, timeout, timeout_at};
pub use timers::Timers;

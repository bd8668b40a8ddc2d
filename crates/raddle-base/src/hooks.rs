//! Points at which a test may pause a thread: twins, on with the feature `test-hooks`, else empty.
//!
//! A test arms a point, for every thread or for one by its name, waits until a thread has arrived,
//! and lets it go; or it records which points a thread passes. Timed builds never have the feature;
//! the lab refuses to run with it.
//!
//! The points of a worker, in the order in which a turn of its loop passes them:
//!
//! | point | where |
//! |---|---|
//! | [`LOOK`] | before the look at inboxes, injector, driver and timers |
//! | [`INJECTOR`] | in that look, before a share of the injector is taken |
//! | [`DRIVER`] | before completions are fetched, in that look |
//! | [`LOOKED`] | after the look |
//! | [`POLL`] | before a task is polled, whoever polls it |
//! | [`STOLEN`] | after a theft, before anything of it runs |
//! | [`PARK`] | after the last look, before the worker blocks |

#[cfg(feature = "test-hooks")]
mod enabled;
#[cfg(feature = "test-hooks")]
pub use enabled::{Pause, Recording, arm, arm_on, point, record};

#[cfg(not(feature = "test-hooks"))]
mod disabled;
#[cfg(not(feature = "test-hooks"))]
pub use disabled::point;

/// Whether hooks are compiled in.
pub const ENABLED: bool = cfg!(feature = "test-hooks");

/// A worker is about to look at everything that must not wait.
pub const LOOK: &str = "look";
/// A worker is about to take its share of the injector.
pub const INJECTOR: &str = "injector";
/// A worker is about to have its driver fetch completions.
pub const DRIVER: &str = "driver";
/// A worker has looked, and chooses a task next.
pub const LOOKED: &str = "looked";
/// A task is about to be polled.
pub const POLL: &str = "poll";
/// A worker has stolen something.
pub const STOLEN: &str = "stolen";
/// A worker is about to block.
pub const PARK: &str = "park";

#[cfg(all(test, feature = "test-hooks"))]
mod tests;

//! Points at which a test may pause a thread: twins, on with the feature `test-hooks`, else empty.
//!
//! A test names a point, arms it, waits until a thread has arrived, and lets it go. Timed builds
//! never have the feature; the lab refuses to run with it.

#[cfg(feature = "test-hooks")]
mod enabled;
#[cfg(feature = "test-hooks")]
pub use enabled::{Pause, arm, point};

#[cfg(not(feature = "test-hooks"))]
mod disabled;
#[cfg(not(feature = "test-hooks"))]
pub use disabled::point;

/// Whether hooks are compiled in.
pub const ENABLED: bool = cfg!(feature = "test-hooks");

#[cfg(all(test, feature = "test-hooks"))]
mod tests;

//! How long a listener leaves the kernel alone after it ran out of descriptors.
//!
//! A level of "no descriptor left" lasts: a listener that tried again at once would spin, and one
//! that waited for an event would wait for ever, because the pending connection has been reported
//! already. So it pauses for 50 ms, then 100 ms as long as the shortage lasts. The shortage is
//! reported to the caller once, at its beginning.

use std::time::Duration;

/// Where a listener stands in a shortage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// An accept failed for want of descriptors: how long to pause, and whether this is the first
    /// failure of the shortage, which the caller is told.
    pub(crate) fn failed(&mut self) -> (Duration, bool) {
        self.failures = self.failures.saturating_add(1);
        let first = self.failures == 1;
        (Duration::from_millis(if first { 50 } else { 100 }), first)
    }

    /// An accept succeeded, or failed for another reason: the shortage is over.
    pub(crate) fn over(&mut self) {
        self.failures = 0;
    }
}

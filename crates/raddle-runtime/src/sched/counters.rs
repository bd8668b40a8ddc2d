//! Plain counters of a worker: written by one thread only, read by anybody.

use raddle_base::shim::atomic::AtomicU64;
use raddle_base::shim::atomic::Ordering::Relaxed;

/// A count with one writer: a load and a store, no read-modify-write.
pub(crate) struct Count(AtomicU64);

impl Count {
    raddle_base::const_unless_loom! {
        pub(crate) const fn new() -> Self {
            Count(AtomicU64::new(0))
        }
    }

    /// Adds `n`. Only the one writer calls this.
    #[inline]
    pub(crate) fn add(&self, n: u64) {
        // Relaxed: a statistic; the one writer needs no exclusion.
        self.0.store(self.0.load(Relaxed).wrapping_add(n), Relaxed);
    }

    /// Replaces the count. Only the one writer calls this.
    pub(crate) fn set(&self, n: u64) {
        // Relaxed: a statistic.
        self.0.store(n, Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        // Relaxed: a statistic.
        self.0.load(Relaxed)
    }
}

/// The counters of one worker.
pub(crate) struct Counters {
    /// Completed polls: also the epoch by which others see whether the worker moves.
    pub(crate) dispatches: Count,
    pub(crate) steals: Count,
    pub(crate) parks: Count,
    pub(crate) served: Count,
    pub(crate) looks: Count,
    pub(crate) clock_reads: Count,
    /// Written by the monitor.
    pub(crate) rescues: Count,
}

impl Counters {
    pub(crate) fn new() -> Self {
        Counters {
            dispatches: Count::new(),
            steals: Count::new(),
            parks: Count::new(),
            served: Count::new(),
            looks: Count::new(),
            clock_reads: Count::new(),
            rescues: Count::new(),
        }
    }
}

//! Plain counters of a worker: written by its own thread only, read by anybody.

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

    pub(crate) fn snapshot(&self) -> WorkerMetrics {
        WorkerMetrics {
            dispatches: self.dispatches.get(),
            steals: self.steals.get(),
            parks: self.parks.get(),
            served: self.served.get(),
            looks: self.looks.get(),
            clock_reads: self.clock_reads.get(),
            rescues: self.rescues.get(),
        }
    }
}

/// What one worker has done since it started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerMetrics {
    /// Polls of tasks.
    pub dispatches: u64,
    /// Successful steals from other workers.
    pub steals: u64,
    /// Times it went to sleep.
    pub parks: u64,
    /// Tasks that were woken by I/O, timers and other threads.
    pub served: u64,
    /// Times it asked its driver while busy.
    pub looks: u64,
    /// Times it read the clock: for timers, for polling, or to let its driver wait a little.
    pub clock_reads: u64,
    /// Times its other work was taken over because a task did not return.
    pub rescues: u64,
}

/// What a runtime has done since it started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// One entry a worker; stand-ins for workers in blocking sections come last.
    pub workers: Vec<WorkerMetrics>,
    /// Tasks that have been spawned and have not ended.
    pub live_tasks: usize,
}

//! How often which length of time occurred: counts in buckets whose width grows with the length.
//!
//! A worker records into a [`Recorder`] without a lock, by a load and a store; anybody takes a
//! copy, a [`Histogram`], and asks it for percentiles.
//!
//! **Buckets.** Lengths below 8 ns have a bucket each. From there on each power of two is cut into
//! 4 buckets of equal width, so a bucket's upper end is at most a quarter above its lower one:
//!
//! ```text
//! 0 1 2 3 4 5 6 7 | 8-9 10-11 12-13 14-15 | 16-19 20-23 24-27 28-31 | 32-39 …
//! ```
//!
//! The last bucket holds everything from 2.1 hours up. A histogram takes 1.4 KB.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use raddle_base::shim::atomic::AtomicU64;
use raddle_base::shim::atomic::Ordering::Relaxed;
use raddle_base::shim::model;

/// Each power of two is cut into 2 to the power of this.
const SUB_BITS: u32 = 2;
const SUB: u64 = 1 << SUB_BITS;
/// The last power of two with buckets of its own: 2^42 ns are 73 minutes.
const TOP_BIT: u32 = 42;
/// The number of buckets.
const BUCKETS: usize = model::bound(bucket_of(u64::MAX) + 1, 1);

/// The bucket of a length in nanoseconds.
const fn bucket_of(nanos: u64) -> usize {
    if nanos < SUB {
        return nanos as usize;
    }
    let bit = nanos.ilog2();
    if bit > TOP_BIT {
        return bucket_of((2 << TOP_BIT) - 1);
    }
    let shift = bit - SUB_BITS;
    ((shift as u64 * SUB) + (nanos >> shift)) as usize
}

/// The shortest length in a bucket, and that of the bucket behind the last.
const fn lower_end(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 2 * SUB {
        return bucket;
    }
    let shift = bucket / SUB - 1;
    (SUB + bucket % SUB) << shift
}

/// The longest length in a bucket.
const fn upper_end(bucket: usize) -> u64 {
    if bucket == BUCKETS - 1 { u64::MAX } else { lower_end(bucket + 1) - 1 }
}

/// A histogram with one writer.
pub(crate) struct Recorder {
    counts: [AtomicU64; BUCKETS],
    longest: AtomicU64,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        Recorder { counts: std::array::from_fn(|_| AtomicU64::new(0)), longest: AtomicU64::new(0) }
    }

    /// Counts `times` occurrences of a length. Only the one writer calls this.
    pub(crate) fn record(&self, length: Duration, times: u64) {
        let nanos = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
        let count = &self.counts[bucket_of(nanos).min(BUCKETS - 1)];
        // Relaxed, all: statistics; the one writer needs no exclusion.
        count.store(count.load(Relaxed).wrapping_add(times), Relaxed);
        if self.longest.load(Relaxed) < nanos {
            self.longest.store(nanos, Relaxed);
        }
    }

    /// The counts as they are.
    pub(crate) fn snapshot(&self) -> Histogram {
        // Relaxed: statistics.
        let longest = self.longest.load(Relaxed);
        let counts = self.counts.iter().map(|count| count.load(Relaxed));
        let mut histogram = Histogram { counts: counts.collect(), longest };
        if histogram.is_empty() {
            histogram.counts = Box::default();
        }
        histogram
    }
}

/// How often which length of time occurred.
///
/// Lengths are counted in buckets that are at most a quarter wider at their upper end than at their
/// lower one, and exactly up to 8 ns. The longest one is kept exactly.
///
/// ```
/// # use raddle_runtime::{Config, Runtime, park::ThreadDrivers, spawn, task::yield_now};
/// # use std::time::Duration;
/// # let config = Config { workers: 1, ..Config::default() };
/// # let runtime = Runtime::new(config, Box::new(ThreadDrivers)).unwrap();
/// let lateness = runtime.block_on(async {
///     spawn(raddle_runtime::time::sleep(Duration::from_millis(1))).await.unwrap();
///     raddle_runtime::Handle::current().metrics().total().timer_lateness
/// });
/// assert_eq!(lateness.count(), 1);
/// assert!(lateness.percentile(0.99) <= lateness.max());
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Empty, or one for each bucket.
    counts: Box<[u64]>,
    longest: u64,
}

impl Histogram {
    /// One that has counted nothing.
    pub fn new() -> Self {
        Histogram::default()
    }

    /// How many lengths were counted.
    pub fn count(&self) -> u64 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.counts.iter().all(|count| *count == 0)
    }

    /// The longest length; zero if nothing was counted.
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.longest)
    }

    /// The length that a share `q` of all lengths did not exceed, from 0 to 1: `percentile(0.5)` is
    /// the median, `percentile(0.99)` what all but one in a hundred stayed within. Zero if nothing
    /// was counted.
    ///
    /// It is the upper end of the bucket in which the length at place ⌈q · n⌉ of n lies, and never
    /// more than [`max`](Self::max).
    ///
    /// # Panics
    ///
    /// If `q` is not from 0 to 1.
    pub fn percentile(&self, q: f64) -> Duration {
        assert!((0.0..=1.0).contains(&q), "a share is from 0 to 1, not {q}");
        let count = self.count();
        // A product of a float may be off by one in 2^53, which is far less than a bucket.
        let place = ((q * count as f64).ceil() as u64).clamp(1, count.max(1));
        let mut below = 0u64;
        for (bucket, held) in self.counts.iter().enumerate() {
            below = below.saturating_add(*held);
            if below >= place {
                return Duration::from_nanos(upper_end(bucket).min(self.longest));
            }
        }
        Duration::ZERO
    }

    /// Adds what another one has counted.
    pub fn merge(&mut self, other: &Histogram) {
        if self.counts.is_empty() {
            self.counts.clone_from(&other.counts);
        } else {
            for (count, more) in self.counts.iter_mut().zip(&other.counts) {
                *count = count.saturating_add(*more);
            }
        }
        self.longest = self.longest.max(other.longest);
    }

    /// The buckets that are not empty, the shortest lengths first: what they hold, and how often it
    /// occurred. The last possible one ends at `Duration` of `u64::MAX` nanoseconds.
    pub fn buckets(&self) -> impl Iterator<Item = (RangeInclusive<Duration>, u64)> {
        let filled = self.counts.iter().enumerate().filter(|(_, count)| **count != 0);
        filled.map(|(bucket, count)| {
            let from = Duration::from_nanos(lower_end(bucket));
            (from..=Duration::from_nanos(upper_end(bucket)), *count)
        })
    }
}

/// `p50 12.3µs, p90 24.6µs, p99 40.9µs, max 51.2µs of 1234`.
impl fmt::Display for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        let [p50, p90, p99] = [0.5, 0.9, 0.99].map(|q| self.percentile(q));
        let (max, count) = (self.max(), self.count());
        write!(f, "p50 {p50:.1?}, p90 {p90:.1?}, p99 {p99:.1?}, max {max:.1?} of {count}")
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Histogram(")?;
        fmt::Display::fmt(self, f)?;
        f.write_str(")")
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

//! The lab's statistics: percentiles, and the ratio of two contenders with its interval.
//!
//! A pair is one sample of A and one of B, run next to each other; which came first is its
//! *order*. The estimate is the mean of the two orders' mean log ratios, so that whatever the
//! second place costs cancels. The interval is a percentile bootstrap which draws within each
//! order, so that the balance of the design is kept in every resample.

use std::cmp::Ordering;

#[cfg(test)]
mod tests;

/// Resamples of every interval.
pub(crate) const RESAMPLES: usize = 200_000;

/// The percentile of sorted samples: `sorted[ceil(q·n) − 1]`.
///
/// `None` without samples. A product that misses an integer only by rounding counts as it.
pub(crate) fn percentile<T: Copy>(sorted: &[T], q: f64) -> Option<T> {
    let rank = (q * sorted.len() as f64 - 1e-9).ceil() as usize;
    let index = rank.max(1) - 1;
    sorted.get(index.min(sorted.len().checked_sub(1)?)).copied()
}

/// Sorts numbers that are never NaN in practice; NaN would go last.
pub(crate) fn sort(values: &mut [f64]) {
    values.sort_unstable_by(f64::total_cmp);
}

/// The median, by the percentile rule.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sort(&mut sorted);
    percentile(&sorted, 0.5)
}

/// Which of the two ran first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum First {
    A,
    B,
}

/// One pair: the log of A by B, and who was first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) log_ratio: f64,
    pub(crate) first: First,
}

/// The ratio of A to B and its 95 % interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimate {
    pub(crate) ratio: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Estimate {
    /// Where the whole interval lies, seen from a limit; `None` while the limit is inside.
    pub(crate) fn side(&self, limit: f64) -> Option<Ordering> {
        if self.high <= limit {
            return Some(Ordering::Less);
        }
        (self.low > limit).then_some(Ordering::Greater)
    }
}

/// A small generator for resampling and for the order of blocks (SplitMix64).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`, by multiplication; its bias is n / 2^32.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (((self.next() >> 32) * n as u64) >> 32) as usize
    }
}

/// The ratio with its interval; `None` without pairs.
pub(crate) fn estimate(pairs: &[Pair], resamples: usize, seed: u64) -> Option<Estimate> {
    let strata = strata(pairs);
    let means: Vec<f64> = strata.iter().map(|stratum| mean(stratum)).collect();
    if means.is_empty() {
        return None;
    }
    let mut random = Random::new(seed);
    let mut draws: Vec<f64> = (0..resamples).map(|_| resample(&strata, &mut random)).collect();
    sort(&mut draws);
    Some(Estimate {
        ratio: mean(&means).exp(),
        low: percentile(&draws, 0.025)?.exp(),
        high: percentile(&draws, 0.975)?.exp(),
    })
}

/// The log ratios by order; an order without pairs is left out.
fn strata(pairs: &[Pair]) -> Vec<Vec<f64>> {
    let of = |first| {
        pairs.iter().filter(|pair| pair.first == first).map(|pair| pair.log_ratio).collect()
    };
    let both: [Vec<f64>; 2] = [of(First::A), of(First::B)];
    both.into_iter().filter(|stratum| !stratum.is_empty()).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// One resample: as many draws from each order as it has pairs.
fn resample(strata: &[Vec<f64>], random: &mut Random) -> f64 {
    let mut sum = 0.0;
    for stratum in strata {
        let n = stratum.len();
        let total: f64 = (0..n).map(|_| stratum[random.below(n)]).sum();
        sum += total / n as f64;
    }
    sum / strata.len() as f64
}

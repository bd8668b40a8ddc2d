//! The only source of randomness in the workspace: a small seeded generator, and seeds.
//!
//! Not for secrets. The generator is SplitMix64 (Steele, Lea, Flood: "Fast splittable
//! pseudorandom number generators", 2014): one addition and two multiplications a number, every
//! seed is good, and a run can be repeated from its seed.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

use crate::shim::time;

/// A small, fast, seeded generator. Equal seeds give equal sequences.
#[derive(Debug, Clone)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// A generator whose sequence is a function of `seed`.
    #[inline]
    pub const fn new(seed: u64) -> Self {
        Rng { state: seed }
    }

    /// A generator with a seed of its own.
    pub fn from_entropy() -> Self {
        Rng::new(seed())
    }

    /// The next 64 bits.
    #[inline]
    pub const fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// The next 32 bits.
    #[inline]
    pub const fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    /// A number below `n`, or 0 if `n` is 0.
    ///
    /// By multiplication (Lemire 2019) without the rejection step: the bias is below n / 2^32,
    /// which does not matter for choosing victims and branches.
    #[inline]
    pub const fn below(&mut self, n: u32) -> u32 {
        ((self.next_u32() as u64 * n as u64) >> 32) as u32
    }
}

/// A seed from the operating system's entropy, different for each call.
///
/// Std's `RandomState` draws its keys from `getrandom` once a thread and counts up from there.
pub fn seed() -> u64 {
    time::seed(|| RandomState::new().hash_one(0u64))
}

/// A number below `n` from this thread's own generator, or 0 if `n` is 0.
pub fn thread_below(n: u32) -> u32 {
    crate::local! {
        static RNG: Cell<Option<u64>> = const { Cell::new(None) };
    }
    RNG.with(|cell| {
        let mut rng = Rng::new(cell.get().unwrap_or_else(seed));
        let number = rng.below(n);
        cell.set(Some(rng.state));
        number
    })
}

#[cfg(test)]
#[path = "tests/random.rs"]
mod tests;

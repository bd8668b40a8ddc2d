//! How the maps hash keys unless told otherwise: with a seed of each map's own.

use std::hash::{BuildHasher, DefaultHasher, Hasher};

use raddle_base::random;

/// Std's hasher, begun with a seed from the system's entropy, another one for each map: whoever
/// chooses keys cannot make them meet in one place.
#[derive(Debug, Clone)]
pub struct DefaultBuildHasher {
    seed: u64,
}

impl DefaultBuildHasher {
    /// A new seed.
    pub fn new() -> Self {
        DefaultBuildHasher { seed: random::seed() }
    }
}

impl Default for DefaultBuildHasher {
    fn default() -> Self {
        Self::new()
    }
}

impl BuildHasher for DefaultBuildHasher {
    type Hasher = DefaultHasher;

    #[inline]
    fn build_hasher(&self) -> DefaultHasher {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.seed);
        hasher
    }
}

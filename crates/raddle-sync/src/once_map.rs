//! A map whose values are computed once, by the first who asks for a key.
//!
//! What several ask for at the same time is computed once and cloned for each. How keys are found
//! and joined is in `once_map/joins.rs`, on which the group of `singleflight.rs` stands as well;
//! who computes and who waits is the cell's (`once_cell.rs`).

pub(crate) mod compute;
pub(crate) mod joins;
pub(crate) mod part;
mod table;

use std::borrow::Borrow;
use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, Hash};

use joins::Joins;
use part::{Keeps, Part};

pub use crate::hasher::DefaultBuildHasher;
pub use compute::{Compute, ComputeRef, TryCompute};

/// Computes a value for each key at most once, and gives clones of it.
///
/// * *Retries.* A computation that fails, panics or is dropped passes to exactly one of those who
///   wait for it, who makes its own attempt. If nobody does, the key is vacant again.
/// * *Removal.* Removing a key while its value is computed detaches the computation: those who have
///   joined it still get the value, and a later caller begins anew.
/// * *Order.* When the value is there, all who wait are woken in one round, the first one first.
/// * *Locking.* Keys lie in 16 shards, each with a short lock of its own; a key is compared and
///   hashed by its own code, compared under that lock. Values and keys are cloned and dropped under
///   no lock.
/// * *Cost.* A key that is there costs one lock. A new one allocates once; now and then its shard
///   grows, or shrinks. Waiting does not allocate.
///
/// ```
/// use raddle_sync::{OnceMap, block_on};
///
/// let map = OnceMap::new();
/// assert_eq!(block_on(map.compute("six", || async { 6 })), 6);
/// assert_eq!(block_on(map.compute("six", || async { unreachable!() })), 6);
/// assert_eq!(map.get("six"), Some(6));
/// ```
pub struct OnceMap<K, V, S = DefaultBuildHasher> {
    joins: Joins<K, V, S>,
}

impl<K, V> OnceMap<K, V> {
    /// An empty map.
    pub fn new() -> Self {
        Self::with_hasher(DefaultBuildHasher::new())
    }
}

impl<K, V, S> OnceMap<K, V, S> {
    /// An empty map that hashes keys in this way.
    pub fn with_hasher(hasher: S) -> Self {
        OnceMap { joins: Joins::new(hasher) }
    }

    /// How many keys have a value or one that is being computed.
    pub fn len(&self) -> usize {
        self.joins.len()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all keys, as [`discard`](Self::discard) does, shard by shard.
    pub fn clear(&self) {
        self.joins.clear();
    }

    /// Clones of all keys and values that are there, in no order, shard by shard: not a picture of
    /// one moment if others change the map meanwhile. Allocates.
    pub fn snapshot(&self) -> Vec<(K, V)>
    where
        K: Clone,
        V: Clone,
    {
        let pair =
            |entry: &joins::Entry<K, V>| Some((entry.key.clone(), entry.cell.get()?.clone()));
        self.joins.entries().iter().filter_map(|entry| pair(entry)).collect()
    }
}

impl<K: Hash + Eq, V, S: BuildHasher> OnceMap<K, V, S> {
    /// A clone of the value of `key`; computed by the future that `f` makes, if nobody has computed
    /// it or is at it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the computation if it is this caller's, and passes it to the next
    /// one in line.
    #[track_caller]
    pub fn compute<F, A>(&self, key: K, f: F) -> Compute<'_, K, V, S, F, A>
    where
        V: Clone,
        F: FnOnce() -> A,
        A: Future<Output = V>,
    {
        Compute::new(Part::new(&self.joins, Keeps::Value, key, f))
    }

    /// As [`compute`](Self::compute), with a computation that may fail.
    ///
    /// # Errors
    ///
    /// Those of this caller's own computation; then the next one in line makes its own, and if
    /// there is none the key is vacant.
    #[track_caller]
    pub fn try_compute<E, F, A>(&self, key: K, f: F) -> TryCompute<'_, K, V, S, F, A>
    where
        V: Clone,
        F: FnOnce() -> A,
        A: Future<Output = Result<V, E>>,
    {
        TryCompute::new(Part::new(&self.joins, Keeps::Value, key, f))
    }

    /// As [`compute`](Self::compute), for a borrowed key, which becomes an owned one only if it is
    /// not there.
    #[track_caller]
    pub fn compute_ref<'a, Q, F, A>(&'a self, key: &'a Q, f: F) -> ComputeRef<'a, Q, K, V, S, F, A>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
        V: Clone,
        F: FnOnce() -> A,
        A: Future<Output = V>,
    {
        ComputeRef::new(&self.joins, key, f)
    }

    /// A clone of the value of `key`, if it is there.
    pub fn get<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
        V: Clone,
    {
        self.joins.find(key)?.cell.get().cloned()
    }

    /// Whether `key` has a value.
    pub fn contains_key<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.joins.find(key).is_some_and(|entry| entry.cell.is_initialized())
    }

    /// Removes `key`, and gives a clone of its value, if it had one.
    pub fn remove<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
        V: Clone,
    {
        self.joins.remove(key)?.cell.get().cloned()
    }

    /// Removes `key`; true if it was there, with a value or one that is being computed.
    pub fn discard<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.joins.remove(key).is_some()
    }
}

impl<K, V> Default for OnceMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Hash + Eq, V> FromIterator<(K, V)> for OnceMap<K, V> {
    /// Of several values for a key the last one stays.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let map = OnceMap::new();
        pairs.into_iter().for_each(|(key, value)| map.joins.replace(key, value));
        map
    }
}

impl<K, V, S> fmt::Debug for OnceMap<K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceMap").field("len", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
#[path = "tests/once_map.rs"]
mod tests;

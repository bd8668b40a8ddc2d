//! Singleflight: overlapping calls for one key do the work once.
//!
//! Nothing is kept: the entry of a key leaves before its value is published, so a later caller
//! starts anew. Keys are found and joined as in a once-map (`once_map/joins.rs`).

use std::borrow::Borrow;
use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, Hash};

use crate::hasher::DefaultBuildHasher;
use crate::once_map::compute::{part_future, sure, unfailing};
use crate::once_map::joins::Joins;
use crate::once_map::part::{Keeps, Part};

/// Does the same work once for all who ask for it at the same time.
///
/// * *Sharing.* Callers that overlap get clones of one value; [`work_shared`](Self::work_shared)
///   tells whether that was so. Who calls after the value was there starts anew.
/// * *Retries.* Work that fails, panics or is dropped passes to exactly one of those who wait for
///   it, who does its own. An error is for the one whose work failed only.
/// * *Order.* When the value is there, all who wait are woken in one round, the first one first.
/// * *Cost.* One allocation and two short locks of the key's shard for the one who works, one lock
///   for the others. Waiting does not allocate.
///
/// ```
/// use raddle_sync::{block_on, singleflight::Group};
///
/// let group = Group::new();
/// let (value, shared) = block_on(group.work_shared("key", || async { 42 }));
/// assert_eq!((value, shared), (42, false));
/// assert!(group.is_empty());
/// ```
pub struct Group<K, V, S = DefaultBuildHasher> {
    joins: Joins<K, V, S>,
}

impl<K, V> Group<K, V> {
    /// A group in which nobody works.
    pub fn new() -> Self {
        Self::with_hasher(DefaultBuildHasher::new())
    }
}

impl<K, V, S> Group<K, V, S> {
    /// A group that hashes keys in this way.
    pub fn with_hasher(hasher: S) -> Self {
        Group { joins: Joins::new(hasher) }
    }

    /// How many keys are worked on.
    pub fn len(&self) -> usize {
        self.joins.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<K: Hash + Eq, V: Clone, S: BuildHasher> Group<K, V, S> {
    /// The value of the future that `f` makes, or of somebody else's who works on the key.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the work if it is this caller's, and passes it to the next one in
    /// line.
    #[track_caller]
    pub fn work<F, A>(&self, key: K, f: F) -> Work<'_, K, V, S, F, A>
    where
        F: FnOnce() -> A,
        A: Future<Output = V>,
    {
        Work::new(Part::new(&self.joins, Keeps::Nothing, key, f))
    }

    /// As [`work`](Self::work), and whether others got the same value.
    #[track_caller]
    pub fn work_shared<F, A>(&self, key: K, f: F) -> WorkShared<'_, K, V, S, F, A>
    where
        F: FnOnce() -> A,
        A: Future<Output = V>,
    {
        WorkShared::new(Part::new(&self.joins, Keeps::Nothing, key, f))
    }

    /// As [`work`](Self::work), for work that may fail.
    ///
    /// # Errors
    ///
    /// Those of this caller's own work; then the next one in line does its own.
    #[track_caller]
    pub fn try_work<E, F, A>(&self, key: K, f: F) -> TryWork<'_, K, V, S, F, A>
    where
        F: FnOnce() -> A,
        A: Future<Output = Result<V, E>>,
    {
        TryWork::new(Part::new(&self.joins, Keeps::Nothing, key, f))
    }

    /// As [`try_work`](Self::try_work), and whether others got the same value.
    ///
    /// # Errors
    ///
    /// As [`try_work`](Self::try_work).
    #[track_caller]
    pub fn try_work_shared<E, F, A>(&self, key: K, f: F) -> TryWorkShared<'_, K, V, S, F, A>
    where
        F: FnOnce() -> A,
        A: Future<Output = Result<V, E>>,
    {
        TryWorkShared::new(Part::new(&self.joins, Keeps::Nothing, key, f))
    }

    /// Lets later callers for `key` start anew, though somebody works on it; true if somebody did.
    /// Those who have joined still share that value.
    pub fn forget<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.joins.remove(key).is_some()
    }
}

impl<K, V> Default for Group<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V, S> fmt::Debug for Group<K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("len", &self.len()).finish_non_exhaustive()
    }
}

part_future! {
    /// The future of [`Group::work`].
    Work, V, V;
    unfailing, |result| sure(result).0
}

part_future! {
    /// The future of [`Group::work_shared`].
    WorkShared, (V, bool), V;
    unfailing, |result| sure(result)
}

part_future! {
    /// The future of [`Group::try_work`].
    TryWork, Result<V, E>, Result<V, E>, E;
    |made| made, |result| result.map(|(value, _)| value)
}

part_future! {
    /// The future of [`Group::try_work_shared`].
    TryWorkShared, Result<(V, bool), E>, Result<V, E>, E;
    |made| made, |result| result
}

#[cfg(all(test, not(loom)))]
#[path = "tests/singleflight.rs"]
mod tests;

//! Singleflight: overlapping calls for one key do the work once.
//!
//! Nothing is kept: the entry of a key leaves before its value is published, so a later caller
//! starts anew. Keys are found and joined as in a once-map (`once_map/joins.rs`).

use std::borrow::Borrow;
use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, Hash};

use crate::once_map::DefaultBuildHasher;
use crate::once_map::joins::Joins;

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
        Self::with_hasher(DefaultBuildHasher::default())
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
    pub async fn work<F, A>(&self, key: K, f: F) -> V
    where
        F: FnOnce() -> A,
        A: Future<Output = V>,
    {
        self.work_shared(key, f).await.0
    }

    /// As [`work`](Self::work), and whether others got the same value.
    pub async fn work_shared<F, A>(&self, key: K, f: F) -> (V, bool)
    where
        F: FnOnce() -> A,
        A: Future<Output = V>,
    {
        let joined = self.joins.join(key);
        // Somebody else's value, unless this caller's work says otherwise.
        let mut shared = true;
        let (leave, was_shared) = (&joined, &mut shared);
        let work = move || async move {
            let value = f().await;
            *was_shared = leave.detach();
            value
        };
        let value = joined.cell().get_or_init(work).await.clone();
        (value, shared)
    }

    /// As [`work`](Self::work), for work that may fail.
    ///
    /// # Errors
    ///
    /// Those of this caller's own work; then the next one in line does its own.
    pub async fn try_work<E, F, A>(&self, key: K, f: F) -> Result<V, E>
    where
        F: FnOnce() -> A,
        A: Future<Output = Result<V, E>>,
    {
        self.try_work_shared(key, f).await.map(|(value, _)| value)
    }

    /// As [`try_work`](Self::try_work), and whether others got the same value.
    ///
    /// # Errors
    ///
    /// As [`try_work`](Self::try_work).
    pub async fn try_work_shared<E, F, A>(&self, key: K, f: F) -> Result<(V, bool), E>
    where
        F: FnOnce() -> A,
        A: Future<Output = Result<V, E>>,
    {
        let joined = self.joins.join(key);
        let mut shared = true;
        let (leave, was_shared) = (&joined, &mut shared);
        let work = move || async move {
            let value = f().await?;
            *was_shared = leave.detach();
            Ok(value)
        };
        let value = joined.cell().get_or_try_init(work).await?.clone();
        Ok((value, shared))
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

#[cfg(all(test, not(loom)))]
#[path = "tests/singleflight.rs"]
mod tests;

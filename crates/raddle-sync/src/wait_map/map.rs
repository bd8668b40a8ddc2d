//! The map itself: its queues, waking and closing.

use std::fmt;
use std::hash::{BuildHasher, Hash};

use raddle_base::wait::WaitQueue;

use crate::hasher::DefaultBuildHasher;

const QUEUES: usize = 16;

/// Outcomes of a wait.
pub(super) const WOKEN: u8 = 1;
pub(super) const CLOSED: u8 = 2;

/// What a waiter shares with who wakes it.
pub(super) struct Slot<K, V> {
    pub(super) key: K,
    pub(super) value: Option<V>,
}

impl<K: Eq, V> Slot<K, V> {
    /// Takes the value if it is for this key; tells whether it is.
    pub(super) fn take_if(&mut self, key: &K, value: &mut Option<V>) -> bool {
        let is_it = self.key == *key;
        if is_it {
            self.value = value.take();
        }
        is_it
    }
}

/// Whether the map is closed lies under the lock of each queue.
pub(super) type Queue<K, V> = WaitQueue<Slot<K, V>, bool>;

/// Lets tasks wait for a key, and wakes one of them with a value.
///
/// * *Order.* Of those who wait for the same key the one goes first that joined first.
/// * *Ordering.* What happened before a wake is visible after the wait it ended.
/// * *Locking.* Keys are spread over 16 queues by their hash, each with a short lock, under which
///   keys are compared: by their own code, which must not use the map. A wake looks through those
///   who wait in the key's queue. Values are dropped under no lock.
/// * *Cost.* Nothing allocates, neither waiting nor waking.
///
/// ```
/// use std::pin::pin;
/// use raddle_sync::{WaitMap, block_on};
///
/// let answers = WaitMap::new();
/// let mut answer = pin!(answers.wait(7));
/// answer.as_mut().enable();
/// assert_eq!(answers.wake(&7, "seven"), Ok(()));
/// assert_eq!(answers.wake(&8, "eight"), Err("eight"));
/// assert_eq!(block_on(answer), Ok("seven"));
/// ```
pub struct WaitMap<K, V, S = DefaultBuildHasher> {
    pub(super) queues: [Queue<K, V>; QUEUES],
    hasher: S,
}

impl<K, V> WaitMap<K, V> {
    /// An open map in which nobody waits.
    pub fn new() -> Self {
        Self::with_hasher(DefaultBuildHasher::new())
    }
}

impl<K, V, S> WaitMap<K, V, S> {
    /// An open map that hashes keys in this way.
    pub fn with_hasher(hasher: S) -> Self {
        WaitMap { queues: std::array::from_fn(|_| WaitQueue::new(false)), hasher }
    }

    /// Ends all waits with an error, those that begin later too.
    pub fn close(&self) {
        self.close_from(0);
    }

    fn close_from(&self, first: usize) {
        for (at, queue) in self.queues.iter().enumerate().skip(first) {
            // Goes on with the others if a waker panics.
            let rest = CloseRest { map: self, next: at + 1 };
            let mut locked = queue.lock();
            *locked.shared() = true;
            locked.release_all(CLOSED);
            std::mem::forget(rest);
        }
    }

    /// Whether the map is closed.
    pub fn is_closed(&self) -> bool {
        *self.queues[QUEUES - 1].lock().shared()
    }
}

/// Closes the queues that a waker's panic kept from being closed.
struct CloseRest<'a, K, V, S> {
    map: &'a WaitMap<K, V, S>,
    next: usize,
}

impl<K, V, S> Drop for CloseRest<'_, K, V, S> {
    fn drop(&mut self) {
        self.map.close_from(self.next);
    }
}

impl<K: Hash + Eq, V, S: BuildHasher> WaitMap<K, V, S> {
    /// Gives `value` to the one who has waited longest for `key`.
    ///
    /// # Errors
    ///
    /// If nobody waits for it; the value comes back.
    pub fn wake(&self, key: &K, value: V) -> Result<(), V> {
        let mut value = Some(value);
        let mut queue = self.queues[self.place(key)].lock();
        let wake = queue.grant_where(|slot| slot.take_if(key, &mut value), WOKEN);
        drop(queue);
        match (wake, value) {
            (Some(waker), _) => {
                waker.wake();
                Ok(())
            }
            (None, Some(value)) => Err(value),
            (None, None) => Ok(()),
        }
    }

    /// The place of the queue in which waits for `key` stand.
    pub(super) fn place(&self, key: &K) -> usize {
        (self.hasher.hash_one(key) >> 32) as usize % QUEUES
    }
}

impl<K, V> Default for WaitMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V, S> fmt::Debug for WaitMap<K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitMap").field("is_closed", &self.is_closed()).finish_non_exhaustive()
    }
}

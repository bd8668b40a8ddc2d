//! The queue for what no worker owns yet: a lock, a list and a length that is read without it.
//!
//! Tasks spawned from threads outside the runtime come here; every worker looks before each
//! dispatch. The look must cost one load, so the length is kept beside the lock and stored while
//! it is held. A push or a batch takes the lock for a few instructions; nothing foreign runs under
//! it, in particular no destructor, and nothing allocates.
//!
//! The length may be stale for a reader without the lock. Stale "empty" is harmless for a worker
//! that looks again before it blocks, in the order its sleep protocol prescribes (push, fence,
//! then look for sleepers; announce sleep, fence, then read the length).

#[cfg(test)]
mod tests;

use core::fmt;

use crate::const_unless_loom;
use crate::fifo::Fifo;
use crate::pointer::QueueLink;
use crate::shim::atomic::{AtomicUsize, Ordering};
use crate::shim::mutex::Mutex;

/// A queue that any thread may push to and pop from. See the [module](self).
pub struct Injector<T: QueueLink> {
    /// Length of `queue`, stored only while the lock is held.
    len: AtomicUsize,
    queue: Mutex<Fifo<T>>,
}

impl<T: QueueLink> Injector<T> {
    const_unless_loom! {
        /// An empty queue.
        #[must_use]
        pub const fn new() -> Self {
            Self { len: AtomicUsize::new(0), queue: Mutex::new(Fifo::new()) }
        }
    }

    /// How many things stood in the queue a moment ago: one load.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        // Relaxed: a hint; the things themselves are reached through the lock only.
        self.len.load(Ordering::Relaxed)
    }

    /// True when nothing stood in the queue a moment ago: one load.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts `item` behind all others.
    pub fn push(&self, item: T) {
        self.locked(|queue| queue.push_back(item));
    }

    /// Puts all of `items` behind all others, in their order and with nothing in between.
    pub fn push_batch(&self, mut items: Fifo<T>) {
        if !items.is_empty() {
            self.locked(|queue| queue.append(&mut items));
        }
    }

    /// Puts all of `items` before all others, in their order: what was taken and not used.
    pub fn push_front_batch(&self, mut items: Fifo<T>) {
        if !items.is_empty() {
            self.locked(|queue| {
                items.append(queue);
                core::mem::swap(queue, &mut items);
            });
        }
    }

    /// Takes the thing at the front. Finding nothing is one load, without the lock.
    pub fn pop(&self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        self.locked(Fifo::pop_front)
    }

    /// Takes at most `count` things from the front. The lock is held for O(`count`).
    #[must_use]
    pub fn pop_batch(&self, count: usize) -> Fifo<T> {
        if self.is_empty() {
            return Fifo::new();
        }
        self.locked(|queue| queue.split_front(count))
    }

    /// Runs `change` under the lock and stores the length it leaves.
    fn locked<R>(&self, change: impl FnOnce(&mut Fifo<T>) -> R) -> R {
        let mut queue = self.queue.lock();
        let result = change(&mut queue);
        // Relaxed: see `len`; stores are ordered among each other by the lock.
        self.len.store(queue.len(), Ordering::Relaxed);
        result
    }
}

impl<T: QueueLink> Default for Injector<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: QueueLink> fmt::Debug for Injector<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Injector").field("len", &self.len()).finish()
    }
}

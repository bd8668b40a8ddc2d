//! Cells by key, and those who have joined one.
//!
//! # Question
//!
//! Several ask for the same key at once and must meet at one cell. When does an entry whose value
//! was never computed go away, if those who tried give up at any await, one by one?
//!
//! # Protocol
//!
//! An entry counts those who have joined it, under the lock of its shard. Who leaves takes itself
//! off; the last one to leave an entry without a value removes it, in the same critical section, so
//! nobody can join in between. Once the value is there the count no longer matters and leaving
//! takes no lock. An entry that was removed (detached) is found by nobody, and its joiners go on
//! with the cell they hold.
//!
//! Entries are allocated before the lock is taken and dropped after it is released, since keys and
//! values are foreign code.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use raddle_base::shim::atomic::AtomicUsize;
use raddle_base::shim::atomic::Ordering::Relaxed;
use raddle_base::shim::mutex::{Mutex, MutexGuard};

use super::table::{Hashed, Table};
use crate::once_cell::OnceCell;

const SHARDS: usize = 16;

pub(crate) struct Entry<K, V> {
    hash: u64,
    pub(crate) key: K,
    pub(crate) cell: OnceCell<V>,
    /// How many have joined; changed and read under the shard's lock only.
    joined: AtomicUsize,
}

impl<K, V> Hashed for Entry<K, V> {
    fn hash(&self) -> u64 {
        self.hash
    }
}

type Shard<K, V> = Mutex<Table<Entry<K, V>>>;

pub(crate) struct Joins<K, V, S> {
    shards: [Shard<K, V>; SHARDS],
    hasher: S,
}

impl<K, V, S> Joins<K, V, S> {
    pub(crate) fn new(hasher: S) -> Self {
        Joins { shards: std::array::from_fn(|_| Mutex::new(Table::new())), hasher }
    }

    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().len()).sum()
    }

    pub(crate) fn clear(&self) {
        for shard in &self.shards {
            // Bound first, so that it is dropped after the lock was released.
            let removed = shard.lock().take();
            drop(removed);
        }
    }

    pub(crate) fn entries(&self) -> Vec<Arc<Entry<K, V>>> {
        let mut all = Vec::new();
        for shard in &self.shards {
            all.extend(shard.lock().iter().cloned());
        }
        all
    }

    fn shard(&self, hash: u64) -> MutexGuard<'_, Table<Entry<K, V>>> {
        // The upper bits; the table uses the lower ones.
        self.shards[(hash >> 32) as usize % SHARDS].lock()
    }

    /// Takes the entry out, if it is in, and tells how many have joined it.
    fn detach(&self, entry: &Arc<Entry<K, V>>) -> usize {
        let mut shard = self.shard(entry.hash);
        let removed = shard.remove(entry.hash, |other| Arc::ptr_eq(other, entry));
        // Relaxed: under the lock.
        let joined = entry.joined.load(Relaxed);
        drop(shard);
        // Not the last reference: the caller has one.
        drop(removed);
        joined
    }

    /// Takes one off who had joined, and the entry out if that was the last one.
    fn leave(&self, entry: &Arc<Entry<K, V>>) {
        let mut shard = self.shard(entry.hash);
        // Relaxed: under the lock.
        let last = entry.joined.fetch_sub(1, Relaxed) == 1;
        let removed = if last && !entry.cell.is_initialized() {
            shard.remove(entry.hash, |other| Arc::ptr_eq(other, entry))
        } else {
            None
        };
        drop(shard);
        drop(removed);
    }
}

impl<K: Hash + Eq, V, S: BuildHasher> Joins<K, V, S> {
    pub(crate) fn find<Q>(&self, key: &Q) -> Option<Arc<Entry<K, V>>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.hasher.hash_one(key);
        self.shard(hash).find(hash, |entry| entry.key.borrow() == key).cloned()
    }

    pub(crate) fn remove<Q>(&self, key: &Q) -> Option<Arc<Entry<K, V>>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.hasher.hash_one(key);
        self.shard(hash).remove(hash, |entry| entry.key.borrow() == key)
    }

    /// Joins the entry of `key`, which is made if there is none.
    pub(crate) fn join(&self, key: K) -> Joined<'_, K, V, S> {
        let hash = self.hasher.hash_one(&key);
        let found = join_in(&self.shard(hash), hash, &key);
        if let Some(entry) = found {
            return Joined { joins: self, entry };
        }
        let new = Arc::new(Entry { hash, key, cell: OnceCell::new(), joined: AtomicUsize::new(1) });
        let mut shard = self.shard(hash);
        // Somebody may have been faster while the entry was made.
        let entry = join_in(&shard, hash, &new.key).unwrap_or_else(|| {
            shard.insert(new.clone());
            new.clone()
        });
        drop(shard);
        Joined { joins: self, entry }
    }

    /// Sets the value of `key`, in place of an earlier one.
    pub(crate) fn replace(&self, key: K, value: V) {
        let hash = self.hasher.hash_one(&key);
        let cell = OnceCell::from_value(value);
        let new = Arc::new(Entry { hash, key, cell, joined: AtomicUsize::new(0) });
        let mut shard = self.shard(hash);
        let removed = shard.remove(hash, |entry| entry.key == new.key);
        shard.insert(new);
        drop(shard);
        drop(removed);
    }
}

/// Joins the entry of `key`, if there is one.
fn join_in<K: Eq, V>(shard: &Table<Entry<K, V>>, hash: u64, key: &K) -> Option<Arc<Entry<K, V>>> {
    let entry = shard.find(hash, |entry| entry.key == *key)?;
    // Relaxed: under the lock, which the caller holds.
    entry.joined.fetch_add(1, Relaxed);
    Some(entry.clone())
}

/// One who has joined an entry.
pub(crate) struct Joined<'a, K, V, S> {
    joins: &'a Joins<K, V, S>,
    entry: Arc<Entry<K, V>>,
}

impl<K, V, S> Joined<'_, K, V, S> {
    pub(crate) fn cell(&self) -> &OnceCell<V> {
        &self.entry.cell
    }

    /// A clone of the value, which is there.
    pub(crate) fn value(&self) -> V
    where
        V: Clone,
    {
        self.cell().get().expect("the once is done").clone()
    }

    /// Lets later callers begin anew; tells whether others have joined by now.
    pub(crate) fn detach(&self) -> bool {
        self.joins.detach(&self.entry) > 1
    }
}

impl<K, V, S> Drop for Joined<'_, K, V, S> {
    fn drop(&mut self) {
        if !self.entry.cell.is_initialized() {
            self.joins.leave(&self.entry);
        }
    }
}

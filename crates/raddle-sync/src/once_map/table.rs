//! A hash table of shared entries that know their hash: what a shard keeps under its lock.
//!
//! Linear probing, and removal that moves later ones back, so that there are no tombstones. Why not
//! the one of std? An entry must be removed by its address, without its key at hand and without
//! running the key's code. Capacity follows the number of entries up and down.

use std::sync::Arc;

/// Something that knows its hash.
pub(crate) trait Hashed {
    fn hash(&self) -> u64;
}

/// Room for so many slots at least; a power of two.
const SMALLEST: usize = 8;

#[derive(Debug)]
pub(crate) struct Table<T> {
    /// None, or a power of two, never full.
    slots: Vec<Option<Arc<T>>>,
    len: usize,
}

impl<T: Hashed> Table<T> {
    pub(crate) const fn new() -> Self {
        Table { slots: Vec::new(), len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<T>> {
        self.slots.iter().flatten()
    }

    /// The entry with this hash for which `is_it` holds.
    pub(crate) fn find(&self, hash: u64, is_it: impl Fn(&Arc<T>) -> bool) -> Option<&Arc<T>> {
        self.slots[self.place(hash, is_it)?].as_ref()
    }

    /// Removes the entry with this hash for which `is_it` holds. To be dropped outside the lock.
    pub(crate) fn remove(&mut self, hash: u64, is_it: impl Fn(&Arc<T>) -> bool) -> Option<Arc<T>> {
        let place = self.place(hash, is_it)?;
        let removed = self.slots[place].take();
        self.len -= 1;
        self.close_gap(place);
        if self.slots.len() > SMALLEST && self.len * 8 < self.slots.len() {
            self.resize(self.slots.len() / 2);
        }
        removed
    }

    /// Adds an entry that is not there.
    pub(crate) fn insert(&mut self, entry: Arc<T>) {
        if self.slots.len() * 3 <= self.len * 4 + 4 {
            self.resize((self.slots.len() * 2).max(SMALLEST));
        }
        self.len += 1;
        self.put(entry);
    }

    /// All entries, which leaves the table empty. To be dropped outside the lock.
    pub(crate) fn take(&mut self) -> Self {
        std::mem::replace(self, Table::new())
    }

    fn place(&self, hash: u64, is_it: impl Fn(&Arc<T>) -> bool) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let mut place = self.home(hash);
        while let Some(entry) = &self.slots[place] {
            if entry.hash() == hash && is_it(entry) {
                return Some(place);
            }
            place = self.after(place);
        }
        None
    }

    fn put(&mut self, entry: Arc<T>) {
        let mut place = self.home(entry.hash());
        while self.slots[place].is_some() {
            place = self.after(place);
        }
        self.slots[place] = Some(entry);
    }

    /// Moves back whoever was pushed behind this place, which is empty now, by what stood there.
    fn close_gap(&mut self, mut gap: usize) {
        let mask = self.slots.len() - 1;
        let mut place = self.after(gap);
        while let Some(entry) = &self.slots[place] {
            let from_home = place.wrapping_sub(self.home(entry.hash())) & mask;
            if from_home >= place.wrapping_sub(gap) & mask {
                self.slots.swap(gap, place);
                gap = place;
            }
            place = self.after(place);
        }
    }

    fn resize(&mut self, capacity: usize) {
        let mut slots = Vec::new();
        slots.resize_with(capacity, || None);
        let old = std::mem::replace(&mut self.slots, slots);
        old.into_iter().flatten().for_each(|entry| self.put(entry));
    }

    fn home(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    fn after(&self, place: usize) -> usize {
        (place + 1) & (self.slots.len() - 1)
    }
}

#[cfg(all(test, not(loom)))]
#[path = "../tests/once_map_table.rs"]
mod tests;

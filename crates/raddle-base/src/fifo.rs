//! A queue of owned things, chained through a link inside each: first in, first out.
//!
//! It answers: how does one thread hold any number of tasks in order without an allocation? The
//! scheduler's overflow and pinned queues are such queues, [`Inbox`](crate::inbox::Inbox) hands its
//! content over as one, [`Injector`](crate::injector::Injector) keeps one under its lock. All
//! operations are O(1) but [`split_front`](Fifo::split_front), and none allocates.
//!
//! A queue owns what stands in it: dropping the queue drops the rest, front to back. It has no
//! synchronisation of its own.

#[cfg(test)]
mod tests;

use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;

use crate::pointer::{Link, QueueLink};

/// A singly linked queue of owned pointers. See the [module](self).
pub struct Fifo<T: QueueLink> {
    /// First and last; `None` when empty. Each is owned by the queue and came from `T::into_raw`;
    /// following `next` from the first leads to the last, whose `next` is `None`.
    ends: Option<Ends>,
    len: usize,
    owns: PhantomData<T>,
}

#[derive(Clone, Copy)]
struct Ends {
    first: NonNull<()>,
    last: NonNull<()>,
}

// SAFETY: the queue owns its things and shares them with nobody, so it may go where they may go.
unsafe impl<T: QueueLink + Send> Send for Fifo<T> {}
// SAFETY: through a shared queue only its length can be read.
unsafe impl<T: QueueLink> Sync for Fifo<T> {}

impl<T: QueueLink> Fifo<T> {
    /// An empty queue.
    #[must_use]
    pub const fn new() -> Self {
        Self { ends: None, len: 0, owns: PhantomData }
    }

    /// How many things stand in the queue.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// True when nothing stands in the queue.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ends.is_none()
    }

    /// Puts `item` behind all others.
    #[inline]
    pub fn push_back(&mut self, item: T) {
        let raw = item.into_raw();
        // SAFETY: `raw` was just made of an owned item.
        let link = unsafe { link_of::<T>(&raw) };
        // SAFETY: the item is ours, so is its link.
        unsafe { link.set_next(None) };
        match &mut self.ends {
            None => self.ends = Some(Ends { first: raw, last: raw }),
            Some(ends) => {
                // SAFETY: the queue owns its last thing and with it the link.
                unsafe { link_of::<T>(&ends.last).set_next(Some(raw)) };
                ends.last = raw;
            }
        }
        self.len += 1;
    }

    /// Puts `item` before all others.
    #[inline]
    pub fn push_front(&mut self, item: T) {
        let raw = item.into_raw();
        // SAFETY: `raw` was just made of an owned item, and its link is ours.
        unsafe { link_of::<T>(&raw).set_next(self.ends.map(|ends| ends.first)) };
        let last = self.ends.map_or(raw, |ends| ends.last);
        self.ends = Some(Ends { first: raw, last });
        self.len += 1;
    }

    /// Takes the thing at the front.
    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let Ends { first, last } = self.ends?;
        // SAFETY: the queue owns its first thing and with it the link.
        let next = unsafe { link_of::<T>(&first).next() };
        self.ends = next.map(|first| Ends { first, last });
        self.len -= 1;
        // SAFETY: it came from `into_raw` when it was pushed and has just left the queue.
        Some(unsafe { T::from_raw(first) })
    }

    /// Moves everything from `other` behind what stands here. O(1).
    pub fn append(&mut self, other: &mut Self) {
        let Some(theirs) = other.ends.take() else { return };
        self.len += core::mem::take(&mut other.len);
        match &mut self.ends {
            None => self.ends = Some(theirs),
            Some(ends) => {
                // SAFETY: the queue owns its last thing and with it the link.
                unsafe { link_of::<T>(&ends.last).set_next(Some(theirs.first)) };
                ends.last = theirs.last;
            }
        }
    }

    /// Takes the first `count` things (or all there are) as a queue of their own. O(`count`).
    #[must_use]
    pub fn split_front(&mut self, count: usize) -> Self {
        if count >= self.len {
            return core::mem::take(self);
        }
        let mut front = Self::new();
        for _ in 0..count {
            let Some(item) = self.pop_front() else { break };
            front.push_back(item);
        }
        front
    }

    /// Takes over a chain of raw things, newest first, and turns it into arrival order.
    ///
    /// # Safety
    ///
    /// `newest` heads a chain that ends with `None`; each thing in it came from `T::into_raw` and
    /// is given to the queue by this call.
    pub(crate) unsafe fn from_newest(newest: NonNull<()>) -> Self {
        let mut queue = Self { ends: None, len: 0, owns: PhantomData };
        let mut at = Some(newest);
        let mut behind = None;
        while let Some(raw) = at {
            // SAFETY: the chain is ours, by this function's contract.
            let link = unsafe { link_of::<T>(&raw) };
            // SAFETY: as above; the link is read and turned round by its owner.
            at = unsafe { link.next() };
            // SAFETY: as above.
            unsafe { link.set_next(behind) };
            behind = Some(raw);
            queue.len += 1;
        }
        queue.ends = behind.map(|first| Ends { first, last: newest });
        queue
    }
}

/// The link of a raw thing, borrowed for as long as the caller's hold on `raw` is.
///
/// # Safety
///
/// `raw` came from `T::into_raw` and is not turned back while the result is in use.
#[inline]
unsafe fn link_of<T: QueueLink>(raw: &NonNull<()>) -> &Link {
    // SAFETY: `raw` is owned by the caller, so `T::link` may be asked and gives a live link, of
    // which only shared references are ever made.
    unsafe { T::link(*raw).as_ref() }
}

impl<T: QueueLink> Default for Fifo<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: QueueLink> Drop for Fifo<T> {
    fn drop(&mut self) {
        // A destructor that panics leaves the rest where they are: they leak.
        while let Some(item) = self.pop_front() {
            drop(item);
        }
    }
}

impl<T: QueueLink> fmt::Debug for Fifo<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fifo").field("len", &self.len).finish()
    }
}

/// Takes things from the front until none is left; what was not taken is dropped with it.
#[derive(Debug)]
pub struct IntoIter<T: QueueLink>(Fifo<T>);

impl<T: QueueLink> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.pop_front()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len(), Some(self.0.len()))
    }
}

impl<T: QueueLink> IntoIterator for Fifo<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}

impl<T: QueueLink> Extend<T> for Fifo<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        for item in items {
            self.push_back(item);
        }
    }
}

impl<T: QueueLink> FromIterator<T> for Fifo<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut queue = Self::new();
        queue.extend(items);
        queue
    }
}

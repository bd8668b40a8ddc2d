//! The links of waiters: rings that a queue points to, and one around a sentinel to take them away.
//!
//! Why not a list with a sentinel throughout? A primitive is made by a `const fn` and moved to its
//! place, so the queue cannot contain something that points to itself. So a queue's list is a ring
//! of its nodes alone, found by one pointer to the first. A wake-all takes the whole ring away in
//! one step, by linking a sentinel into it; and a node that leaves later need not know which ring
//! it is in: its neighbours are never null, and a queue that points to it is told by comparing.
//!
//! ```text
//!  queue:  head ─▶ a ⇄ b ⇄ c ⇄ (a)          ring:  sentinel ⇄ a ⇄ b ⇄ c ⇄ (sentinel)
//! ```
//!
//! A queue may have several *lines* of waiters (readers, writers), one ring each, under one lock.
//!
//! All functions here are called under the lock of the queue that the nodes belong to.

use std::mem::MaybeUninit;
use std::ptr;

use crate::shim::cell::UnsafeCell;

/// The two pointers of a node or a sentinel. The first field of every node, so that a pointer to
/// the one is a pointer to the other.
#[derive(Debug)]
pub(crate) struct Links(UnsafeCell<MaybeUninit<Pair>>);

#[derive(Debug, Clone, Copy)]
struct Pair {
    prev: *const Links,
    next: *const Links,
}

impl Links {
    crate::const_unless_loom! {
        /// Links that lead nowhere yet: written when the node is linked, not before, since most
        /// nodes never are.
        #[inline]
        pub(crate) const fn new() -> Self {
            Links(UnsafeCell::new(MaybeUninit::uninit()))
        }
    }

    /// An access that does nothing, for the model checker to see.
    #[inline]
    pub(crate) fn touch(&self) {
        self.0.with_mut(drop);
    }

    /// # Safety
    ///
    /// The caller holds the lock of the queue this node or sentinel belongs to, and it is linked.
    #[inline]
    unsafe fn get(&self) -> Pair {
        // SAFETY: links are accessed under the lock only, which the caller holds; they were written
        // when this was linked.
        self.0.with(|pair| unsafe { (*pair).assume_init() })
    }

    /// # Safety
    ///
    /// As for [`get`](Self::get).
    #[inline]
    unsafe fn update(&self, change: impl FnOnce(&mut Pair)) {
        // SAFETY: as in `get`.
        self.0.with_mut(|pair| change(unsafe { (*pair).assume_init_mut() }));
    }

    /// Both links, of one that is about to be linked.
    ///
    /// # Safety
    ///
    /// The caller holds the lock of the queue.
    #[inline]
    unsafe fn set(&self, pair: Pair) {
        // SAFETY: links are accessed under the lock only, which the caller holds.
        self.0.with_mut(|slot| unsafe { (*slot).write(pair) });
    }
}

/// The lines of a queue: the first node of each ring, or null.
#[derive(Debug)]
pub(crate) struct Lines<const N: usize>([*const Links; N]);

impl<const N: usize> Lines<N> {
    pub(crate) const fn new() -> Self {
        Lines([ptr::null(); N])
    }

    /// The first node of a line; null if it is empty.
    #[inline]
    pub(crate) fn first(&self, line: usize) -> *const Links {
        self.0[line]
    }

    /// The last node of a line; null if it is empty.
    ///
    /// # Safety
    ///
    /// The caller holds the queue's lock.
    #[inline]
    pub(crate) unsafe fn last(&self, line: usize) -> *const Links {
        // SAFETY: the first node of a line is linked, so it is alive.
        unsafe { self.0[line].as_ref() }.map_or(ptr::null(), |first| unsafe { first.get() }.prev)
    }

    /// The node behind `node` in a line; null at its end.
    ///
    /// # Safety
    ///
    /// The caller holds the queue's lock, and the node is linked in this line.
    #[inline]
    pub(crate) unsafe fn after(&self, line: usize, node: *const Links) -> *const Links {
        // SAFETY: the node is linked, so it is alive.
        let next = unsafe { (*node).get() }.next;
        if ptr::eq(next, self.0[line]) { ptr::null() } else { next }
    }

    /// Adds a node at the back of a line.
    ///
    /// # Safety
    ///
    /// The caller holds the queue's lock. `node` is in no ring, and stays where it is until it
    /// was unlinked.
    #[inline]
    pub(crate) unsafe fn push_back(&mut self, line: usize, node: *const Links) {
        // SAFETY: the node is alive by contract, and so is every linked node by the same contract.
        unsafe {
            let Some(first) = self.0[line].as_ref() else {
                (*node).set(Pair { prev: node, next: node });
                self.0[line] = node;
                return;
            };
            let last = first.get().prev;
            (*node).set(Pair { prev: last, next: first });
            (*last).update(|pair| pair.next = node);
            first.update(|pair| pair.prev = node);
        }
    }

    /// Adds a node at the front of a line.
    ///
    /// # Safety
    ///
    /// As for [`push_back`](Self::push_back).
    #[inline]
    pub(crate) unsafe fn push_front(&mut self, line: usize, node: *const Links) {
        // SAFETY: passed on from the caller. In a ring the place behind the last is the one
        // before the first.
        unsafe { self.push_back(line, node) };
        self.0[line] = node;
    }

    /// Takes a node out, be it in a line or in a ring that was taken away.
    ///
    /// # Safety
    ///
    /// The caller holds the queue's lock, and the node is linked.
    #[inline]
    pub(crate) unsafe fn unlink(&mut self, node: *const Links) {
        // SAFETY: the node is linked, so it and its neighbours are alive.
        let next = unsafe {
            let Pair { prev, next } = (*node).get();
            (*prev).update(|pair| pair.next = next);
            (*next).update(|pair| pair.prev = prev);
            next
        };
        for first in &mut self.0 {
            if ptr::eq(*first, node) {
                *first = if ptr::eq(next, node) { ptr::null() } else { next };
            }
        }
    }

    /// Takes a whole line away onto a ring around `sentinel`, in constant time, and leaves the
    /// line empty.
    ///
    /// # Safety
    ///
    /// The caller holds the queue's lock. The sentinel stays where it is until the ring is empty.
    pub(crate) unsafe fn take(&mut self, line: usize, sentinel: *const Links) {
        let first = std::mem::replace(&mut self.0[line], ptr::null());
        // SAFETY: sentinel and linked nodes are alive.
        unsafe {
            let Some(first) = first.as_ref() else {
                return (*sentinel).set(Pair { prev: sentinel, next: sentinel });
            };
            let last = first.get().prev;
            (*sentinel).set(Pair { prev: last, next: first });
            first.update(|pair| pair.prev = sentinel);
            (*last).update(|pair| pair.next = sentinel);
        }
    }
}

/// The first node of the ring around `sentinel`.
///
/// # Safety
///
/// The caller holds the queue's lock, and the sentinel is that of a ring that was taken away.
pub(crate) unsafe fn first_of_ring(sentinel: *const Links) -> Option<*const Links> {
    // SAFETY: the sentinel is alive.
    let next = unsafe { (*sentinel).get() }.next;
    (!ptr::eq(next, sentinel)).then_some(next)
}

/// How many nodes the ring around `sentinel` holds, counted up to `limit`.
///
/// # Safety
///
/// As for [`first_of_ring`].
pub(crate) unsafe fn count_ring(sentinel: *const Links, limit: usize) -> usize {
    let mut count = 0;
    // SAFETY: sentinel and linked nodes are alive.
    let mut next = unsafe { (*sentinel).get() }.next;
    while count < limit && !ptr::eq(next, sentinel) {
        // SAFETY: as above.
        next = unsafe { (*next).get() }.next;
        count += 1;
    }
    count
}

//! The links of waiters: a list with two ends, and a ring around a sentinel to move it onto.
//!
//! Why not a list with a sentinel throughout? A primitive is made by a `const fn` and moved to its
//! place, so the queue cannot contain something that points to itself. Why not two ends
//! throughout? A wake-all takes the whole list away in one step, and a node that leaves later must
//! not need to know which list it is in. So a list that was taken away is closed to a ring: there
//! no link is null, and [`Ends::unlink`] never touches the ends of the wrong list.
//!
//! ```text
//!  queue:  head ─▶ a ⇄ b ⇄ c ◀─ tail        ring:  sentinel ⇄ a ⇄ b ⇄ c ⇄ (sentinel)
//! ```
//!
//! All functions here are called under the lock of the queue that the nodes belong to.

use std::ptr;

use crate::shim::cell::UnsafeCell;

/// The two pointers of a node or a sentinel. The first field of every node, so that a pointer to
/// the one is a pointer to the other.
#[derive(Debug)]
pub(crate) struct Links(UnsafeCell<Pair>);

#[derive(Debug, Clone, Copy)]
struct Pair {
    prev: *const Links,
    next: *const Links,
}

impl Links {
    crate::const_unless_loom! {
        /// Links that lead nowhere.
        pub(crate) const fn new() -> Self {
            Links(UnsafeCell::new(Pair { prev: ptr::null(), next: ptr::null() }))
        }
    }

    /// An access that does nothing, for the model checker to see.
    #[inline]
    pub(crate) fn touch(&self) {
        self.0.with_mut(drop);
    }

    /// # Safety
    ///
    /// The caller holds the lock of the queue this node or sentinel belongs to.
    #[inline]
    unsafe fn get(&self) -> Pair {
        // SAFETY: links are accessed under the lock only, which the caller holds.
        self.0.with(|pair| unsafe { *pair })
    }

    /// # Safety
    ///
    /// As for [`get`](Self::get).
    #[inline]
    unsafe fn update(&self, change: impl FnOnce(&mut Pair)) {
        // SAFETY: links are accessed under the lock only, which the caller holds.
        self.0.with_mut(|pair| change(unsafe { &mut *pair }));
    }
}

/// The ends of a queue's list. Null when it is empty, both or none.
#[derive(Debug)]
pub(crate) struct Ends {
    pub(crate) head: *const Links,
    pub(crate) tail: *const Links,
}

impl Ends {
    pub(crate) const fn new() -> Self {
        Ends { head: ptr::null(), tail: ptr::null() }
    }

    /// Adds a node at the back.
    ///
    /// # Safety
    ///
    /// The caller holds the queue's lock. `node` is in no list, and stays where it is until it
    /// was unlinked.
    pub(crate) unsafe fn push_back(&mut self, node: *const Links) {
        // SAFETY: the node is alive by contract, and so is every linked node by the same contract.
        unsafe {
            (*node).update(|pair| *pair = Pair { prev: self.tail, next: ptr::null() });
            match self.tail.as_ref() {
                Some(tail) => tail.update(|pair| pair.next = node),
                None => self.head = node,
            }
        }
        self.tail = node;
    }

    /// Adds a node at the front.
    ///
    /// # Safety
    ///
    /// As for [`push_back`](Self::push_back).
    pub(crate) unsafe fn push_front(&mut self, node: *const Links) {
        // SAFETY: as in `push_back`.
        unsafe {
            (*node).update(|pair| *pair = Pair { prev: ptr::null(), next: self.head });
            match self.head.as_ref() {
                Some(head) => head.update(|pair| pair.prev = node),
                None => self.tail = node,
            }
        }
        self.head = node;
    }

    /// Takes a node out, be it in this list or in a ring that was spliced off it.
    ///
    /// # Safety
    ///
    /// The caller holds the queue's lock, and the node is linked.
    pub(crate) unsafe fn unlink(&mut self, node: *const Links) {
        // SAFETY: the node is linked, so it and its neighbours are alive.
        unsafe {
            let Pair { prev, next } = (*node).get();
            match prev.as_ref() {
                Some(prev) => prev.update(|pair| pair.next = next),
                None => self.head = next,
            }
            match next.as_ref() {
                Some(next) => next.update(|pair| pair.prev = prev),
                None => self.tail = prev,
            }
            (*node).update(|pair| *pair = Pair { prev: ptr::null(), next: ptr::null() });
        }
    }

    /// Moves the whole list onto a ring around `sentinel`, in constant time, and leaves this one
    /// empty.
    ///
    /// # Safety
    ///
    /// The caller holds the queue's lock. The sentinel stays where it is until the ring is empty.
    pub(crate) unsafe fn splice(&mut self, sentinel: *const Links) {
        let list = std::mem::replace(self, Ends::new());
        // SAFETY: sentinel and linked nodes are alive.
        unsafe {
            let (Some(head), Some(tail)) = (list.head.as_ref(), list.tail.as_ref()) else {
                return (*sentinel).update(|pair| *pair = Pair { prev: sentinel, next: sentinel });
            };
            (*sentinel).update(|pair| *pair = Pair { prev: tail, next: head });
            head.update(|pair| pair.prev = sentinel);
            tail.update(|pair| pair.next = sentinel);
        }
    }
}

/// The first node of the ring around `sentinel`.
///
/// # Safety
///
/// The caller holds the queue's lock, and the sentinel is that of a spliced ring.
pub(crate) unsafe fn first_of_ring(sentinel: *const Links) -> Option<*const Links> {
    // SAFETY: the sentinel is alive.
    let next = unsafe { (*sentinel).get() }.next;
    (!ptr::eq(next, sentinel)).then_some(next)
}

/// The node after `node` in a queue's list; null at its end.
///
/// # Safety
///
/// The caller holds the queue's lock, and the node is linked in a queue's list.
pub(crate) unsafe fn after(node: *const Links) -> *const Links {
    // SAFETY: the node is linked, so it is alive.
    unsafe { (*node).get() }.next
}

//! The tree of tokens: one node a token, counted by hand.
//!
//! # Question
//!
//! A token must reach its children to cancel them, and a child its parent to leave it. Children
//! come and go at any time, on any thread, also while their parent is being cancelled. Who keeps
//! whom alive, and how is a tree of any depth cancelled and freed without recursion?
//!
//! # States
//!
//! A node holds a reference to its parent. A parent knows its children by bare pointers in a list
//! under its own lock. A node is *open*, then *cancelled*, for good.
//!
//! # Protocol
//!
//! *New child*: lock the parent; if it is open, link. *Cancel*: lock; mark; unlink all children
//! and take a reference to each that is not on its way out; release all waiters. The children go
//! onto a list of work through a link in the node, and are cancelled in turn. *Last reference
//! gone*: lock the parent, unlink, free; then the reference to the parent goes, in a loop.
//!
//! # Race
//!
//! *Cancel against the end of a child*: the count of the child is zero, but it is still linked,
//! and its last owner waits for the parent's lock. The canceller unlinks it and, finding the count
//! at zero, takes no reference; the owner then finds it unlinked and frees it. The other way
//! round the canceller never sees it. *Two cancels, from two ancestors*: a node is unlinked from
//! its parent once, so one canceller alone gets it as work, and may use its link.
//!
//! # Proof
//!
//! A linked child is alive: it unlinks itself under the lock before it is freed. The count is
//! raised from the list only if it is not zero, under that same lock. One lock is held at a time.
//! Models: `model_cancel_against_wait`, `model_cancel_against_new_child`,
//! `model_cancel_against_end_of_child`, `model_cancel_from_two_ancestors`.

use std::ops::Deref;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

use raddle_base::list::{Linked, Links, List};
use raddle_base::shim::atomic::Ordering::{Acquire, Relaxed, Release};
use raddle_base::shim::atomic::{AtomicBool, AtomicUsize, fence};
use raddle_base::shim::cell::UnsafeCell;
use raddle_base::shim::model::bound;
use raddle_base::wait::{Phase, Removed, WaitQueue, Waiter};

/// Children that are unlinked in one critical section.
const CHILDREN: usize = bound(64, 1);

/// The only outcome of a wait.
const CANCELLED: u8 = 1;

/// What a token points to.
pub(super) struct Node {
    references: AtomicUsize,
    cancelled: AtomicBool,
    /// Who waits for cancellation, and the children, under one lock.
    queue: WaitQueue<(), List<Siblings>>,
    parent: Option<NodeRef>,
    /// In the parent's list, under the parent's lock.
    siblings: Links<Node>,
    /// The next node to cancel: touched by the canceller that unlinked this one.
    work: UnsafeCell<Option<NodeRef>>,
}

// SAFETY: every field that changes is an atomic, is used under a lock (the queue's own, or the
// parent's for `siblings`), or is owned by the one canceller that unlinked the node.
unsafe impl Send for Node {}
// SAFETY: as above.
unsafe impl Sync for Node {}

struct Siblings;

// SAFETY: the same field of the node each time, used by this kind of list alone.
unsafe impl Linked for Siblings {
    type Node = Node;

    unsafe fn links(node: NonNull<Node>) -> NonNull<Links<Node>> {
        // SAFETY: the node is alive by contract, so that its field has an address.
        unsafe { NonNull::new_unchecked(&raw mut (*node.as_ptr()).siblings) }
    }
}

/// A counted reference to a node.
pub(super) struct NodeRef(NonNull<Node>);

// SAFETY: all of a node's fields are shared by the rules of the module's description.
unsafe impl Send for NodeRef {}
// SAFETY: as above.
unsafe impl Sync for NodeRef {}

impl Deref for NodeRef {
    type Target = Node;

    #[inline]
    fn deref(&self) -> &Node {
        // SAFETY: this reference keeps the node alive.
        unsafe { self.0.as_ref() }
    }
}

impl Clone for NodeRef {
    fn clone(&self) -> Self {
        // Relaxed: made from a reference that exists.
        let before = self.references.fetch_add(1, Relaxed);
        if before > isize::MAX as usize {
            // Only by forgetting references without end. A wrapped count would free too early.
            std::process::abort();
        }
        NodeRef(self.0)
    }
}

impl Drop for NodeRef {
    fn drop(&mut self) {
        let mut last = self.0;
        loop {
            // SAFETY: the reference that goes keeps the node alive until here.
            let node = unsafe { last.as_ref() };
            // Release: what was done through this reference is over before the node is freed.
            if node.references.fetch_sub(1, Release) != 1 {
                return;
            }
            // Acquire: what was done through all others is over as well.
            fence(Acquire);
            node.leave_parent();
            // SAFETY: it came from a box, nobody has a reference, and it is in no list.
            let node = unsafe { Box::from_raw(last.as_ptr()) };
            // Nothing in production. To the model checker this is the access that freeing is.
            node.work.with_mut(drop);
            // The parent's reference goes in the next round and not by recursion.
            let Some(parent) = node.parent else { return };
            last = parent.0;
            std::mem::forget(parent);
        }
    }
}

impl NodeRef {
    fn allocate(parent: Option<NodeRef>, cancelled: bool) -> Self {
        let node = Node {
            references: AtomicUsize::new(1),
            cancelled: AtomicBool::new(cancelled),
            queue: WaitQueue::new(List::new()),
            parent,
            siblings: Links::new(),
            work: UnsafeCell::new(None),
        };
        NodeRef(NonNull::from(Box::leak(Box::new(node))))
    }

    /// A node without a parent.
    pub(super) fn root() -> Self {
        Self::allocate(None, false)
    }

    /// A node that is cancelled with this one.
    pub(super) fn child(&self) -> Self {
        if self.is_cancelled() {
            return Self::allocate(None, true);
        }
        // Allocated before the lock; should the parent be cancelled by then, it stays alone.
        let child = Self::allocate(Some(self.clone()), false);
        let mut locked = self.queue.lock();
        // Relaxed: written under the lock, which is held.
        if self.cancelled.load(Relaxed) {
            // Release: what led to the end of the parent is visible with that of the child.
            child.cancelled.store(true, Release);
        } else {
            // SAFETY: the child stays where it is, and leaves the list before it is freed.
            unsafe { locked.shared().push_back(child.0) };
        }
        drop(locked);
        child
    }

    /// Another reference, unless the last one is gone.
    ///
    /// # Safety
    ///
    /// The node is alive during the call.
    unsafe fn upgrade(node: NonNull<Node>) -> Option<Self> {
        // SAFETY: alive by contract.
        let references = unsafe { &node.as_ref().references };
        // Relaxed: only a first guess for the exchange below.
        let mut count = references.load(Relaxed);
        while count != 0 {
            // Relaxed: as in `clone`.
            match references.compare_exchange_weak(count, count + 1, Relaxed, Relaxed) {
                Ok(_) => return Some(NodeRef(node)),
                Err(now) => count = now,
            }
        }
        None
    }

    /// Cancels this node and all below it; true if it was not before.
    pub(super) fn cancel(&self) -> bool {
        let mut work = Work(None);
        let first = self.cancel_alone(&mut work);
        work.run();
        first
    }

    /// Marks, collects the children as work, wakes; true if it was not marked before.
    fn cancel_alone(&self, work: &mut Work) -> bool {
        let mut locked = self.queue.lock();
        // Release: what led to the end is visible to whoever sees it.
        if self.cancelled.swap(true, Release) {
            return false;
        }
        // In portions, so that others are not kept from the lock by a long list.
        while !work.collect(locked.shared(), CHILDREN) {
            drop(locked);
            locked = self.queue.lock();
        }
        locked.release_all(CANCELLED);
        true
    }
}

impl Node {
    #[inline]
    pub(super) fn is_cancelled(&self) -> bool {
        // Acquire: what led to the end is visible.
        self.cancelled.load(Acquire)
    }

    fn leave_parent(&self) {
        if let Some(parent) = &self.parent {
            let mut locked = parent.queue.lock();
            // SAFETY: this node was linked in this list or is in none.
            unsafe { locked.shared().remove(NonNull::from(self)) };
        }
    }

    /// Ready when cancelled.
    ///
    /// # Safety
    ///
    /// The caller owns `waiter`, uses it with this node only, and calls [`leave`](Self::leave)
    /// with it before it goes away.
    pub(super) unsafe fn poll(&self, waiter: Pin<&Waiter>, cx: &mut Context<'_>) -> Poll<()> {
        if waiter.phase() != Phase::Idle {
            // SAFETY: passed on from the caller.
            return unsafe { self.queue.poll(waiter, cx) }.map(drop);
        }
        if self.is_cancelled() {
            return Poll::Ready(());
        }
        // Foreign code: before the lock. Dropped after it, where it is not needed.
        let waker = cx.waker().clone();
        let mut locked = self.queue.lock();
        // Relaxed: written under the lock, which is held.
        if self.cancelled.load(Relaxed) {
            return Poll::Ready(());
        }
        // SAFETY: passed on from the caller.
        unsafe { locked.push_back(waiter, Some(waker)) };
        Poll::Pending
    }

    /// Ends a wait before its waiter goes away.
    ///
    /// # Safety
    ///
    /// As for [`poll`](Self::poll).
    pub(super) unsafe fn leave(&self, waiter: Pin<&Waiter>) {
        if waiter.phase() != Phase::Waiting {
            return;
        }
        let mut locked = self.queue.lock();
        // SAFETY: passed on from the caller.
        let removed = unsafe { locked.remove(waiter) };
        drop(locked);
        if let Removed::Waiting(waker) = removed {
            drop(waker);
        }
    }
}

/// Nodes to cancel, linked through themselves. Should a waker panic, the rest is still cancelled.
struct Work(Option<NodeRef>);

impl Work {
    /// Moves up to `limit` children here; true if none is left.
    fn collect(&mut self, children: &mut List<Siblings>, limit: usize) -> bool {
        for _ in 0..limit {
            let Some(child) = children.pop_front() else { return true };
            // SAFETY: it was linked, and its parent's lock is held, so it is alive.
            if let Some(child) = unsafe { NodeRef::upgrade(child) } {
                let next = self.0.take();
                // SAFETY: whoever unlinked the node, that is this thread, owns its link.
                child.work.with_mut(|work| unsafe { *work = next });
                self.0 = Some(child);
            }
        }
        children.is_empty()
    }

    fn run(&mut self) {
        while let Some(node) = self.0.take() {
            // SAFETY: as in `collect`.
            self.0 = node.work.with_mut(|work| unsafe { (*work).take() });
            node.cancel_alone(self);
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // Not empty only while unwinding; batches keep further panics to themselves then.
        self.run();
    }
}

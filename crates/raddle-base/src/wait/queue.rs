//! The wait queue: first in, first out, without allocation.
//!
//! # Question
//!
//! Many tasks wait for one thing. Who is next, how does the one who is granted it find out at the
//! price of one load, and how does one that gives up leave at any moment, in constant time, with
//! nothing lost, although all nodes lie in futures that may be dropped at any await?
//!
//! # States
//!
//! A node is idle, waiting or done (`state.rs` has the word and its transitions):
//!
//! ```text
//!            push                 grant, release_all
//!   idle ───────────▶ waiting ───────────────────────▶ done(outcome)
//!    ▲                   │ remove                           │ seen by its owner
//!    └───────────────────┴──────────────────────────────────┘
//! ```
//!
//! A waiting node is linked in the queue, or in the ring of a release that is under way.
//!
//! # Protocol
//!
//! A primitive keeps a *state word* of its own, and asks the queue only where the word says that
//! somebody must wait or be served.
//!
//! * *Wait*: clone the waker; lock; look at the word again, and mark it "there are waiters" in
//!   the same step; push; unlock.
//! * *Grant*: lock; unlink the head; move its waker out; publish `done` with release; unlock; call
//!   the waker. The node may be gone the moment `done` is published, so that is the granter's last
//!   touch of it.
//! * *Finish*: one acquire load of the node's state. No lock.
//! * *Give up*: lock; unlink if still waiting; unlock. If it is done already, the owner has been
//!   granted something and hands it on, as its primitive defines. Whoever left a queue runs
//!   admission again: the next in line may now be served.
//! * *Release all*: lock; take the whole line away, onto a ring around a sentinel on the stack;
//!   grant from the ring in batches of at most `WakeBatch::CAPACITY`, with the lock dropped while
//!   wakers run. Who comes after that belongs to the next period.
//!
//! # Race
//!
//! *Grant against give-up*: both want the node. The lock orders them. If the grant is first, the
//! one giving up finds `done` and hands on; else the granter never sees the node.
//!
//! *Grant against poll with a new waker*: the owner compares wakers without the lock. If they
//! differ it locks, and finds `done` there if the grant came first. If they are equal it returns
//! `Pending` without the lock; a grant that runs meanwhile has that same waker in its hand and
//! calls it.
//!
//! *Release against give-up*: a node in the ring is unlinked as in the queue, whose pointers to
//! its first nodes stay untouched, since they do not point to it. The sentinel outlives the ring,
//! because the releasing frame returns only when it is empty, and no foreign panic passes through
//! it.
//!
//! # Proof
//!
//! *Memory*: links, waker and payload of a waiting node are accessed under the lock only, and
//! those of an idle or done one by its owner only; `done` is stored with release as the granter's
//! last access, and its owner goes on only after an acquire load of it. *Liveness*: a waiting
//! node is reachable from the queue or a ring until it is granted or removed, and every grant
//! yields its waker. *Foreign code*: clones are made before the lock is taken, and wakers are
//! called and dropped after it was released. Models: `model_queue_grant_publishes`,
//! `model_queue_grant_against_give_up`, `model_queue_grant_against_new_waker`,
//! `model_queue_release_against_give_up`.

mod release;

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll, Waker};

use super::links::{Lines, Links};
use super::site::WaitSite;
use super::state::Phase;
use super::waiter::{Waiter, Wake};
use crate::shim::atomic::AtomicU32;
use crate::shim::lock::{Lock, LockGuard};

/// A queue of waiters with payload `P`, and data `S` of its user under the same lock.
///
/// The queue may have several lines (of readers and of writers, say), each first in, first out.
/// Methods that name no line mean the first. Beside the lock lies a [`word`](Self::word) for the
/// user's state: it costs no space, and the whole queue with it is sixteen bytes.
///
/// The queue does not own its waiters. Whoever pushes one promises to remove it (or to see it
/// done) before it goes away; primitives do that in the destructor of their future.
pub struct WaitQueue<P = (), S = (), const LINES: usize = 1> {
    inner: Lock<Inner<P, S, LINES>>,
}

struct Inner<P, S, const LINES: usize> {
    lines: Lines<LINES>,
    shared: S,
    _nodes: PhantomData<*const Waiter<P>>,
}

// SAFETY: the pointers lead to waiters, which are accessed under the lock around this value only;
// their payloads cross threads with it.
unsafe impl<P: Send, S: Send, const LINES: usize> Send for Inner<P, S, LINES> {}

impl<P, S, const LINES: usize> WaitQueue<P, S, LINES> {
    crate::const_unless_loom! {
        /// An empty queue, with `shared` under its lock.
        #[inline]
        pub const fn new(shared: S) -> Self {
            Self::with_word(0, shared)
        }

        /// An empty queue, with `word` beside its lock and `shared` under it.
        #[inline]
        pub const fn with_word(word: u32, shared: S) -> Self {
            let inner = Inner { lines: Lines::new(), shared, _nodes: PhantomData };
            WaitQueue { inner: Lock::new(word, inner) }
        }
    }

    /// A word for the user's state, which lies beside the lock and not under it.
    #[inline]
    pub fn word(&self) -> &AtomicU32 {
        self.inner.word()
    }

    /// Takes the queue's lock. Hold it briefly, and run no foreign code under it.
    #[inline]
    pub fn lock(&self) -> Locked<'_, P, S, LINES> {
        Locked { queue: self, inner: self.inner.lock() }
    }

    /// The user's data, the queue being owned.
    pub fn into_inner(self) -> S {
        self.inner.into_inner().shared
    }

    /// The user's data, the queue being borrowed exclusively.
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.inner.get_mut().shared
    }

    /// The outcome of a wait, if it is done; else makes sure that the task of `cx` is the one to
    /// be woken. A node that is done becomes idle by this.
    ///
    /// Takes the lock only if the waker has changed since the last poll.
    ///
    /// # Safety
    ///
    /// The caller is the owner of `node`, which was pushed to this queue.
    #[inline]
    pub unsafe fn poll(&self, node: Pin<&Waiter<P>>, cx: &mut Context<'_>) -> Poll<u8> {
        if let Phase::Done(outcome) = node.state.phase() {
            node.state.end();
            return Poll::Ready(outcome);
        }
        node.note();
        // SAFETY: the caller is the owner.
        if unsafe { node.has_stamp_of(cx.waker()) } {
            return Poll::Pending;
        }
        // SAFETY: passed on from the caller.
        unsafe { self.poll_with_new_waker(node, cx) }
    }

    /// As [`poll`](Self::poll), but leaves a node that is done as it is: for a wait whose outcome
    /// is a task still to be done. True while it waits.
    ///
    /// # Safety
    ///
    /// As for [`poll`](Self::poll).
    pub unsafe fn refresh(&self, node: Pin<&Waiter<P>>, cx: &mut Context<'_>) -> bool {
        if let Phase::Done(_) = node.state.phase() {
            return false;
        }
        node.note();
        // SAFETY: the caller is the owner.
        let known = unsafe { node.has_stamp_of(cx.waker()) };
        // SAFETY: passed on from the caller.
        known || unsafe { self.renew_waker(node, cx) }.is_pending()
    }

    /// # Safety
    ///
    /// As for [`poll`](Self::poll).
    #[cold]
    unsafe fn poll_with_new_waker(&self, node: Pin<&Waiter<P>>, cx: &mut Context<'_>) -> Poll<u8> {
        // SAFETY: passed on from the caller.
        let result = unsafe { self.renew_waker(node, cx) };
        if result.is_ready() {
            node.state.end();
        }
        result
    }

    /// # Safety
    ///
    /// As for [`poll`](Self::poll).
    unsafe fn renew_waker(&self, node: Pin<&Waiter<P>>, cx: &mut Context<'_>) -> Poll<u8> {
        // Foreign code: before the lock.
        let new = cx.waker().clone();
        let locked = self.lock();
        let (result, unused) = match node.state.phase_locked() {
            // SAFETY: the caller is the owner and holds the lock.
            Phase::Waiting => (Poll::Pending, unsafe { node.replace_waker(new) }),
            Phase::Done(outcome) => (Poll::Ready(outcome), Some(new)),
            Phase::Idle => unreachable!("a wait was polled that had not begun"),
        };
        drop(locked);
        // Foreign code: after the lock.
        drop(unused);
        result
    }
}

impl<P, S: Default, const LINES: usize> Default for WaitQueue<P, S, LINES> {
    fn default() -> Self {
        Self::new(S::default())
    }
}

impl<P, S, const LINES: usize> fmt::Debug for WaitQueue<P, S, LINES> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiters =
            |inner: &Inner<P, S, LINES>| (0..LINES).any(|line| !inner.lines.first(line).is_null());
        match self.inner.try_lock() {
            Some(inner) => write!(f, "WaitQueue(waiters: {})", waiters(&inner)),
            None => f.write_str("WaitQueue(locked)"),
        }
    }
}

/// The queue, locked.
pub struct Locked<'q, P, S, const LINES: usize = 1> {
    queue: &'q WaitQueue<P, S, LINES>,
    inner: LockGuard<'q, Inner<P, S, LINES>>,
}

/// What [`Locked::remove`] found.
#[derive(Debug)]
#[must_use = "a grant must be handed on, and a waker dropped outside the lock"]
pub enum Removed {
    /// The node was not in the queue: never pushed, or its end was seen.
    Idle,
    /// The node was waiting and is out. The waker is to be dropped outside the lock.
    Waiting(Option<Waker>),
    /// The node had been granted this outcome, which its owner must hand on.
    Done(u8),
}

impl<P, S, const LINES: usize> Locked<'_, P, S, LINES> {
    /// The user's data under the lock.
    #[inline]
    pub fn shared(&mut self) -> &mut S {
        &mut self.inner.shared
    }

    /// Whether nobody waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.is_line_empty(0)
    }

    /// Whether nobody waits in this line.
    #[inline]
    pub fn is_line_empty(&self, line: usize) -> bool {
        self.inner.lines.first(line).is_null()
    }

    /// Adds a waiter at the back. Without a waker it is served like any other, and woken by
    /// nobody: its owner polls in its own time.
    ///
    /// # Safety
    ///
    /// The caller owns `node`, which is idle, and before it goes away removes it from this queue
    /// ([`remove`](Self::remove)) unless it has seen it done.
    #[inline]
    pub unsafe fn push_back(&mut self, node: Pin<&Waiter<P>>, waker: Option<Waker>) {
        // SAFETY: passed on from the caller.
        unsafe { self.push_back_to(0, node, waker) };
    }

    /// Adds a waiter at the back of a line.
    ///
    /// # Safety
    ///
    /// As for [`push_back`](Self::push_back).
    #[inline]
    pub unsafe fn push_back_to(
        &mut self,
        line: usize,
        node: Pin<&Waiter<P>>,
        waker: Option<Waker>,
    ) {
        // SAFETY: the caller owns the idle node, and keeps it in place until it is out.
        unsafe {
            self.begin(node, waker);
            self.inner.lines.push_back(line, links_of(node));
        }
    }

    /// Adds a waiter at the front: for one that was next already.
    ///
    /// # Safety
    ///
    /// As for [`push_back`](Self::push_back).
    #[inline]
    pub unsafe fn push_front(&mut self, node: Pin<&Waiter<P>>, waker: Option<Waker>) {
        // SAFETY: passed on from the caller.
        unsafe { self.push_front_to(0, node, waker) };
    }

    /// Adds a waiter at the front of a line.
    ///
    /// # Safety
    ///
    /// As for [`push_back`](Self::push_back).
    #[inline]
    pub unsafe fn push_front_to(
        &mut self,
        line: usize,
        node: Pin<&Waiter<P>>,
        waker: Option<Waker>,
    ) {
        // SAFETY: as in `push_back_to`.
        unsafe {
            self.begin(node, waker);
            self.inner.lines.push_front(line, links_of(node));
        }
    }

    /// # Safety
    ///
    /// The caller owns the idle node.
    unsafe fn begin(&mut self, node: Pin<&Waiter<P>>, waker: Option<Waker>) {
        debug_assert_eq!(node.state.phase_locked(), Phase::Idle, "a waiter was queued twice");
        // SAFETY: the caller owns the idle node, and the lock is held.
        unsafe { node.set_waker(waker) };
        node.state.begin();
        node.note();
    }

    /// Shows the payload of the first waiter to `f`, if there is one.
    #[inline]
    pub fn front<R>(&mut self, f: impl FnOnce(&mut P) -> R) -> Option<R> {
        self.front_of(0, f)
    }

    /// Shows the payload of the first waiter of a line to `f`, if there is one.
    #[inline]
    pub fn front_of<R>(&mut self, line: usize, f: impl FnOnce(&mut P) -> R) -> Option<R> {
        // SAFETY: a linked node is alive, and the lock gives access to its payload.
        let node = unsafe { self.inner.lines.first(line).cast::<Waiter<P>>().as_ref()? };
        // SAFETY: as above.
        Some(node.payload().with_mut(|payload| f(unsafe { &mut *payload })))
    }

    /// Grants `outcome` to the first waiter. Wake it when the lock is released.
    #[inline]
    pub fn grant_front(&mut self, outcome: u8) -> Option<Wake> {
        self.grant_front_of(0, outcome)
    }

    /// Grants `outcome` to the first waiter of a line. Wake it when the lock is released.
    #[inline]
    pub fn grant_front_of(&mut self, line: usize, outcome: u8) -> Option<Wake> {
        self.grant_front_after(line, outcome, |_| ())
    }

    /// As [`grant_front_of`](Self::grant_front_of), with `before` called when the waiter is out of
    /// its line and does not know of its grant yet: for a word that says who waits.
    #[inline]
    pub fn grant_front_after(
        &mut self,
        line: usize,
        outcome: u8,
        before: impl FnOnce(&mut Self),
    ) -> Option<Wake> {
        let first = self.inner.lines.first(line);
        // SAFETY: a node at an end of a line is linked.
        (!first.is_null()).then(|| unsafe { self.grant_after(first, outcome, before) })
    }

    /// Grants `outcome` to the last waiter. Wake it when the lock is released.
    #[inline]
    pub fn grant_back(&mut self, outcome: u8) -> Option<Wake> {
        // SAFETY: the lock is held.
        let last = unsafe { self.inner.lines.last(0) };
        // SAFETY: a node at an end of a line is linked.
        (!last.is_null()).then(|| unsafe { self.grant(last, outcome) })
    }

    /// Grants `outcome` to the first waiter whose payload is the one: `is_it` tells, and may change
    /// it then. Looks through those who wait. Wake it when the lock is released.
    pub fn grant_where(
        &mut self,
        mut is_it: impl FnMut(&mut P) -> bool,
        outcome: u8,
    ) -> Option<Wake> {
        let mut next = self.inner.lines.first(0);
        loop {
            // SAFETY: the lock is held, and linked nodes are alive.
            let node = unsafe { next.cast::<Waiter<P>>().as_ref()? };
            // SAFETY: the lock gives access to the payload of a linked node.
            if node.payload().with_mut(|payload| is_it(unsafe { &mut *payload })) {
                // SAFETY: the node is linked.
                return Some(unsafe { self.grant(next, outcome) });
            }
            // SAFETY: the lock is held, and the node is linked in the first line.
            next = unsafe { self.inner.lines.after(0, next) };
        }
    }

    /// # Safety
    ///
    /// The node is linked, in this queue or in a ring taken off it.
    #[inline]
    unsafe fn grant(&mut self, node: *const Links, outcome: u8) -> Wake {
        // SAFETY: passed on from the caller.
        unsafe { self.grant_after(node, outcome, |_| ()) }
    }

    /// # Safety
    ///
    /// As for [`grant`](Self::grant).
    #[inline]
    unsafe fn grant_after(
        &mut self,
        node: *const Links,
        outcome: u8,
        before: impl FnOnce(&mut Self),
    ) -> Wake {
        // SAFETY: a linked node is alive, and the lock gives access to links and waker. It stays
        // alive until it is granted: its owner would have to take the lock.
        unsafe {
            self.inner.lines.unlink(node);
            before(self);
            let node = &*node.cast::<Waiter<P>>();
            let waker = node.take_waker();
            // The last touch: the owner may free the node from here on.
            node.state.grant(outcome);
            Wake(waker)
        }
    }

    /// Takes a waiter out that gives up, wherever it stands.
    ///
    /// # Safety
    ///
    /// The caller owns `node`, which was pushed to this queue or to none.
    pub unsafe fn remove(&mut self, node: Pin<&Waiter<P>>) -> Removed {
        match node.state.phase_locked() {
            Phase::Idle => Removed::Idle,
            Phase::Done(outcome) => {
                node.state.end();
                Removed::Done(outcome)
            }
            Phase::Waiting => {
                // SAFETY: a waiting node is linked, and the caller holds the lock.
                let waker = unsafe {
                    self.inner.lines.unlink(links_of(node));
                    node.take_waker()
                };
                node.state.end();
                Removed::Waiting(waker)
            }
        }
    }

    /// What everybody waits for, line by line and first in line first: for dumps.
    pub fn sites(&self) -> impl Iterator<Item = WaitSite> {
        (0..LINES).flat_map(move |line| {
            let mut next = self.inner.lines.first(line);
            std::iter::from_fn(move || {
                // SAFETY: the lock is held as long as the iterator borrows it, and linked nodes
                // are alive.
                let node = unsafe { next.cast::<Waiter<P>>().as_ref()? };
                // SAFETY: as above.
                next = unsafe { self.inner.lines.after(line, next) };
                Some(node.site())
            })
        })
    }
}

impl<P, S, const LINES: usize> fmt::Debug for Locked<'_, P, S, LINES> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.sites()).finish()
    }
}

/// A pointer to the node that may be used for all of it.
fn links_of<P>(node: Pin<&Waiter<P>>) -> *const Links {
    ptr::from_ref(node.get_ref()).cast()
}

//! The node of one waiter, which lies in the waiting future.
//!
//! # Who may touch which field
//!
//! | field | phase idle or done | phase waiting |
//! |---|---|---|
//! | `links`, `waker`, `payload` | the owner | whoever holds the queue's lock |
//! | `state` | see `state.rs` | see `state.rs` |
//! | `stamp` | the owner | the owner |
//! | `location` | anyone, it never changes | anyone |
//!
//! The *owner* is the future (or stack frame) that contains the node.
//!
//! # Why a node cannot move or vanish while it is linked
//!
//! It is `!Unpin`, it is linked through `Pin` only, and its owner removes it before it goes away;
//! a node that is dropped while linked aborts the process, since nothing sound can follow.
//! Neighbours hold raw pointers made from a shared reference to the whole node. No `&mut` to a
//! linked node is ever formed (the compiler would take it for unaliased, and it is not), and all
//! that changes lies in atomics and cells.

use std::fmt;
use std::marker::PhantomPinned;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::ptr;
use std::task::{RawWakerVTable, Waker};

use super::contain::discard;
use super::links::Links;
use super::site::{WaitKind, WaitSite};
use super::state::{NodeState, Phase};
use crate::context;
use crate::shim::cell::UnsafeCell;
use crate::shim::model::bound;

/// One waiter: a node for a [`WaitQueue`](super::WaitQueue), with a payload `P` that the queue's
/// user and the waiter share (a number of permits, a slot for a value).
///
/// Must be pinned to be queued. Does not allocate.
///
/// ```compile_fail,E0277
/// fn movable<T: Unpin>() {}
/// movable::<raddle_base::wait::Waiter>();
/// ```
#[repr(C)]
pub struct Waiter<P = ()> {
    /// First, so that a pointer to it is a pointer to the node.
    pub(super) links: Links,
    pub(super) state: NodeState,
    /// Initialised exactly while waiting.
    waker: UnsafeCell<MaybeUninit<Option<Waker>>>,
    /// What the waker looks like, for the owner to compare without the lock. Written when the wait
    /// begins.
    stamp: UnsafeCell<MaybeUninit<Stamp>>,
    payload: UnsafeCell<P>,
    location: &'static Location<'static>,
    _pin: PhantomPinned,
}

#[derive(Clone, Copy, PartialEq)]
struct Stamp {
    data: *const (),
    vtable: *const RawWakerVTable,
}

impl Stamp {
    const NONE: Stamp = Stamp { data: ptr::null(), vtable: ptr::null() };

    fn of(waker: &Waker) -> Self {
        Stamp { data: waker.data(), vtable: waker.vtable() }
    }
}

// SAFETY: the pointers in links and stamp are followed under the queue's lock or only compared;
// the waker is `Send`, and the payload must be.
unsafe impl<P: Send> Send for Waiter<P> {}
// SAFETY: through a shared reference all fields are accessed by the rules of the table above,
// which let one thread at a time at the payload.
unsafe impl<P: Send> Sync for Waiter<P> {}

impl<P> Waiter<P> {
    crate::const_unless_loom! {
        /// An idle node. Remembers its caller as the place where the wait was written.
        ///
        /// Writes little: what only a queued node needs is written when it is queued.
        #[inline]
        #[track_caller]
        pub const fn new(kind: WaitKind, payload: P) -> Self {
            Waiter::at(WaitSite::here(kind), payload)
        }

        /// An idle node of a wait that was written in another place than its caller's.
        #[inline]
        pub const fn at(site: WaitSite, payload: P) -> Self {
            Waiter {
                links: Links::new(),
                state: NodeState::new(site.kind),
                waker: UnsafeCell::new(MaybeUninit::uninit()),
                stamp: UnsafeCell::new(MaybeUninit::uninit()),
                payload: UnsafeCell::new(payload),
                location: site.location,
                _pin: PhantomPinned,
            }
        }
    }

    /// What has become of the wait: one acquire load. After `Done`, what happened before the
    /// grant is visible, and the payload is the owner's.
    #[inline]
    pub fn phase(&self) -> Phase {
        self.state.phase()
    }

    /// Whether the phase is `Idle`, for the node's owner, whose decision alone that is. Cheaper
    /// than [`phase`](Self::phase), and nothing is published by it.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.state.is_idle()
    }

    /// What is waited for, and where.
    #[inline]
    pub fn site(&self) -> WaitSite {
        WaitSite { kind: self.state.kind(), location: self.location }
    }

    /// Tells the scheduler what the task of this wait waits for.
    #[inline]
    pub(super) fn note(&self) {
        context::waits(self.state.kind(), Some(self.location));
    }

    /// Drops a node that is known not to wait, without the look that dropping it takes.
    ///
    /// # Safety
    ///
    /// The node is in no queue, and is not used again.
    #[inline]
    pub unsafe fn retire(node: &mut ManuallyDrop<Self>) {
        // A model drops the whole, since to it that is an access; in production nothing but the
        // payload has anything to drop.
        if bound(0, 1) == 1 {
            // SAFETY: passed on from the caller.
            unsafe { ManuallyDrop::drop(node) };
        } else {
            // SAFETY: passed on from the caller; the payload of a node in no queue is its owner's.
            node.payload.with_mut(|payload| unsafe { ptr::drop_in_place(payload) });
        }
    }

    /// The payload. Who may access it when: see the table in the module's description.
    #[inline]
    pub fn payload(&self) -> &UnsafeCell<P> {
        &self.payload
    }

    /// Whether `waker` is the one this node was queued with.
    ///
    /// # Safety
    ///
    /// The caller is the node's owner, and the node was queued.
    #[inline]
    pub(super) unsafe fn has_stamp_of(&self, waker: &Waker) -> bool {
        // Equal pointers mean the same waker: ours is alive in the node, or in the hands of a
        // granter that is about to call it, so its address was not given to another.
        // SAFETY: only the owner accesses the stamp, which was written when the wait began.
        self.stamp.with(|stamp| unsafe { (*stamp).assume_init() } == Stamp::of(waker))
    }

    /// Sets the waker and its stamp at the beginning of a wait.
    ///
    /// # Safety
    ///
    /// The caller is the node's owner, and holds the lock; the node is idle.
    pub(super) unsafe fn set_waker(&self, waker: Option<Waker>) {
        let stamp = waker.as_ref().map_or(Stamp::NONE, Stamp::of);
        // SAFETY: the caller is the owner, and an idle node holds no waker.
        self.stamp.with_mut(|slot| unsafe { (*slot).write(stamp) });
        // SAFETY: as above.
        self.waker.with_mut(|slot| unsafe { (*slot).write(waker) });
    }

    /// Replaces waker and stamp; returns the old waker, to be dropped outside the lock.
    ///
    /// # Safety
    ///
    /// The caller is the node's owner, and holds the lock; the node is waiting.
    pub(super) unsafe fn replace_waker(&self, waker: Waker) -> Option<Waker> {
        let stamp = Stamp::of(&waker);
        // SAFETY: the caller is the owner.
        self.stamp.with_mut(|slot| unsafe { (*slot).write(stamp) });
        // SAFETY: the lock gives access, and the waker of a waiting node is initialised.
        self.waker.with_mut(|slot| unsafe { (*slot).assume_init_mut() }.replace(waker))
    }

    /// Moves the waker out, which ends the wait.
    ///
    /// # Safety
    ///
    /// The caller holds the lock, the node is waiting, and ceases to with this.
    pub(super) unsafe fn take_waker(&self) -> Option<Waker> {
        // SAFETY: the lock gives access to the waker of a waiting node, where it is initialised.
        self.waker.with_mut(|slot| unsafe { (*slot).assume_init_read() })
    }
}

/// Neighbours point here. An unwinding thread would let them follow the pointers.
#[cold]
fn dropped_while_queued(site: WaitSite) -> ! {
    eprintln!("raddle: a waiter was dropped while queued ({site})");
    std::process::abort();
}

impl<P> Drop for Waiter<P> {
    #[inline]
    fn drop(&mut self) {
        if self.state.phase_locked() == Phase::Waiting {
            dropped_while_queued(self.site());
        }
        // Nothing in production. To the model checker these are the accesses that freeing is.
        self.links.touch();
        self.waker.with_mut(|_| ());
    }
}

impl<P> fmt::Debug for Waiter<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiter").field("phase", &self.phase()).field("site", &self.site()).finish()
    }
}

/// Somebody who was granted what they waited for, and is yet to be woken.
///
/// A waiter that was queued without a waker (registered, never polled) has nobody to wake.
#[derive(Debug)]
#[must_use = "whoever was granted something must be woken"]
pub struct Wake(pub(super) Option<Waker>);

impl From<Waker> for Wake {
    #[inline]
    fn from(waker: Waker) -> Self {
        Wake(Some(waker))
    }
}

impl Wake {
    /// Calls the waker. Not under a lock: it is foreign code.
    ///
    /// A panic of the waker goes on, except on a thread that is panicking already, where a second
    /// one would end the process: a guard that is dropped by a panic wakes the next in line.
    #[inline]
    pub fn wake(self) {
        let Some(waker) = self.0 else { return };
        if std::thread::panicking() {
            return wake_contained(waker);
        }
        waker.wake();
    }

    /// The waker, if there is one.
    #[inline]
    pub fn into_waker(self) -> Option<Waker> {
        self.0
    }
}

#[cold]
fn wake_contained(waker: Waker) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
        discard(payload);
    }
}

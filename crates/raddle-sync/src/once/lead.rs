//! Waiting for the lead of a [`Once`].

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use raddle_base::context;
use raddle_base::wait::{Phase, Removed, WaitKind, WaitSite, Waiter};

use super::core::{CANDIDATES, IDLE, LEADS, Leading, NoLead, Once, RUNNING, STATE};
use crate::crowd::Step;
use crate::owner::{self, Held};

/// Waits for the lead: `None` if it is over.
pub(crate) struct Lead<'a> {
    once: &'a Once,
    node: Waiter,
}

impl<'a> Lead<'a> {
    #[track_caller]
    pub(crate) fn new(once: &'a Once) -> Self {
        Lead::at(once, Location::caller())
    }

    /// The same, for a wait that was written in this place.
    pub(crate) fn at(once: &'a Once, location: &'static Location<'static>) -> Self {
        let site = WaitSite { kind: WaitKind::Event, location };
        Lead { once, node: Waiter::at(site, ()) }
    }

    /// # Safety
    ///
    /// The node is that of `self`, pinned and idle.
    #[cold]
    unsafe fn enqueue(&self, node: Pin<&Waiter>, cx: &mut Context<'_>) -> Poll<Option<()>> {
        owner::waits(self.once.address(), node.site(), 0);
        // Foreign code: before the lock. Dropped after it, where it is not needed.
        let waker = cx.waker().clone();
        let mut queue = self.once.candidates.lock();
        let before = self.once.crowd.step(|value| match value & STATE {
            IDLE => Step::To(RUNNING),
            RUNNING => Step::To(value | CANDIDATES),
            _ => Step::Keep,
        });
        match before & STATE {
            IDLE => Poll::Ready(Some(())),
            RUNNING => {
                // SAFETY: passed on from the caller.
                unsafe { queue.push_back(node, Some(waker)) };
                Poll::Pending
            }
            _ => Poll::Ready(None),
        }
    }

    /// The caller leads now.
    fn leading(&self) -> Leading<'a> {
        let held = Held::new(self.once.address(), self.node.site().location);
        Leading::new(self.once, held)
    }

    #[cold]
    fn leave(&self, node: Pin<&Waiter>) {
        let mut queue = self.once.candidates.lock();
        // SAFETY: the caller is the destructor, and the node that of `self`.
        match unsafe { queue.remove(node) } {
            Removed::Waiting(waker) => {
                if queue.is_empty() {
                    self.once.crowd.step(|value| Step::To(value & !CANDIDATES));
                }
                drop(queue);
                // Foreign code: after the lock.
                drop(waker);
            }
            Removed::Done(LEADS) => {
                drop(queue);
                self.once.give_up();
            }
            Removed::Done(_) | Removed::Idle => {}
        }
    }
}

impl<'a> Future for Lead<'a> {
    type Output = Option<Leading<'a>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Leading<'a>>> {
        ready!(context::check_budget(cx));
        let this = self.into_ref().get_ref();
        // SAFETY: the node is pinned with the future that owns it, used with this queue only, and
        // leaves when the future is dropped.
        let node = unsafe { Pin::new_unchecked(&this.node) };
        let lead = match node.phase() {
            Phase::Idle => match this.once.begin() {
                Ok(()) => Some(()),
                Err(NoLead::Over) => None,
                // SAFETY: as above; the node is idle.
                Err(NoLead::Running) => ready!(unsafe { this.enqueue(node, cx) }),
            },
            // SAFETY: as above; the node is not idle.
            _ => match ready!(unsafe { this.once.candidates.poll(node, cx) }) {
                LEADS => Some(()),
                _ => None,
            },
        };
        context::spend();
        Poll::Ready(lead.map(|()| this.leading()))
    }
}

impl Drop for Lead<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.node.is_idle() {
            // SAFETY: as in `poll`; a future that was polled was pinned and did not move since.
            self.leave(unsafe { Pin::new_unchecked(&self.node) });
        }
    }
}

impl fmt::Debug for Lead<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lead").field(&self.node).finish()
    }
}

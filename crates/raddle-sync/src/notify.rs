//! Notifications: "something happened, look again", with one stored permit.
//!
//! # Question
//!
//! A task looks at some shared state, finds nothing to do and wants to sleep until somebody
//! changes it. How is a notification that comes between the look and the sleep kept, without a
//! lock while nobody sleeps?
//!
//! # States
//!
//! | bits of the word | field |
//! |---|---|
//! | 0–1 | EMPTY, WAITING (the queue is not empty), NOTIFIED (one notification is stored) |
//! | 2.. | generation: how often all were notified |
//!
//! # Protocol
//!
//! `notify_one`: EMPTY or NOTIFIED → NOTIFIED; with WAITING, lock and grant the head, and go to
//! EMPTY if it was the last. A *wait* takes NOTIFIED → EMPTY; else it locks, sets WAITING and
//! pushes. `notify_waiters`: count the generation up; with WAITING, go to EMPTY and release the
//! whole queue. A wait remembers the generation of its creation, and is over when that is past:
//! so it is reached by `notify_waiters` even before its first poll. *Give up*: leave the queue;
//! a wait that had been granted a single notification passes it on.
//!
//! # Race
//!
//! A notification comes while a waiter goes to sleep. Both change one word by exchange: either
//! the waiter's exchange meets NOTIFIED or a new generation, or the notification meets WAITING
//! and takes the lock, under which the waiter was pushed.
//!
//! # Proof
//!
//! WAITING is set and cleared under the lock only, and holds exactly while the queue is not empty,
//! because whoever empties it (grant, release, give-up) clears it in the same critical section.
//! Every notification writes with release (the word, or the node), and every end of a wait reads
//! it with acquire. Models: `model_notify_one_against_wait`, `model_notify_waiters_against_wait`,
//! `model_notify_one_against_cancel`, `model_notify_publishes`.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use raddle_base::context;
use raddle_base::shim::atomic::AtomicUsize;
use raddle_base::shim::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use raddle_base::wait::{Locked, Phase, Removed, WaitKind, WaitQueue, Waiter, Wake};

const EMPTY: usize = 0;
const WAITING: usize = 1;
const NOTIFIED: usize = 2;
const STATE: usize = 0b11;
const GENERATION: usize = 0b100;

/// Outcomes of a wait: chosen as the first in line, as the last, or with all others.
const FIRST: u8 = 1;
const LAST: u8 = 2;
const ALL: u8 = 3;

/// Whether its owner has seen the wait's end: the payload of a node, touched by its owner only.
type Finished = bool;

/// Tells tasks that something happened.
///
/// [`notify_one`](Self::notify_one) wakes one task that waits in [`notified`](Self::notified), or
/// is stored for the next one; there is room for one stored notification.
/// [`notify_waiters`](Self::notify_waiters) ends all waits that exist, and stores nothing.
///
/// Waiters are served in the order of their first poll. What happened before a notification is
/// visible after the wait that it ends; also where a notification finds one stored already. Waiting
/// does not allocate, and a notification takes a lock only if somebody waits.
///
/// ```
/// use raddle_sync::{Notify, block_on};
///
/// let notify = Notify::new();
/// notify.notify_one();
/// block_on(notify.notified());
/// ```
#[derive(Debug)]
pub struct Notify {
    word: AtomicUsize,
    queue: WaitQueue<Finished>,
}

impl Notify {
    raddle_base::const_unless_loom! {
        /// Without a stored notification.
        pub const fn new() -> Self {
            Notify { word: AtomicUsize::new(EMPTY), queue: WaitQueue::new(()) }
        }

        /// The same as [`new`](Self::new), under tokio's name.
        pub const fn const_new() -> Self {
            Notify::new()
        }
    }

    /// A future that ends with the next notification for it.
    ///
    /// It joins the queue at its first poll, or by [`Notified::enable`]. A call of
    /// [`notify_waiters`](Self::notify_waiters) reaches it from its creation on.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses its place in the queue. Had it been chosen by a single
    /// notification, the notification passes on to the next waiter, or is stored.
    #[track_caller]
    pub fn notified(&self) -> Notified<'_> {
        self.notified_as(WaitKind::Notification)
    }

    /// As [`notified`](Self::notified), for a primitive that notifies of something it can name.
    #[track_caller]
    pub(crate) fn notified_as(&self, kind: WaitKind) -> Notified<'_> {
        let node = Waiter::new(kind, false);
        Notified { notify: self, generation: self.generation(), node }
    }

    /// As [`notified`](Self::notified), with a reference of its own.
    #[track_caller]
    pub fn notified_owned(self: Arc<Self>) -> OwnedNotified {
        let node = Waiter::new(WaitKind::Notification, false);
        OwnedNotified { generation: self.generation(), notify: self, node }
    }

    /// Wakes the task that has waited longest, or stores the notification if nobody waits.
    pub fn notify_one(&self) {
        self.notify(FIRST);
    }

    /// Wakes the task that began to wait last, or stores the notification if nobody waits.
    pub fn notify_last(&self) {
        self.notify(LAST);
    }

    /// Ends all waits that exist, those not yet polled too. Stores nothing for later ones.
    pub fn notify_waiters(&self) {
        // Relaxed: only a first guess for the exchange below.
        let mut word = self.word.load(Relaxed);
        while word & STATE != WAITING {
            let next = word.wrapping_add(GENERATION);
            // Release: whoever sees the new generation sees what led to it.
            match self.word.compare_exchange_weak(word, next, Release, Relaxed) {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
        let queue = self.queue.lock();
        // Release as above; Acquire to take part in the order of the word's changes.
        let word = self.word.fetch_add(GENERATION, AcqRel);
        if word & STATE == WAITING {
            // Relaxed: WAITING is left under the lock only, and waiters learn from their node.
            self.word.fetch_and(!STATE, Relaxed);
        }
        queue.release_all(ALL);
    }

    fn generation(&self) -> usize {
        // Acquire: a wait that is made after a notification of all is not reached by it.
        self.word.load(Acquire) & !STATE
    }

    #[inline]
    fn notify(&self, whom: u8) {
        // Relaxed: only a first guess for the exchange below.
        let mut word = self.word.load(Relaxed);
        while word & STATE != WAITING {
            let next = (word & !STATE) | NOTIFIED;
            // Release: whoever takes the notification sees what led to it; for that it is
            // written again even if one is stored already.
            match self.word.compare_exchange_weak(word, next, Release, Relaxed) {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
        self.notify_waiting(whom);
    }

    #[cold]
    fn notify_waiting(&self, whom: u8) {
        let mut queue = self.queue.lock();
        let wake = self.grant(&mut queue, whom);
        drop(queue);
        match wake {
            Some(wake) => wake.wake(),
            // The last waiter left meanwhile, so that the state is no longer WAITING.
            None => self.notify(whom),
        }
    }

    fn grant(&self, queue: &mut Locked<'_, Finished, ()>, whom: u8) -> Option<Wake> {
        let wake = match whom {
            LAST => queue.grant_back(LAST),
            _ => queue.grant_front(FIRST),
        }?;
        self.clear_if_empty(queue);
        Some(wake)
    }

    /// WAITING → EMPTY if the locked queue is empty.
    fn clear_if_empty(&self, queue: &Locked<'_, Finished, ()>) {
        // Relaxed: WAITING is set and left under the lock only, and nothing is published by it.
        if queue.is_empty() && self.word.load(Relaxed) & STATE == WAITING {
            self.word.fetch_and(!STATE, Relaxed);
        }
    }

    /// Takes a stored notification, or sees that all were notified since `generation`.
    fn try_take(&self, generation: usize) -> bool {
        // Acquire: what led to a new generation is visible.
        let mut word = self.word.load(Acquire);
        loop {
            if word & !STATE != generation {
                return true;
            }
            if word & STATE != NOTIFIED {
                return false;
            }
            // Acquire: what led to the notification is visible.
            match self.word.compare_exchange_weak(word, word & !STATE, Acquire, Acquire) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
    }

    /// True when the wait is over; else queues it or refreshes its waker.
    ///
    /// # Safety
    ///
    /// The caller owns `node`, uses it with this `Notify` only, and calls
    /// [`cancel`](Self::cancel) with it before it goes away.
    unsafe fn poll(
        &self,
        node: Pin<&Waiter<Finished>>,
        generation: usize,
        cx: Who<'_, '_>,
    ) -> bool {
        // SAFETY: only the owner, who is the caller, touches this payload.
        if node.payload().with(|finished| unsafe { *finished }) {
            return true;
        }
        let over = match (node.phase(), cx) {
            (Phase::Idle, _) if self.try_take(generation) => true,
            // SAFETY: passed on from the caller.
            (Phase::Idle, cx) => unsafe { self.enqueue(node, generation, cx) },
            (Phase::Waiting, Who::Nobody) => false,
            // SAFETY: passed on from the caller.
            (_, Who::Task(cx)) => unsafe { self.queue.poll(node, cx) }.is_ready(),
            (_, Who::Nobody) => {
                let mut cx = Context::from_waker(Waker::noop());
                // SAFETY: passed on from the caller. The wait is done, so the waker is not kept.
                unsafe { self.queue.poll(node, &mut cx) }.is_ready()
            }
        };
        // SAFETY: as above.
        node.payload().with_mut(|finished| unsafe { *finished = over });
        over
    }

    /// # Safety
    ///
    /// As for [`poll`](Self::poll); the node is idle.
    unsafe fn enqueue(
        &self,
        node: Pin<&Waiter<Finished>>,
        generation: usize,
        cx: Who<'_, '_>,
    ) -> bool {
        // Foreign code: before the lock. Dropped after it, where it is not needed.
        let waker = match cx {
            Who::Task(cx) => Some(cx.waker().clone()),
            Who::Nobody => None,
        };
        let mut queue = self.queue.lock();
        // Acquire: as in `try_take`.
        let mut word = self.word.load(Acquire);
        loop {
            let next = match word & STATE {
                _ if word & !STATE != generation => return true,
                NOTIFIED => word & !STATE,
                _ => (word & !STATE) | WAITING,
            };
            // Acquire: as in `try_take`. Nothing is published by WAITING but through the lock.
            match self.word.compare_exchange_weak(word, next, Acquire, Acquire) {
                Ok(_) if word & STATE == NOTIFIED => return true,
                Ok(_) => break,
                Err(now) => word = now,
            }
        }
        // SAFETY: passed on from the caller.
        unsafe { queue.push_back(node, waker) };
        false
    }

    /// Ends a wait before its node goes away.
    ///
    /// # Safety
    ///
    /// As for [`poll`](Self::poll).
    unsafe fn cancel(&self, node: Pin<&Waiter<Finished>>) {
        if node.phase() == Phase::Idle {
            return;
        }
        let mut queue = self.queue.lock();
        // SAFETY: passed on from the caller.
        let removed = unsafe { queue.remove(node) };
        self.clear_if_empty(&queue);
        drop(queue);
        match removed {
            Removed::Done(whom @ (FIRST | LAST)) => self.notify(whom),
            // Foreign code: the waker is dropped here, after the lock.
            Removed::Waiting(waker) => drop(waker),
            Removed::Done(_) | Removed::Idle => {}
        }
    }
}

impl Default for Notify {
    fn default() -> Self {
        Self::new()
    }
}

/// On whose behalf a wait is looked at.
enum Who<'a, 'b> {
    Task(&'a mut Context<'b>),
    Nobody,
}

/// # Safety
///
/// As for [`Notify::poll`].
unsafe fn poll_notified(
    notify: &Notify,
    node: Pin<&Waiter<Finished>>,
    generation: usize,
    cx: &mut Context<'_>,
) -> Poll<()> {
    ready!(context::check_budget(cx));
    // SAFETY: passed on from the caller.
    if unsafe { notify.poll(node, generation, Who::Task(cx)) } {
        context::spend();
        return Poll::Ready(());
    }
    Poll::Pending
}

/// The future of [`Notify::notified`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Notified<'a> {
    notify: &'a Notify,
    generation: usize,
    node: Waiter<Finished>,
}

impl Notified<'_> {
    /// Joins the queue without waiting; true if the wait is over already.
    ///
    /// After this a notification reaches the future as if it had been polled: enable, then look
    /// at the condition, then await, and nothing is missed.
    pub fn enable(self: Pin<&mut Self>) -> bool {
        let this = self.into_ref().get_ref();
        // SAFETY: the node is pinned with the future that owns it, and cancelled on drop.
        unsafe { this.notify.poll(Pin::new_unchecked(&this.node), this.generation, Who::Nobody) }
    }
}

impl Future for Notified<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.into_ref().get_ref();
        // SAFETY: as in `enable`.
        unsafe { poll_notified(this.notify, Pin::new_unchecked(&this.node), this.generation, cx) }
    }
}

impl Drop for Notified<'_> {
    fn drop(&mut self) {
        // SAFETY: as in `enable`; a future that was polled was pinned and did not move since.
        unsafe { self.notify.cancel(Pin::new_unchecked(&self.node)) };
    }
}

/// The future of [`Notify::notified_owned`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct OwnedNotified {
    notify: Arc<Notify>,
    generation: usize,
    node: Waiter<Finished>,
}

impl OwnedNotified {
    /// Joins the queue without waiting. See [`Notified::enable`].
    pub fn enable(self: Pin<&mut Self>) -> bool {
        let this = self.into_ref().get_ref();
        // SAFETY: as for `Notified`.
        unsafe { this.notify.poll(Pin::new_unchecked(&this.node), this.generation, Who::Nobody) }
    }
}

impl Future for OwnedNotified {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.into_ref().get_ref();
        // SAFETY: as for `Notified`.
        unsafe { poll_notified(&this.notify, Pin::new_unchecked(&this.node), this.generation, cx) }
    }
}

impl Drop for OwnedNotified {
    fn drop(&mut self) {
        // SAFETY: as for `Notified`.
        unsafe { self.notify.cancel(Pin::new_unchecked(&self.node)) };
    }
}

#[cfg(all(test, loom))]
#[path = "tests/notify_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/notify.rs"]
mod tests;

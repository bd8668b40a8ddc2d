//! What the ends of a channel share: the ring under its lock, and who waits for it to change.
//!
//! # Question
//!
//! Every receiver is to see every value, and a value is to go as soon as the last one has seen it.
//! How is a value cloned without a lock while others come and go, a sender overwrites it, or its
//! clone panics; and how does nobody sleep while there is a value, or room, for them?
//!
//! # States
//!
//! Those of the ring are in `ring.rs`, those of entries in `entry.rs`. The queue has two lines:
//! *receivers* that found nothing, and *senders* that found no room.
//!
//! | line | is empty unless |
//! |---|---|
//! | receivers | each of them has received all there is, and a sender is left |
//! | senders | all places are taken or held, and a receiver is left |
//!
//! # Protocol
//!
//! Everything is decided under the lock, which is held for a handful of instructions.
//!
//! *Send*: push, with all receivers of now missing the value; release the line of receivers. In a
//! channel that overwrites, the oldest value goes first if there is no room. In one that does not,
//! without room: join the line of senders. *Receive*: if nobody else counts on the value, move it
//! out. Else pin it; unlock; clone; lock; unpin, which moves the value out if all others have
//! received it meanwhile, or if it was overwritten and nobody else is cloning it. *Room*: places
//! that become free are given to the line of senders in the same critical section: they are held
//! until the sender puts its value there. *Leave*: count as missing for no later value; then give
//! up those that are left, one by one. The last receiver refuses the line of senders.
//!
//! # Race
//!
//! *Overwriting against cloning*: a pinned entry leaves the ring and stays where it is; the last
//! one that unpins it takes the value. *Send against going to sleep*: one lock decides. *Granted
//! against given up*: a sender that was granted a place and goes returns it, for the next one.
//! *Foreign code against what was received*: wakers and destructors run after the lock, and may
//! panic while a value was received and not returned yet; it is kept in the receiver until then,
//! for the next receive.
//!
//! # Proof
//!
//! A value is moved out by exactly one: the receiver that finds it missing for itself alone, the
//! one that counts `missing` down to zero, the last to unpin what was overwritten, or a sender
//! that overwrites it unpinned; each under the lock, taking it out of the state that allows it.
//! Entries do not run out: see `entry.rs`. A line is joined in the critical section that found
//! nothing, and served in the one that changes that. Models: `model_broadcast_send_against_recv`,
//! `model_broadcast_two_receivers_take_and_clone`, `model_broadcast_overwrite_against_clone`,
//! `model_broadcast_room_against_wait`, `model_broadcast_leave_against_recv`,
//! `model_broadcast_last_receiver_against_send`, `model_broadcast_end_against_recv`,
//! `model_broadcast_granted_and_given_up`.

use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use raddle_base::shim::atomic::AtomicUsize;
use raddle_base::shim::atomic::Ordering::{AcqRel, Relaxed};
use raddle_base::wait::{Locked, Phase, Removed, WaitQueue, Waiter, WakeBatch};

use super::entry::{Entry, Stock};
use super::error::TryRecvError;
use super::ring::{Found, Ring};
use crate::audience::Audience;

/// The line of senders; that of receivers is the first.
pub(super) const SENDERS: usize = 1;

/// Outcomes of waits: for receivers, look; for senders, a place is held, or no receiver is left.
const LOOK: u8 = 1;
const GRANTED: u8 = 2;
pub(super) const REFUSED: u8 = 3;

pub(super) type Queue<'a, T> = Locked<'a, (), Ring<T>, 2>;

/// Why a sender has no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Denied {
    /// There is no receiver.
    Closed,
    Full,
}

pub(super) struct Shared<T> {
    pub(super) queue: WaitQueue<(), Ring<T>, 2>,
    pub(super) audience: Audience,
    senders: AtomicUsize,
    weak_senders: AtomicUsize,
}

// Values are moved in and out as a whole, and foreign code meets no half-done change.
impl<T> UnwindSafe for Shared<T> {}
impl<T> RefUnwindSafe for Shared<T> {}

/// Where a receiver is.
pub(super) struct Cursor<T> {
    pub(super) next: u64,
    /// Received, while foreign code runs that might panic, and after it did.
    kept: Option<T>,
}

impl<T> Cursor<T> {
    /// So many values were missed after all, as the next receive will tell.
    pub(super) fn go_back(&mut self, count: u64) {
        self.next -= count;
    }
}

impl<T> Shared<T> {
    /// With one sender.
    pub(super) fn new(capacity: usize) -> Self {
        Shared {
            queue: WaitQueue::new(Ring::new(capacity)),
            audience: Audience::new(0),
            senders: AtomicUsize::new(1),
            weak_senders: AtomicUsize::new(0),
        }
    }

    /// Shows the ring to `f`, which runs no foreign code.
    fn with<R>(&self, f: impl FnOnce(&mut Ring<T>) -> R) -> R {
        f(self.queue.lock().shared())
    }

    pub(super) fn len(&self) -> usize {
        self.with(|ring| ring.len())
    }

    pub(super) fn capacity(&self) -> usize {
        self.with(|ring| ring.capacity())
    }

    pub(super) fn room(&self) -> usize {
        self.with(|ring| ring.room())
    }

    /// Values that the receiver has not received.
    pub(super) fn unread(&self, cursor: &Cursor<T>) -> u64 {
        self.with(|ring| ring.tail() - cursor.next) + u64::from(cursor.kept.is_some())
    }

    pub(super) fn is_ended(&self) -> bool {
        self.with(|ring| ring.ended)
    }

    /// A receiver comes, for the values that are sent from now on.
    pub(super) fn join(&self, overwrites: bool) -> Cursor<T> {
        self.audience.join();
        let spare = overwrites.then(Stock::spare);
        let (next, unused) = self.with(|ring| ring.join(spare));
        drop(unused);
        Cursor { next, kept: None }
    }

    /// Sends, overwriting the oldest value if there is no room. How many will receive it.
    #[inline]
    pub(super) fn overwrite(&self, value: T) -> Result<usize, T> {
        let mut queue = self.queue.lock();
        let ring = queue.shared();
        let receivers = ring.receivers();
        if receivers == 0 {
            drop(queue);
            return Err(value);
        }
        let oldest = ring.make_room();
        ring.push(value);
        self.tell(queue);
        // Foreign code: after the lock, and after the wakes.
        drop(oldest);
        Ok(receivers)
    }

    /// Sends if there is room.
    #[inline]
    pub(super) fn try_send(&self, value: T) -> Result<usize, (Denied, T)> {
        let mut queue = self.queue.lock();
        let ring = queue.shared();
        let receivers = ring.receivers();
        if receivers == 0 || ring.room() == 0 {
            drop(queue);
            return Err((if receivers == 0 { Denied::Closed } else { Denied::Full }, value));
        }
        ring.push(value);
        self.tell(queue);
        Ok(receivers)
    }

    /// Sends to a place that is held.
    pub(super) fn send_held(&self, value: T) -> Result<usize, T> {
        let mut queue = self.queue.lock();
        let ring = queue.shared();
        ring.return_place();
        let receivers = ring.receivers();
        if receivers == 0 {
            // Senders that come while there is no receiver do not wait: nobody to serve.
            drop(queue);
            return Err(value);
        }
        ring.push(value);
        self.tell(queue);
        Ok(receivers)
    }

    /// Lets receivers know.
    #[inline]
    fn tell(&self, queue: Queue<'_, T>) {
        if !queue.is_empty() {
            queue.release_all(LOOK);
        }
    }

    /// Receives the next value.
    #[inline]
    pub(super) fn try_recv(&self, cursor: &mut Cursor<T>) -> Result<T, TryRecvError>
    where
        T: Clone,
    {
        if let Some(value) = cursor.kept.take() {
            return Ok(value);
        }
        let mut queue = self.queue.lock();
        match queue.shared().find(&mut cursor.next) {
            Found::Last(value) if queue.is_line_empty(SENDERS) => {
                drop(queue);
                Ok(value)
            }
            Found::Last(value) => {
                cursor.kept = Some(value);
                self.serve(queue);
                cursor.kept.take().ok_or(TryRecvError::Empty)
            }
            Found::Pinned(entry) => {
                drop(queue);
                let held = Held { shared: self, entry, position: cursor.next - 1 };
                // Foreign code, with nothing locked. If it panics, `held` is let go.
                // SAFETY: the entry is pinned until `held` is dropped.
                cursor.kept = Some(unsafe { (*entry).clone_value() });
                drop(held);
                cursor.kept.take().ok_or(TryRecvError::Empty)
            }
            Found::Nothing => Err(TryRecvError::Empty),
            Found::End => Err(TryRecvError::Closed),
            Found::Lagged(count) => Err(TryRecvError::Lagged(count)),
        }
    }

    /// Gives the places that are free to the line of senders, and wakes those.
    #[inline]
    pub(super) fn serve(&self, queue: Queue<'_, T>) {
        if !queue.is_line_empty(SENDERS) {
            self.serve_some(queue);
        }
    }

    #[cold]
    fn serve_some<'a>(&'a self, mut queue: Queue<'a, T>) {
        let mut batch = WakeBatch::new();
        loop {
            while queue.shared().room() > 0 && !batch.is_full() {
                let Some(wake) = queue.grant_front_of(SENDERS, GRANTED) else { break };
                queue.shared().hold_place();
                batch.push(wake);
            }
            let done = !batch.is_full();
            drop(queue);
            if done {
                return batch.finish();
            }
            batch.wake_all();
            queue = self.queue.lock();
        }
    }

    /// Joins the line of receivers, unless there is something to look at: false.
    ///
    /// # Safety
    ///
    /// The caller owns the idle `node`, uses it with this channel only, and calls
    /// [`leave_line`](Self::leave_line) with it before it goes away.
    pub(super) unsafe fn wait_for_value(
        &self,
        cursor: &Cursor<T>,
        node: Pin<&Waiter>,
        waker: Waker,
    ) -> bool {
        let mut queue = self.queue.lock();
        let ring = queue.shared();
        let waits = ring.tail() == cursor.next && !ring.ended;
        if waits {
            // SAFETY: passed on from the caller.
            unsafe { queue.push_back(node, Some(waker)) };
        } else {
            drop(queue);
            drop(waker);
        }
        waits
    }

    /// Whether the node is in its line yet. Its waker is that of `cx` then; else it is idle.
    ///
    /// # Safety
    ///
    /// As for [`wait_for_value`](Self::wait_for_value), but for the idleness.
    #[inline]
    pub(super) unsafe fn is_queued(&self, node: Pin<&Waiter>, cx: &mut Context<'_>) -> bool {
        // SAFETY: passed on from the caller.
        node.phase() != Phase::Idle && unsafe { self.queue.poll(node, cx) }.is_pending()
    }

    /// Takes hold of a place now.
    pub(super) fn try_hold(&self) -> Result<(), Denied> {
        self.with(|ring| {
            if ring.receivers() == 0 {
                return Err(Denied::Closed);
            }
            if ring.room() == 0 {
                return Err(Denied::Full);
            }
            ring.hold_place();
            Ok(())
        })
    }

    /// Takes hold of a place, or waits for one, first come first served. An error says that there
    /// is no receiver.
    ///
    /// # Safety
    ///
    /// As for [`is_queued`](Self::is_queued).
    pub(super) unsafe fn poll_hold(
        &self,
        node: Pin<&Waiter>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Denied>> {
        if node.phase() != Phase::Idle {
            // SAFETY: passed on from the caller.
            let outcome = unsafe { self.queue.poll(node, cx) };
            return outcome.map(|outcome| match outcome {
                GRANTED => Ok(()),
                _ => Err(Denied::Closed),
            });
        }
        match self.try_hold() {
            Err(Denied::Full) => {}
            now => return Poll::Ready(now),
        }
        // Foreign code: before the lock. Dropped after it, where it is not needed.
        let waker = cx.waker().clone();
        let mut queue = self.queue.lock();
        let ring = queue.shared();
        if ring.receivers() == 0 {
            return Poll::Ready(Err(Denied::Closed));
        }
        if ring.room() > 0 {
            ring.hold_place();
            return Poll::Ready(Ok(()));
        }
        // SAFETY: passed on from the caller; the node is idle.
        unsafe { queue.push_back_to(SENDERS, node, Some(waker)) };
        Poll::Pending
    }

    /// A place that was held is free.
    pub(super) fn return_place(&self) {
        let mut queue = self.queue.lock();
        queue.shared().return_place();
        self.serve(queue);
    }

    /// Leaves a line before the node goes away. A place that was granted passes on.
    ///
    /// # Safety
    ///
    /// As for [`is_queued`](Self::is_queued).
    #[inline]
    pub(super) unsafe fn leave_line(&self, node: Pin<&Waiter>) {
        if node.phase() != Phase::Idle {
            // SAFETY: passed on from the caller.
            unsafe { self.leave_line_slowly(node) };
        }
    }

    /// # Safety
    ///
    /// As for [`leave_line`](Self::leave_line).
    #[cold]
    unsafe fn leave_line_slowly(&self, node: Pin<&Waiter>) {
        let mut queue = self.queue.lock();
        // SAFETY: passed on from the caller.
        let removed = unsafe { queue.remove(node) };
        if let Removed::Done(GRANTED) = removed {
            queue.shared().return_place();
            return self.serve(queue);
        }
        drop(queue);
        // Foreign code: the waker, if there is one, is dropped here, after the lock.
        drop(removed);
    }

    pub(super) fn add_sender(&self) {
        // Relaxed: made from a sender that is alive, as a reference count is.
        self.senders.fetch_add(1, Relaxed);
    }

    /// From weak to strong, unless no sender is left.
    pub(super) fn revive_sender(&self) -> bool {
        // Relaxed: only a first guess for the exchange below.
        let mut count = self.senders.load(Relaxed);
        while count != 0 {
            // Relaxed: a count that is not zero keeps the channel open; nothing is published.
            match self.senders.compare_exchange_weak(count, count + 1, Relaxed, Relaxed) {
                Ok(_) => return true,
                Err(now) => count = now,
            }
        }
        false
    }

    pub(super) fn remove_sender(&self) {
        // Release: what this sender did. Acquire: what all did, for the last one to pass on.
        if self.senders.fetch_sub(1, AcqRel) != 1 {
            return;
        }
        let mut queue = self.queue.lock();
        queue.shared().ended = true;
        queue.release_all(LOOK);
    }

    pub(super) fn add_weak_sender(&self) {
        // Relaxed: counted for information only.
        self.weak_senders.fetch_add(1, Relaxed);
    }

    pub(super) fn remove_weak_sender(&self) {
        // Relaxed: counted for information only.
        self.weak_senders.fetch_sub(1, Relaxed);
    }

    /// Strong and weak senders, for information.
    pub(super) fn sender_counts(&self) -> (usize, usize) {
        // Relaxed: the answer may be old when it arrives.
        (self.senders.load(Relaxed), self.weak_senders.load(Relaxed))
    }
}

/// A value that is being cloned.
struct Held<'a, T> {
    shared: &'a Shared<T>,
    entry: *const Entry<T>,
    position: u64,
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        let mut queue = self.shared.queue.lock();
        // SAFETY: `find` returned it for this position, and this is dropped once.
        let value = unsafe { queue.shared().unpin(self.entry, self.position) };
        self.shared.serve(queue);
        // Foreign code: after the lock, and after the wakes.
        drop(value);
    }
}

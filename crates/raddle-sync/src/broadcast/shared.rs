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

use raddle_base::wait::{Locked, Phase, Removed, WaitQueue, Waiter, WakeBatch};

use super::entry::{Entry, Stock};
use super::error::TryRecvError;
use super::ring::{Found, Ring};
use crate::audience::Audience;
use crate::ends::{Count, Counted, Senders};

/// The line of senders; that of receivers is the first.
pub(super) const SENDERS: usize = 1;

/// Outcomes of waits: for receivers, look; for senders, a place is held, or no receiver is left.
const LOOK: u8 = 1;
const GRANTED: u8 = 2;
pub(super) const REFUSED: u8 = 3;

/// Of a sender: the places it wants. A receiver wants none.
pub(crate) type Wanted = usize;

pub(super) type Queue<'a, T> = Locked<'a, Wanted, Ring<T>, 2>;

/// Why a sender has no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Denied {
    /// There is no receiver.
    Closed,
    Full,
}

pub(crate) struct Shared<T> {
    pub(super) queue: WaitQueue<Wanted, Ring<T>, 2>,
    pub(super) audience: Audience,
    pub(super) senders: Count,
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
            senders: Count::new(),
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
        ring.spoken.give_back(1);
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
            while !batch.is_full() {
                let want = queue.front_of(SENDERS, |want| *want);
                if !queue.shared().serve(want) {
                    break;
                }
                let Some(wake) = queue.grant_front_of(SENDERS, GRANTED) else { break };
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
        node: Pin<&Waiter<Wanted>>,
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
    pub(super) unsafe fn is_queued(
        &self,
        node: Pin<&Waiter<Wanted>>,
        cx: &mut Context<'_>,
    ) -> bool {
        // SAFETY: passed on from the caller.
        node.phase() != Phase::Idle && unsafe { self.queue.poll(node, cx) }.is_pending()
    }

    /// Takes hold of `count` places now.
    pub(super) fn try_hold(&self, count: usize) -> Result<(), Denied> {
        self.with(|ring| {
            if ring.receivers() == 0 {
                return Err(Denied::Closed);
            }
            if ring.room() < count {
                return Err(Denied::Full);
            }
            ring.spoken.hold(count);
            Ok(())
        })
    }

    /// Takes hold of `count` places, or waits for them, first come first served. An error says that
    /// there is no receiver.
    ///
    /// # Safety
    ///
    /// As for [`is_queued`](Self::is_queued); the node's payload is the same number.
    pub(super) unsafe fn poll_hold(
        &self,
        node: Pin<&Waiter<Wanted>>,
        count: usize,
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
        match self.try_hold(count) {
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
        if ring.room() >= count {
            ring.spoken.hold(count);
            return Poll::Ready(Ok(()));
        }
        // SAFETY: passed on from the caller; the node is idle.
        unsafe { queue.push_back_to(SENDERS, node, Some(waker)) };
        // Places that are free but too few are gathered from now on. Nobody is woken by that.
        self.serve(queue);
        Poll::Pending
    }

    /// Places that were held are free.
    pub(super) fn return_places(&self, count: usize) {
        let mut queue = self.queue.lock();
        queue.shared().spoken.give_back(count);
        self.serve(queue);
    }

    /// Leaves a line before the node goes away. Places that were granted, `count` of them, pass on.
    ///
    /// # Safety
    ///
    /// As for [`is_queued`](Self::is_queued).
    #[inline]
    pub(super) unsafe fn leave_line(&self, node: Pin<&Waiter<Wanted>>, count: usize) {
        if node.phase() != Phase::Idle {
            // SAFETY: passed on from the caller.
            unsafe { self.leave_line_slowly(node, count) };
        }
    }

    /// # Safety
    ///
    /// As for [`leave_line`](Self::leave_line).
    #[cold]
    unsafe fn leave_line_slowly(&self, node: Pin<&Waiter<Wanted>>, count: usize) {
        let mut queue = self.queue.lock();
        // SAFETY: passed on from the caller.
        let removed = unsafe { queue.remove(node) };
        if let Removed::Done(GRANTED) = removed {
            queue.shared().spoken.give_back(count);
            return self.serve(queue);
        }
        if queue.shared().spoken.is_gathering() {
            // It may have been the first in line, and the one behind it wants less.
            self.serve_some(queue);
        } else {
            drop(queue);
        }
        // Foreign code: the waker, if there is one, is dropped here, after the lock.
        drop(removed);
    }
}

impl<T> Counted<Senders> for Shared<T> {
    fn count(&self) -> &Count {
        &self.senders
    }

    fn last_left(&self) {
        let mut queue = self.queue.lock();
        queue.shared().ended = true;
        queue.release_all(LOOK);
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

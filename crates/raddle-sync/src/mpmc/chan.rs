//! What the ends of a channel share, and what is done under its lock.
//!
//! # Question
//!
//! Many senders and many receivers pass values, each to one receiver, first come first served on
//! both sides. Some wait, and any of them may give up at any moment, also after it was served. How
//! is no value lost, given twice, or overtaken?
//!
//! # States
//!
//! One small lock guards all: it is that of the wait queue, whose two lines are the receivers and
//! the senders that wait (`state.rs`). A *value* is with its sender, in the store (or on offer: in
//! the hands of a sender that waits in a rendezvous), or with a receiver. A *place* is free, taken
//! by a value in the store, or reserved by a permit. A receiver that waits is *promised* one of
//! the values and woken; the value stays where it is until the receiver comes for it.
//!
//! | | receivers wait | nobody waits | senders wait |
//! |---|---|---|---|
//! | values | all of them are promised | any | any |
//! | places | any | any | all are taken or reserved |
//!
//! # Protocol
//!
//! *Send*: if there is a place, push, and promise the value to the receiver that waits first. Else
//! wait, with the value in hand. *Receive*: if there is a value that is promised to nobody, take
//! the one at the front; its place goes to the sender that waits first, whose value is moved in.
//! Else wait; once woken, the promise gives a right to the value at the front. *Give up*: a
//! receiver leaves its line, or gives its promise back, which goes to the next in line. A sender
//! leaves its line with its value, unless that was taken: then it was sent. *Close*: senders that
//! wait are refused; receivers that wait are when nothing is left, and no place is reserved.
//!
//! # Race
//!
//! All decisions are made under one lock, so that its order is the only race. *Served against
//! giving up*: whoever serves publishes it in the node under the lock, and who gives up looks at
//! its node under the lock: exactly one outcome. *A sender of a rendezvous takes back what was
//! promised*: the woken receiver finds nothing, and waits again as the first.
//!
//! # Proof
//!
//! The two rows of the table hold after each operation: a value or a place that becomes free is
//! given away in the same critical section while somebody waits (`promise`, `admit`, `settle`). So
//! a newcomer that finds one free overtakes nobody. Values leave the store at the front only, and
//! by whoever has the right to one; a receiver that gives up moves no value, so it cannot change
//! their order. Wakers and destructors run after the lock was released; a value taken in an
//! operation whose waker panics goes back to the front. Models: `model_mpmc_send_against_recv`,
//! `model_mpmc_two_receivers_one_value_each`, `model_mpmc_promise_against_give_up`,
//! `model_mpmc_room_against_give_up`, `model_mpmc_rendezvous_against_give_up`,
//! `model_mpmc_close_against_send`, `model_mpmc_last_sender_against_recv`,
//! `model_mpmc_last_receiver_against_send`, `model_mpmc_permit_against_close`.
//!
//! # Cost
//!
//! An operation that need not wait is one exchange, to take the lock, and a store. A ring without
//! a lock pays the exchange for its index, reads the state of its slot, and then has to look for
//! waiters behind a full fence.

use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::task::Waker;

use raddle_base::shim::Arc;
use raddle_base::wait::{Removed, Waiter, Wake, WakeBatch};

use super::error::{SendError, TryRecvError, TrySendError};
use super::state::{
    Locked, Offer, RECEIVERS, REFUSED, SENDERS, State, WaitQueue, admit, promise, take_offer,
};
use super::store::{Block, SLOTS, Store};
use crate::closing::{Closing, OnDrop};
use crate::ends::Count;

pub(crate) struct Chan<T> {
    pub(super) queue: WaitQueue<T>,
    /// Zero: a rendezvous; `usize::MAX`: no bound.
    capacity: usize,
    pub(super) senders: Count,
    pub(super) receivers: Count,
    /// What senders wait for: closed, or no receivers.
    pub(super) to_senders: Closing,
    /// What receivers wait for: closed, or no senders.
    pub(super) to_receivers: Closing,
}

// A value is moved in and out as a whole, with no foreign code in between.
impl<T> UnwindSafe for Chan<T> {}
impl<T> RefUnwindSafe for Chan<T> {}

impl<T> Chan<T> {
    /// A channel with one sender and one receiver. Panics if the capacity is beyond memory.
    pub(super) fn new(capacity: usize) -> Arc<Self> {
        let store = match capacity {
            0 | usize::MAX => Store::chain(),
            bound => Store::ring(bound),
        };
        Arc::new(Chan {
            queue: WaitQueue::new(State::new(store, capacity)),
            capacity,
            senders: Count::new(),
            receivers: Count::new(),
            to_senders: Closing::new(),
            to_receivers: Closing::new(),
        })
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Sends a value if that needs no waiting; with `hand_over` also, in a rendezvous, to a
    /// receiver that waits and has not taken it yet.
    #[inline(always)]
    pub(super) fn try_send(&self, value: T, hand_over: bool) -> Result<(), TrySendError<T>> {
        let mut queue = self.queue.lock();
        let state = queue.shared();
        if !state.has_room() || state.store.needs_block() {
            drop(queue);
            return self.try_send_slow(value, hand_over);
        }
        // SAFETY: no block is needed, and a ring has room.
        unsafe { state.store.push(value) };
        let wake = promise(&mut queue);
        drop(queue);
        call(wake);
        Ok(())
    }

    #[cold]
    fn try_send_slow(&self, value: T, hand_over: bool) -> Result<(), TrySendError<T>> {
        // Dropped after the lock.
        let mut fresh = None;
        loop {
            let mut queue = self.queue.lock();
            let in_line = !queue.is_line_empty(RECEIVERS);
            let state = queue.shared();
            if !state.is_open() {
                return Err(refusal(state, value).into());
            }
            // In a rendezvous: more receivers wait, or come for a promise, than there are values.
            let is_wanted = in_line || state.available() < state.promised;
            let is_handed = hand_over && self.capacity == 0 && is_wanted;
            if !state.has_room() && !is_handed {
                return Err(TrySendError::Full(value));
            }
            if state.store.needs_block() {
                let Some(block) = fresh.take() else {
                    drop(queue);
                    // The allocator works outside of the lock.
                    fresh = Some(Block::allocate(SLOTS));
                    continue;
                };
                state.store.give(block);
            }
            // SAFETY: no block is needed now, and a ring has room.
            unsafe { state.store.push(value) };
            let wake = promise(&mut queue);
            drop(queue);
            call(wake);
            return Ok(());
        }
    }

    /// Sends a value, and pushes the oldest one out if there is no room.
    pub(super) fn force_send(&self, value: T) -> Result<Option<T>, TrySendError<T>> {
        let mut queue = self.queue.lock();
        let state = queue.shared();
        if !state.is_open() {
            return Err(refusal(state, value).into());
        }
        let out = if state.has_room() {
            None
        } else if state.store.len() > 0 {
            // SAFETY: there is a value.
            Some(unsafe { state.store.pop() })
        } else {
            return Err(TrySendError::Full(value));
        };
        // SAFETY: it is a ring, and has room or a value less than before.
        unsafe { state.store.push(value) };
        let wake = promise(&mut queue);
        drop(queue);
        call(wake);
        Ok(out)
    }

    /// Takes a value that is promised to nobody.
    #[inline(always)]
    pub(super) fn try_recv(&self) -> Result<T, TryRecvError> {
        let mut queue = self.queue.lock();
        let state = queue.shared();
        if state.store.len() <= state.promised {
            return self.try_recv_slow(queue);
        }
        Ok(self.take_stored(queue))
    }

    #[cold]
    fn try_recv_slow(&self, mut queue: Locked<'_, T>) -> Result<T, TryRecvError> {
        let state = queue.shared();
        if state.free() > 0 { Ok(self.take(queue)) } else { Err(why_none(state)) }
    }

    /// Takes the value that was promised to the caller; `Empty` if it was taken back since.
    pub(super) fn recv_promised(&self) -> Result<T, TryRecvError> {
        let mut queue = self.queue.lock();
        let state = queue.shared();
        state.promised -= 1;
        if state.available() > 0 { Ok(self.take(queue)) } else { Err(why_none(state)) }
    }

    /// Takes the value at the front; there is one, and it is the caller's.
    fn take<'a>(&'a self, mut queue: Locked<'a, T>) -> T {
        if queue.shared().store.len() > 0 {
            return self.take_stored(queue);
        }
        let Some((value, wake)) = take_offer(&mut queue) else {
            unreachable!("what is available is in the store or on offer");
        };
        self.hand_out(queue, value, Some(wake))
    }

    #[inline(always)]
    fn take_stored<'a>(&'a self, mut queue: Locked<'a, T>) -> T {
        let state = queue.shared();
        // SAFETY: there is a value.
        let value = unsafe { state.store.pop() };
        if state.is_calm() && queue.is_line_empty(SENDERS) {
            return value;
        }
        self.hand_out(queue, value, None)
    }

    /// Serves those who waited for this value to be taken, with the value kept safe meanwhile.
    #[cold]
    fn hand_out<'a>(&'a self, mut queue: Locked<'a, T>, value: T, wake: Option<Wake>) -> T {
        let _drained = queue.shared().store.take_drained();
        let mut value = Some(value);
        // Foreign code runs in `settle`, which may panic: the value is not lost by that.
        let back = OnDrop(|| {
            if let Some(value) = value.take() {
                self.put_back(value);
            }
        });
        let mut batch = WakeBatch::new();
        if let Some(wake) = wake {
            batch.push(wake);
        }
        self.settle(queue, &mut batch);
        std::mem::forget(back);
        match value {
            Some(value) => value,
            None => unreachable!("the value is put back only by a panic"),
        }
    }

    /// Puts a value back to the front.
    #[cold]
    fn put_back(&self, value: T) {
        // Dropped after the lock, both.
        let (mut value, mut fresh) = (Some(value), None);
        loop {
            let mut queue = self.queue.lock();
            let state = queue.shared();
            if !state.has_receivers {
                return;
            }
            match state.store.push_front(&mut value, state.spoken.count(), &mut fresh) {
                Ok(()) => return self.settle(queue, &mut WakeBatch::new()),
                Err(slots) => {
                    drop(queue);
                    fresh = Some(Block::allocate(slots));
                }
            }
        }
    }

    /// Takes up to `limit` values into a buffer; with `promised`, one of them was promised.
    pub(super) fn take_many(
        &self,
        buffer: &mut Vec<T>,
        limit: usize,
        mut promised: bool,
    ) -> Result<usize, TryRecvError> {
        let mut batch = WakeBatch::new();
        loop {
            let mut queue = self.queue.lock();
            let state = queue.shared();
            if std::mem::take(&mut promised) {
                state.promised -= 1;
            }
            let count = state.free().min(limit);
            if count == 0 {
                return Err(why_none(state));
            }
            if buffer.capacity() - buffer.len() < count {
                drop(queue);
                // The allocator works outside of the lock.
                buffer.reserve(count);
                continue;
            }
            let mut taken = 0;
            while taken < count && !batch.is_full() {
                let state = queue.shared();
                if state.store.len() > 0 {
                    // SAFETY: there is a value.
                    buffer.push(unsafe { state.store.pop() });
                } else if let Some((value, wake)) = take_offer(&mut queue) {
                    buffer.push(value);
                    batch.push(wake);
                }
                taken += 1;
            }
            let _drained = queue.shared().store.take_drained();
            // Foreign code, which may panic: the values are in the caller's buffer.
            self.settle(queue, &mut batch);
            return Ok(taken);
        }
    }

    /// Gives what is free to those who wait, and wakes them with the lock released.
    pub(super) fn settle<'a>(&'a self, mut queue: Locked<'a, T>, batch: &mut WakeBatch) {
        loop {
            let settled = loop {
                if batch.is_full() {
                    break false;
                }
                let Some(wake) = admit(&mut queue).or_else(|| promise(&mut queue)) else {
                    break true;
                };
                batch.push(wake);
            };
            if settled && queue.shared().is_at_end() {
                queue.release_all(REFUSED);
                return batch.finish();
            }
            drop(queue);
            if settled {
                return batch.finish();
            }
            batch.wake_all();
            queue = self.queue.lock();
        }
    }

    /// Puts a receiver in line. False if there is no need to wait: look again.
    ///
    /// # Safety
    ///
    /// The caller owns `node`, which is idle, and calls [`leave`](Self::leave) with it before it
    /// goes away.
    pub(super) unsafe fn wait_for_value(
        &self,
        node: Pin<&Waiter<Offer<T>>>,
        waker: Waker,
        again: bool,
    ) -> bool {
        let mut queue = self.queue.lock();
        let state = queue.shared();
        if state.free() > 0 || state.is_at_end() {
            // The waker is foreign code: it is dropped after the lock.
            drop(queue);
            return false;
        }
        // SAFETY: passed on from the caller.
        unsafe {
            if again {
                queue.push_front_to(RECEIVERS, node, Some(waker));
            } else {
                queue.push_back_to(RECEIVERS, node, Some(waker));
            }
        }
        true
    }

    /// Puts a sender in line, with its value or for `count` places. False if there is no need to
    /// wait: look again.
    ///
    /// # Safety
    ///
    /// As for [`wait_for_value`](Self::wait_for_value); what the payload points to lives as long
    /// as the node.
    pub(super) unsafe fn wait_for_room(
        &self,
        node: Pin<&Waiter<Offer<T>>>,
        count: usize,
        waker: Waker,
    ) -> bool {
        let mut queue = self.queue.lock();
        let state = queue.shared();
        if state.room() >= count || !state.is_open() {
            drop(queue);
            return false;
        }
        let is_rendezvous = self.capacity == 0;
        state.offers += usize::from(is_rendezvous);
        // SAFETY: passed on from the caller.
        unsafe { queue.push_back_to(SENDERS, node, Some(waker)) };
        // Places that are free but too few are gathered from now on.
        let wake = if is_rendezvous { promise(&mut queue) } else { admit(&mut queue) };
        drop(queue);
        call(wake);
        true
    }

    /// Takes a node out that may be in line. For one that was served, the outcome; what that gave
    /// is the caller's to pass on. True if a sender's value was not taken.
    ///
    /// # Safety
    ///
    /// The caller owns `node`, which was used with this channel or with none.
    pub(super) unsafe fn leave(&self, node: Pin<&Waiter<Offer<T>>>, line: usize) -> Option<u8> {
        let mut queue = self.queue.lock();
        // SAFETY: passed on from the caller.
        let removed = unsafe { queue.remove(node) };
        let state = queue.shared();
        match removed {
            Removed::Idle => None,
            Removed::Done(outcome) => Some(outcome),
            Removed::Waiting(waker) => {
                if line == SENDERS && self.capacity == 0 && state.is_open() {
                    state.offers -= 1;
                }
                if state.spoken.is_gathering() {
                    // It may have been the first in line, and the one behind it wants less.
                    self.settle(queue, &mut WakeBatch::new());
                } else {
                    // Nobody is served by this departure: each wants one value, or one place.
                    drop(queue);
                }
                // Foreign code: after the lock.
                drop(waker);
                None
            }
        }
    }

    /// A receiver that was woken gives up: its promise goes to the next.
    pub(super) fn return_promise(&self) {
        let mut queue = self.queue.lock();
        queue.shared().promised -= 1;
        self.settle(queue, &mut WakeBatch::new());
    }

    /// Why a value is refused, which is known to be.
    #[cold]
    pub(super) fn refuse<V>(&self, value: V) -> SendError<V> {
        refusal(self.queue.lock().shared(), value)
    }
}

/// Wakes whoever was served, with the lock released.
#[inline]
pub(super) fn call(wake: Option<Wake>) {
    if let Some(wake) = wake {
        wake.wake();
    }
}

pub(super) fn refusal<T, V>(state: &State<T>, value: V) -> SendError<V> {
    if state.closed { SendError::Closed(value) } else { SendError::Disconnected(value) }
}

fn why_none<T>(state: &State<T>) -> TryRecvError {
    match (state.is_at_end(), state.closed) {
        (false, _) => TryRecvError::Empty,
        (true, true) => TryRecvError::Closed,
        (true, false) => TryRecvError::Disconnected,
    }
}

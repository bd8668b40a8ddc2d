//! What the ends of a channel share.
//!
//! # Question
//!
//! Many senders and one receiver pass values through one list. How does the receiver sleep and
//! wake without a gap, and how does it know that nothing more will come, while senders come and
//! go, hold places they reserved, or wait for room?
//!
//! # States
//!
//! Under the lock: the values, the sleeping receiver's waker, and
//!
//! | flag | set by | meaning |
//! |---|---|---|
//! | `orphaned` | the last sender | nobody is left to send |
//! | `closed` | the receiver, closing | no new places; reserved ones may still be used |
//! | `gone` | the receiver, dropped | values are refused |
//!
//! In front of it, `permits` (bounded channels only) counts room: a permit is free, with a waiter,
//! held by a sender, *or held by a value* until that is received.
//!
//! # Protocol
//!
//! *Send*: get a permit; lock; push; take the receiver's waker; unlock; wake. *Receive*: pop from
//! the blocks in hand; without any, lock and take all blocks; without any there either, leave the
//! waker and return. Then the value's permit goes back. *End*: the receiver returns `None` if it
//! finds, with the lock held, no values and either `orphaned`, or `closed` with all permits free.
//!
//! # Race
//!
//! *Receiver against sender*: looking for values and leaving the waker is one critical section, and
//! so is pushing and taking the waker. *Close against a reserved place*: a value holds its permit,
//! so "all permits free" means that no place is in use; whoever gives a place back unused looks
//! whether the channel is closed, after it did so, and wakes the receiver. One word holds both the
//! count and the end, so one of the two sees the other.
//!
//! # Proof
//!
//! A value is in one place at any time: with the sender, in the list, in the receiver's blocks, or
//! returned. `gone` is set in the critical section that takes the list away, so a later push is
//! refused and gives the value back. Models: `model_mpsc_send_against_close`,
//! `model_mpsc_send_against_drop`, `model_mpsc_last_sender_against_recv`,
//! `model_mpsc_reserved_place_against_close`, `model_mpsc_room_against_wait`.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use raddle_base::shim::Arc;
use raddle_base::shim::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use raddle_base::shim::atomic::{AtomicBool, AtomicUsize};
use raddle_base::shim::mutex::Mutex;
use raddle_base::wait::WaitKind;

use super::chunks::{Block, Draining, Filling};
use crate::notify::{Notified, Notify};
use crate::permits::Permits;

/// The capacity of a channel without bound.
pub(super) const UNBOUNDED: usize = usize::MAX;

pub(super) struct Chan<T> {
    /// Room. Unused if the capacity is [`UNBOUNDED`].
    pub(super) permits: Permits,
    pub(super) capacity: usize,
    inner: Mutex<Inner<T>>,
    /// The same as `closed` or `gone` under the lock, for a look without it.
    closed: AtomicBool,
    /// Wakes who waits for the receiver to close.
    on_close: Notify,
    senders: AtomicUsize,
    weak_senders: AtomicUsize,
}

struct Inner<T> {
    values: Filling<T>,
    waker: Option<Waker>,
    orphaned: bool,
    closed: bool,
    gone: bool,
}

/// What the receiver found when it looked for values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Values, which it has now.
    Values,
    Nothing,
    /// Nothing, and the next sender will wake this task.
    Awaited,
    End,
}

/// What a closing receiver takes with it, to be dropped where nothing is locked.
pub(super) struct Remains<T> {
    _values: Filling<T>,
    _waker: Option<Waker>,
}

impl<T> Chan<T> {
    /// A channel with one sender.
    pub(super) fn new(capacity: usize) -> Arc<Self> {
        let room = if capacity == UNBOUNDED { 0 } else { capacity };
        Arc::new(Chan {
            permits: Permits::new(room),
            capacity,
            inner: Mutex::new(Inner {
                values: Filling::new(),
                waker: None,
                orphaned: false,
                closed: false,
                gone: false,
            }),
            closed: AtomicBool::new(false),
            on_close: Notify::new(),
            senders: AtomicUsize::new(1),
            weak_senders: AtomicUsize::new(0),
        })
    }

    pub(super) fn is_bounded(&self) -> bool {
        self.capacity != UNBOUNDED
    }

    /// Adds a value whose place the caller holds, or gives it back if it cannot be received.
    #[inline]
    pub(super) fn push(&self, value: T) -> Result<(), T> {
        let mut inner = self.inner.lock();
        if inner.refuses(self) {
            return Err(value);
        }
        match inner.push(value) {
            Ok(waker) => {
                drop(inner);
                wake(waker);
                Ok(())
            }
            Err(value) => {
                drop(inner);
                self.push_with_block(value)
            }
        }
    }

    /// As [`push`](Self::push), bringing a block.
    #[cold]
    fn push_with_block(&self, value: T) -> Result<(), T> {
        // Allocated before the lock is taken. What is in here at the end is freed after it.
        let mut block = Some(Block::allocate());
        let mut inner = self.inner.lock();
        if inner.refuses(self) {
            return Err(value);
        }
        // Another sender may have brought a block meanwhile.
        let pushed = inner.push(value).or_else(|value| {
            block = block.take().and_then(|block| inner.values.add(block));
            inner.push(value)
        });
        drop(inner);
        pushed.map(wake)
    }

    /// Looks for values; `mine` is empty and gets all there are, or all full blocks.
    pub(super) fn look(&self, mine: &mut Draining<T>, who: Option<&Waker>) -> Found {
        let mut inner = self.inner.lock();
        let found = inner.find(self, mine);
        match (found, &inner.waker, who) {
            (Found::Nothing, Some(waker), Some(who)) if waker.will_wake(who) => Found::Awaited,
            _ => found,
        }
    }

    /// As [`look`](Self::look); if there is nothing, leaves the waker in the same step.
    pub(super) fn look_or_wait(&self, mine: &mut Draining<T>, cx: &mut Context<'_>) -> Found {
        // Foreign code: before the lock. What is in here after is dropped after it.
        let mut waker = Some(cx.waker().clone());
        let mut inner = self.inner.lock();
        let found = inner.find(self, mine);
        if found == Found::Nothing {
            std::mem::swap(&mut inner.waker, &mut waker);
        }
        drop(inner);
        found
    }

    /// Values in the list, without those in the receiver's hands.
    pub(super) fn len(&self) -> usize {
        self.inner.lock().values.len()
    }

    /// Whether the receiver finds the end once it has no values in hand.
    pub(super) fn is_at_end(&self) -> bool {
        self.inner.lock().is_at_end(self)
    }

    /// A place that was held comes back unused.
    pub(super) fn return_places(&self, count: usize) {
        self.permits.release(count);
        self.places_returned();
    }

    /// Places came back: a receiver that waits for the last of them after closing must look.
    pub(super) fn places_returned(&self) {
        if self.permits.is_closed() {
            self.wake_receiver();
        }
    }

    fn wake_receiver(&self) {
        let waker = self.inner.lock().waker.take();
        wake(waker);
    }

    /// The receiver closes, and if `gone`, refuses what is still on its way.
    pub(super) fn close(&self, gone: bool) -> Option<Remains<T>> {
        let mut inner = self.inner.lock();
        inner.closed = true;
        inner.gone |= gone;
        let remains = gone.then(|| Remains {
            _values: std::mem::replace(&mut inner.values, Filling::new()),
            _waker: inner.waker.take(),
        });
        drop(inner);
        // Release: who sees the end sees what led to it.
        self.closed.store(true, Release);
        // Also if a waker of the first group panics.
        let _then = OnDrop(|| self.on_close.notify_waiters());
        self.permits.close();
        remains
    }

    pub(super) fn is_closed(&self) -> bool {
        // Acquire: what led to the end is visible.
        self.closed.load(Acquire)
    }

    #[track_caller]
    pub(super) fn closed(&self) -> Closed<'_> {
        Closed { flag: &self.closed, notified: self.on_close.notified_as(WaitKind::Closed) }
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
        // Release: what this sender did; Acquire: what all others did, to be passed on below.
        if self.senders.fetch_sub(1, AcqRel) != 1 {
            return;
        }
        let mut inner = self.inner.lock();
        inner.orphaned = true;
        let waker = inner.waker.take();
        drop(inner);
        wake(waker);
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

impl<T> Inner<T> {
    /// Adds a value and takes the waker of a receiver that waits for it.
    #[inline]
    fn push(&mut self, value: T) -> Result<Option<Waker>, T> {
        self.values.push(value)?;
        Ok(self.waker.take())
    }

    /// Whether a value would never be received.
    #[inline]
    fn refuses(&self, chan: &Chan<T>) -> bool {
        self.gone || (self.closed && !chan.is_bounded())
    }

    #[inline]
    fn find(&mut self, chan: &Chan<T>, mine: &mut Draining<T>) -> Found {
        if mine.refill(&mut self.values) {
            Found::Values
        } else if self.is_at_end(chan) {
            Found::End
        } else {
            Found::Nothing
        }
    }

    fn is_at_end(&self, chan: &Chan<T>) -> bool {
        let places_free = || !chan.is_bounded() || chan.permits.available() == chan.capacity;
        self.values.len() == 0 && (self.orphaned || (self.closed && places_free()))
    }
}

/// Foreign code: not under the lock.
#[inline]
fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// Runs a closure when dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// The future of [`Sender::closed`](super::Sender::closed) and its unbounded twin.
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Closed<'a> {
    flag: &'a AtomicBool,
    notified: Notified<'a>,
}

impl Future for Closed<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // Acquire: what led to the end is visible.
        if self.flag.load(Acquire) {
            return Poll::Ready(());
        }
        // SAFETY: the inner future is pinned with the whole, and never moved out of it. It was
        // made before the look at the flag, so an end that the look missed has notified it.
        unsafe { self.map_unchecked_mut(|closed| &mut closed.notified) }.poll(cx)
    }
}

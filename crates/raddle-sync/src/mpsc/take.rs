//! The receiving side of the core: the head, what it finds there, and how it sleeps.
//!
//! States and protocol stand in `chan.rs`. A place is given back *before* the value is moved out:
//! giving back wakes a sender, foreign code that may panic, and the value is then still in its
//! slot, to be received next, with its place marked as given back already.

use std::task::{Context, Poll, ready};

use raddle_base::backoff::Backoff;
use raddle_base::context;
use raddle_base::shim::model::bound;
use raddle_base::shim::{Arc, hint, thread};
use raddle_base::wait::WaitKind;

use super::block::{Block, SLOTS};
use super::chan::Chan;
use super::error::TryRecvError;
use super::kind::Kind;
use super::word::Word;
use crate::permits::Permits;

/// The receiving end, without its face.
pub(super) struct Rx<T, K: Kind> {
    pub(super) chan: Arc<Chan<T, K>>,
    /// The next position to receive,
    head: usize,
    /// the block it lies in,
    block: *mut Block<T>,
    /// and the first block that is not reused yet.
    oldest: *mut Block<T>,
    /// Where claims end that are honoured: in a channel without a bound, after closing.
    end: Option<usize>,
    /// ASLEEP is set in the word.
    asleep: bool,
    /// The place of the value at the head was given back.
    returned: bool,
}

// SAFETY: blocks are accessed by the rules of `block.rs`; values cross threads with the receiver.
unsafe impl<T: Send, K: Kind> Send for Rx<T, K> {}
// SAFETY: a shared reference to the receiving end gives counts, and no access to values.
unsafe impl<T: Send, K: Kind> Sync for Rx<T, K> {}

/// What is at the head.
enum Look {
    Value,
    /// Claimed, when the word was this.
    UnderWay(usize),
    /// Nothing, when the word was this.
    Nothing(usize),
    End,
}

impl<T, K: Kind> Rx<T, K> {
    pub(super) fn new(chan: Arc<Chan<T, K>>) -> Self {
        let block = chan.blocks.first();
        // SAFETY: nothing was sent yet, so the first block is still there.
        let head = unsafe { (*block).start() };
        Rx { chan, head, block, oldest: block, end: None, asleep: false, returned: false }
    }

    #[inline]
    fn block(&self) -> &Block<T> {
        // SAFETY: the receiver's block is alive until it moves on.
        unsafe { &*self.block }
    }

    #[inline]
    fn is_ready(&self) -> bool {
        self.block().is_ready(self.head)
    }

    fn look(&self) -> Look {
        // Before the word: what the last sender sent is below the tail then.
        let orphaned = self.chan.senders.is_zero();
        if self.is_ready() {
            return Look::Value;
        }
        if self.end == Some(self.head) {
            return Look::End;
        }
        let word = self.chan.word.load();
        if Word::<K>::tail(word) != self.head {
            return if self.is_ready() { Look::Value } else { Look::UnderWay(word) };
        }
        let all_free = || K::PLACES == 0 || Permits::<K>::free(word) == self.chan.capacity;
        if orphaned || (Permits::<K>::closed(word) && all_free()) {
            return Look::End;
        }
        Look::Nothing(word)
    }

    /// Moves out the value at the head, which is ready, and gives its place back.
    #[inline]
    fn take(&mut self) -> T {
        if K::PLACES != 0 {
            if !self.returned {
                self.returned = true;
                // Foreign code, which may panic: the value is still in its slot.
                self.chan.permits().give_back(1);
            }
            self.returned = false;
        }
        self.take_value()
    }

    #[inline]
    fn take_value(&mut self) -> T {
        // SAFETY: the slot is ready, and the head moves on before anything else can happen.
        let value = unsafe { self.block().read(self.head) };
        self.head = Word::<K>::after(self.head, 1);
        if self.asleep {
            self.asleep = false;
            self.chan.word.awake();
        }
        if self.head.is_multiple_of(SLOTS) {
            self.next_block();
        }
        value
    }

    /// Moves on to the next block, and gives back those that no sender can come to any more.
    #[cold]
    fn next_block(&mut self) {
        // It is there: it was linked before the first slot of the drained block was ready.
        self.block = self.chan.blocks.next_of::<K>(self.block());
        while self.oldest != self.block {
            // SAFETY: the blocks from `oldest` to the receiver's are alive and linked.
            let oldest = unsafe { &*self.oldest };
            let past = |tail| Word::<K>::distance(tail, self.head) <= Word::<K>::FURTHEST;
            if !oldest.released().is_some_and(past) {
                return;
            }
            let next = self.chan.blocks.next_of::<K>(oldest);
            // SAFETY: all values were moved out, and those senders that might come here have
            // finished (`blocks.rs`).
            unsafe { self.chan.blocks.reuse(self.oldest) };
            self.oldest = next;
        }
    }

    #[inline]
    pub(super) fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        ready!(context::check_budget(cx));
        if !self.is_ready() && !ready!(self.poll_ready(cx)) {
            context::spend();
            return Poll::Ready(None);
        }
        context::spend();
        Poll::Ready(Some(self.take()))
    }

    /// Waits until the value at the head is ready: true; or the channel is at its end.
    #[cold]
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let mut left = false;
        let mut spins = bound(64, 1);
        loop {
            match self.look() {
                Look::Value => return Poll::Ready(true),
                Look::End => return Poll::Ready(false),
                // The first time around: leave the waker, then look again.
                Look::Nothing(_) if !left => {
                    self.chan.receiver.register(cx.waker());
                    left = true;
                }
                Look::Nothing(word) => {
                    if Word::<K>::is_asleep(word) || self.chan.word.sleep(word) {
                        self.asleep = true;
                        context::waits(WaitKind::Value, None);
                        return Poll::Pending;
                    }
                }
                // Its sender has seen that the receiver is asleep, and will wake it.
                Look::UnderWay(word) if Word::<K>::is_asleep(word) => {
                    if left {
                        context::waits(WaitKind::Value, None);
                        return Poll::Pending;
                    }
                    self.chan.receiver.register(cx.waker());
                    left = true;
                }
                Look::UnderWay(_) if spins > 0 => {
                    spins -= 1;
                    hint::spin_loop();
                }
                Look::UnderWay(_) => {
                    thread::yield_now();
                    context::yield_back(cx);
                    return Poll::Pending;
                }
            }
        }
    }

    /// As [`poll_ready`](Self::poll_ready), without waiting for more than a send under way.
    fn try_ready(&self) -> Result<(), TryRecvError> {
        let mut backoff = Backoff::new();
        loop {
            match self.look() {
                Look::Value => return Ok(()),
                Look::End => return Err(TryRecvError::Disconnected),
                Look::Nothing(_) => return Err(TryRecvError::Empty),
                Look::UnderWay(_) => backoff.snooze(),
            }
        }
    }

    pub(super) fn try_recv(&mut self) -> Result<T, TryRecvError> {
        if !self.is_ready() {
            self.try_ready()?;
        }
        Ok(self.take())
    }

    pub(super) fn poll_recv_many(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut Vec<T>,
        limit: usize,
    ) -> Poll<usize> {
        if limit == 0 {
            return Poll::Ready(0);
        }
        ready!(context::check_budget(cx));
        if !self.is_ready() && !ready!(self.poll_ready(cx)) {
            return Poll::Ready(0);
        }
        context::spend();
        let mut count = 0;
        while count < limit && self.is_ready() {
            buffer.push(self.take_value());
            count += 1;
        }
        if K::PLACES != 0 {
            let returned = usize::from(std::mem::take(&mut self.returned));
            // Foreign code, which may panic: the values are in the caller's buffer.
            self.chan.permits().give_back(count - returned);
        }
        Poll::Ready(count)
    }

    /// Values that were sent and not received.
    pub(super) fn len(&self) -> usize {
        let tail = self.end.unwrap_or_else(|| Word::<K>::tail(self.chan.word.load()));
        Word::<K>::distance(self.head, tail)
    }

    pub(super) fn is_at_end(&self) -> bool {
        matches!(self.look(), Look::End)
    }

    pub(super) fn close(&mut self) {
        if K::PLACES != 0 {
            self.chan.close();
        } else if self.end.is_none() {
            self.end = Some(self.chan.close());
        }
    }

    /// Closed by this end, or by the last sender.
    pub(super) fn is_closed(&self) -> bool {
        self.chan.is_closed() || self.chan.senders.strong() == 0
    }
}

impl<T, K: Kind> Drop for Rx<T, K> {
    fn drop(&mut self) {
        let tail = self.chan.word.leave();
        let end = self.end.unwrap_or(tail);
        // Dropped last: wakes the senders first, then the values go.
        let _rest = Rest(self, end);
        _rest.0.chan.close();
    }
}

/// Drops what was sent and not received, also if a waker or a destructor panics.
struct Rest<'a, T, K: Kind>(&'a mut Rx<T, K>, usize);

impl<T, K: Kind> Drop for Rest<'_, T, K> {
    fn drop(&mut self) {
        let mut backoff = Backoff::new();
        while self.0.head != self.1 {
            if self.0.is_ready() {
                let value = self.0.take_value();
                let rest = Rest(self.0, self.1);
                drop(value);
                std::mem::forget(rest);
            } else {
                // Claimed before this end was gone: its sender needs a few instructions.
                backoff.snooze();
            }
        }
        self.0.chan.leave_blocks(self.0.oldest);
    }
}

//! The receiving end: one owner, who takes messages one by one.

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use raddle_base::context;
use raddle_base::shim::atomic::Ordering::Relaxed;
use raddle_base::wait::{WaitKind, Wake};

use super::error::TryRecvError;
use super::policy::Policy;
use super::shared::{Entry, Shared, State};
use crate::address::Address;

/// A buffer that is larger than this many bytes is freed when the mailbox is empty.
const KEPT: usize = 256;

/// A mailbox, in the hands of whoever receives from it.
///
/// Dropping it closes it; the messages in it are dropped then.
///
/// ```
/// use raddle_actor::{Mailbox, Policy};
///
/// let mut mailbox = Mailbox::new(None, Policy::Wait);
/// let address = mailbox.address();
/// address.try_send("hello").unwrap();
/// assert_eq!(mailbox.try_recv(), Ok("hello"));
/// ```
pub struct Mailbox<M> {
    pub(super) shared: Arc<Shared<M>>,
    /// Taken out of the queue: a batch, or what a search has passed over. Older than the queue.
    pub(super) hand: VecDeque<Entry<M>>,
}

/// What a wait has to tell.
pub(super) enum Change {
    /// There are messages in the queue.
    Came,
    /// There is nothing, and nothing will come.
    Over,
}

impl<M> Mailbox<M> {
    /// A mailbox for at most `bound` messages, or any number; `policy` says what happens to more.
    pub fn new(bound: Option<NonZeroUsize>, policy: Policy) -> Self {
        Mailbox { shared: Arc::new(Shared::new(bound, policy)), hand: VecDeque::new() }
    }

    /// An address of this mailbox. As long as there is one, the receiver waits for more.
    pub fn address(&self) -> Address<M> {
        Address::new(Arc::clone(&self.shared))
    }

    /// Messages accepted and not received.
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The next message, if there is one now.
    ///
    /// # Errors
    ///
    /// If there is none.
    #[inline]
    pub fn try_recv(&mut self) -> Result<M, TryRecvError> {
        match self.take() {
            Some(message) => Ok(message),
            None if self.is_over() => self.take().ok_or(TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        }
    }

    /// The next message; `None` when none will come: the mailbox is closed and empty, or it is
    /// empty and nobody has an address of it. (Somebody may get one later, by
    /// [`address`](Self::address) or by upgrading a weak one; then the receiver can go on.)
    ///
    /// Where it is pending, the task of `cx` is woken by the next message. Spends the task's
    /// budget.
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<M>> {
        ready!(context::check_budget(cx));
        loop {
            if let Some(message) = self.take() {
                context::spend();
                return Poll::Ready(Some(message));
            }
            if let Change::Over = ready!(self.poll_wait(cx)) {
                return Poll::Ready(None);
            }
        }
    }

    /// Whether nothing will come after what is there.
    fn is_over(&self) -> bool {
        self.shared.is_closed() || !self.shared.has_address()
    }

    /// The oldest message.
    #[inline]
    pub(super) fn take(&mut self) -> Option<M> {
        if self.shared.is_bounded() { self.take_settled() } else { self.take_any() }
    }

    /// Without a bound: a batch at a time.
    #[inline]
    fn take_any(&mut self) -> Option<M> {
        if self.hand.is_empty() {
            mem::swap(&mut self.hand, &mut self.shared.queue.lock().shared().messages);
        }
        let entry = self.hand.pop_front()?;
        // Relaxed: a number that is only reported.
        self.shared.held.store(self.hand.len(), Relaxed);
        Some(entry.message)
    }

    /// With a bound: under the lock, which says what still counts, and lets a sender in.
    fn take_settled(&mut self) -> Option<M> {
        let mut spare = VecDeque::new();
        loop {
            let mut locked = self.shared.lock_with_place(&mut spare);
            let state = locked.shared();
            let shed = mem::take(&mut state.shed);
            if shed > 0 {
                drop(locked);
                self.shed(shed);
                continue;
            }
            // Relaxed: written under the lock.
            let held = self.shared.held.load(Relaxed);
            let entry = if held > 0 {
                self.shared.held.store(held - 1, Relaxed);
                self.hand.pop_front()?
            } else {
                state.messages.pop_front()?
            };
            let wake = self.shared.admit(&mut locked);
            drop(locked);
            return self.wake_with(wake, 0, entry);
        }
    }

    /// Wakes the sender that was let in. The message that was taken at `at` goes back there if the
    /// waker panics.
    #[inline]
    pub(super) fn wake_with(
        &mut self,
        wake: Option<Wake>,
        at: usize,
        entry: Entry<M>,
    ) -> Option<M> {
        let Some(wake) = wake else { return Some(entry.message) };
        let back = Back { hand: &mut self.hand, shared: &self.shared, at, entry: Some(entry) };
        wake.wake();
        back.message()
    }

    /// Drops the oldest messages in hand, without the lock.
    pub(super) fn shed(&mut self, count: u32) {
        for _ in 0..count {
            drop(self.hand.pop_front());
        }
    }

    /// Waits for a change: ready at once if there is something in the queue, or nothing will come.
    pub(super) fn poll_wait(&mut self, cx: &mut Context<'_>) -> Poll<Change> {
        let mut new: Option<Waker> = None;
        self.release_buffer();
        loop {
            let mut locked = self.shared.queue.lock();
            let over = self.shared.is_closed_locked() || !self.shared.has_address();
            let state = locked.shared();
            if !state.messages.is_empty() || over {
                let came = !state.messages.is_empty();
                drop(locked);
                return Poll::Ready(if came { Change::Came } else { Change::Over });
            }
            let old = match (&state.receiver, new.take()) {
                (Some(here), None) if here.will_wake(cx.waker()) => None,
                (_, Some(waker)) => state.receiver.replace(waker),
                (_, None) => {
                    drop(locked);
                    // Foreign code: without the lock.
                    new = Some(cx.waker().clone());
                    continue;
                }
            };
            let large = self.large_buffer(state);
            drop(locked);
            drop((old, large));
            context::waits(WaitKind::Value, None);
            return Poll::Pending;
        }
    }

    /// Frees what a burst has left in the receiver's hand.
    fn release_buffer(&mut self) {
        if self.hand.is_empty() && is_large(&self.hand) {
            self.hand = VecDeque::new();
        }
    }

    /// The same for the queue: to be dropped without the lock.
    fn large_buffer(&self, state: &mut State<M>) -> Option<VecDeque<Entry<M>>> {
        is_large(&state.messages).then(|| mem::take(&mut state.messages))
    }
}

fn is_large<M>(buffer: &VecDeque<Entry<M>>) -> bool {
    buffer.capacity() > 4 && buffer.capacity() * size_of::<Entry<M>>() > KEPT
}

/// A message on its way to the receiver: goes back into the hand if a sender's waker panics.
struct Back<'a, M> {
    hand: &'a mut VecDeque<Entry<M>>,
    shared: &'a Shared<M>,
    at: usize,
    entry: Option<Entry<M>>,
}

impl<M> Back<'_, M> {
    fn message(mut self) -> Option<M> {
        self.entry.take().map(|entry| entry.message)
    }
}

impl<M> Drop for Back<'_, M> {
    fn drop(&mut self) {
        if let Some(entry) = self.entry.take() {
            // Senders wait by one policy only, and by that nothing is shed. The bound is passed by
            // this one message until it is received.
            let locked = self.shared.queue.lock();
            // Relaxed: written under the lock.
            let held = self.shared.held.load(Relaxed);
            self.shared.held.store(held + 1, Relaxed);
            drop(locked);
            self.hand.insert(self.at, entry);
        }
    }
}

impl<M> Drop for Mailbox<M> {
    fn drop(&mut self) {
        self.shared.close();
        let mut locked = self.shared.queue.lock();
        let state = locked.shared();
        let rest = (mem::take(&mut state.messages), state.process.take(), state.receiver.take());
        drop(locked);
        drop(rest);
    }
}

impl<M> fmt::Debug for Mailbox<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let closed = self.shared.is_closed();
        f.debug_struct("Mailbox").field("len", &self.len()).field("closed", &closed).finish()
    }
}

//! What senders and receiver share: the lock, what lies under it, and the counts beside it.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::task::Waker;

use raddle_base::shim::atomic::AtomicUsize;
use raddle_base::shim::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use raddle_base::wait::{Locked, WaitQueue, Wake};

use super::policy::Policy;
use crate::control::ProcessRef;

/// Line of the wait queue in which senders wait for room.
pub(crate) const SENDERS: usize = 0;
/// Line in which others wait for the mailbox to be closed.
pub(crate) const WATCHERS: usize = 1;

/// How a wait of a sender ends: its message was let in.
pub(crate) const ACCEPTED: u8 = 1;
/// How waits end when the mailbox is closed.
pub(crate) const REFUSED: u8 = 2;

/// Bit of the word: nothing is accepted any more.
pub(crate) const CLOSED: u32 = 1;
/// One more incarnation has ended.
pub(crate) const INCARNATION: u32 = 2;

/// A message in its mailbox.
#[derive(Debug)]
pub(crate) struct Entry<M> {
    pub(crate) message: M,
    /// Somebody waits for an answer to it: not for another incarnation.
    pub(crate) is_call: bool,
}

/// The payload of a node: the message of a sender that waits.
pub(crate) type Slot<M> = Option<Entry<M>>;

pub(crate) type Queue<M> = WaitQueue<Slot<M>, State<M>, 2>;
pub(crate) type Guard<'a, M> = Locked<'a, Slot<M>, State<M>, 2>;

/// One mailbox, as all see it.
pub(crate) struct Shared<M> {
    pub(crate) queue: Queue<M>,
    /// Addresses that exist.
    addresses: AtomicUsize,
    /// Messages that the receiver has in hand and that count. In a bounded mailbox written under
    /// the lock; else by the receiver.
    pub(crate) held: AtomicUsize,
    /// The largest number of messages; `usize::MAX` is none.
    pub(crate) bound: usize,
    pub(crate) policy: Policy,
}

/// Under the lock.
pub(crate) struct State<M> {
    /// Accepted, and seen by nobody.
    pub(crate) messages: VecDeque<Entry<M>>,
    /// So many of the oldest messages in the receiver's hand are to be dropped.
    pub(crate) shed: u32,
    /// Messages that the policy dropped.
    pub(crate) dropped: u32,
    /// The receiver's task, while it waits.
    pub(crate) receiver: Option<Waker>,
    /// The process that receives now.
    pub(crate) process: Option<ProcessRef>,
}

impl<M> Shared<M> {
    pub(crate) fn new(bound: Option<NonZeroUsize>, policy: Policy) -> Self {
        let state =
            State { messages: VecDeque::new(), shed: 0, dropped: 0, receiver: None, process: None };
        Shared {
            queue: WaitQueue::new(state),
            addresses: AtomicUsize::new(0),
            held: AtomicUsize::new(0),
            bound: bound.map_or(usize::MAX, NonZeroUsize::get),
            policy,
        }
    }

    #[inline]
    pub(crate) fn is_bounded(&self) -> bool {
        self.bound != usize::MAX
    }

    /// Whether a sender waits where there is no room.
    #[inline]
    pub(crate) fn waits(&self) -> bool {
        self.policy == Policy::Wait
    }

    /// `CLOSED`, and the number of incarnations that ended.
    #[inline]
    pub(crate) fn word(&self) -> u32 {
        // Acquire: what the one who closed, or ended the incarnation, did before is visible.
        self.queue.word().load(Acquire)
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.word() & CLOSED != 0
    }

    /// The same under the lock.
    #[inline]
    pub(crate) fn is_closed_locked(&self) -> bool {
        // Relaxed: the word is written under the lock, which the caller holds.
        self.queue.word().load(Relaxed) & CLOSED != 0
    }

    /// Messages accepted and not received.
    pub(crate) fn len(&self) -> usize {
        let mut locked = self.queue.lock();
        self.len_locked(locked.shared())
    }

    #[inline]
    pub(crate) fn len_locked(&self, state: &State<M>) -> usize {
        // Relaxed: written under the lock, or only reported.
        state.messages.len() + self.held.load(Relaxed)
    }

    pub(crate) fn add_address(&self) {
        // Relaxed: whoever adds one has the mailbox or another address.
        self.addresses.fetch_add(1, Relaxed);
    }

    /// One address less. The last one wakes the receiver.
    pub(crate) fn drop_address(&self) {
        // Release: what was sent through the address is visible to the receiver when it finds
        // that there is none. Acquire: the last one has seen all others go.
        if self.addresses.fetch_sub(1, AcqRel) == 1 {
            self.wake_receiver();
        }
    }

    #[cold]
    fn wake_receiver(&self) {
        let mut locked = self.queue.lock();
        let waker = locked.shared().receiver.take();
        drop(locked);
        if let Some(waker) = waker {
            Wake::from(waker).wake();
        }
    }

    pub(crate) fn has_address(&self) -> bool {
        // Acquire: pairs with the release in `drop_address`.
        self.addresses.load(Acquire) != 0
    }

    /// Locks, with a place in the buffer for one more message if a sender waits. A buffer that was
    /// replaced is in `spare` then, to be freed after the lock.
    pub(crate) fn lock_with_place(&self, spare: &mut VecDeque<Entry<M>>) -> Guard<'_, M> {
        loop {
            let mut locked = self.queue.lock();
            if locked.is_line_empty(SENDERS) || has_place(&mut locked.shared().messages, spare) {
                return locked;
            }
            let more = larger(&locked.shared().messages);
            drop(locked);
            *spare = VecDeque::with_capacity(more);
        }
    }
}

/// Whether one more message fits the buffer without an allocation; `spare` takes the place of the
/// buffer where that helps.
#[inline]
pub(crate) fn has_place<M>(messages: &mut VecDeque<M>, spare: &mut VecDeque<M>) -> bool {
    if messages.len() < messages.capacity() {
        return true;
    }
    if spare.capacity() <= messages.len() {
        return false;
    }
    // Moves the messages; does not allocate, since they fit.
    spare.append(messages);
    std::mem::swap(spare, messages);
    true
}

/// The capacity of the next larger buffer.
pub(crate) fn larger<M>(messages: &VecDeque<M>) -> usize {
    (messages.capacity() * 2).max(4)
}

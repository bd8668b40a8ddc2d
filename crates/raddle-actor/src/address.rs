//! Addresses: the sending ends of a mailbox.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::call::{CallFor, Calling, Reply};
use crate::control::ProcessRef;
use crate::mailbox::{Closed, SendError, Sending, Shared, TrySendError};
use crate::pid::Pid;

/// Where messages for one mailbox are sent to. One pointer; cheap to clone.
///
/// It belongs to the mailbox and not to a process: it stays good when a supervisor starts the
/// process anew. A process that waits for a message when no address is left is told so.
pub struct Address<M> {
    shared: Arc<Shared<M>>,
}

impl<M> Address<M> {
    pub(crate) fn new(shared: Arc<Shared<M>>) -> Self {
        shared.add_address();
        Address { shared }
    }

    /// Sends a message. Ready at once unless the mailbox is full and its [`Policy`](crate::Policy)
    /// is to wait; senders wait in line, and messages of one sender keep their order.
    ///
    /// # Errors
    ///
    /// If the mailbox is closed, or full with the policy to reject: the message comes back.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, the message was accepted or is dropped with it;
    /// [`Sending::take_back`] tells, and gives it back.
    #[track_caller]
    #[inline]
    pub fn send(&self, message: M) -> Sending<'_, M> {
        Sending::new(&self.shared, message, false)
    }

    /// Sends a message if there is room now, and nobody waits for it.
    ///
    /// # Errors
    ///
    /// If there is no room and the policy does not make some, or the mailbox is closed: the message
    /// comes back.
    #[inline]
    pub fn try_send(&self, message: M) -> Result<(), TrySendError<M>> {
        self.shared.try_send(message)
    }

    /// Sends a request and waits for the answer. `make` is called now, with the [`Reply`] to be put
    /// into the message. One allocation, for the answer.
    ///
    /// # Errors
    ///
    /// See [`CallError`](crate::CallError).
    ///
    /// # Cancel safety
    ///
    /// A request that was accepted stays in the mailbox when the future is dropped; nobody hears
    /// the answer then. One that still waits for room is dropped with the future.
    #[track_caller]
    pub fn call<R>(&self, make: impl FnOnce(Reply<R>) -> M) -> Calling<'_, M, R> {
        Calling::new(&self.shared, make)
    }

    /// As [`call`](Self::call), for at most `limit`.
    ///
    /// # Panics
    ///
    /// The future panics when polled outside of a runtime: its timers measure the limit.
    #[track_caller]
    pub fn call_timeout<R>(
        &self,
        make: impl FnOnce(Reply<R>) -> M,
        limit: Duration,
    ) -> CallFor<'_, M, R> {
        CallFor::new(self.call(make), limit)
    }

    /// The process that receives now; `None` between two incarnations, and if none ever did.
    pub fn process(&self) -> Option<ProcessRef> {
        self.shared.queue.lock().shared().process.clone()
    }

    /// Its pid.
    pub fn pid(&self) -> Option<Pid> {
        self.process().map(|process| process.pid())
    }

    /// An address that does not keep the process waiting for more.
    pub fn downgrade(&self) -> WeakAddress<M> {
        WeakAddress { shared: Arc::downgrade(&self.shared) }
    }

    /// Whether the mailbox accepts nothing any more.
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    /// Waits until the mailbox accepts nothing any more.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    #[track_caller]
    pub fn closed(&self) -> Closed<M> {
        Closed::new(Arc::clone(&self.shared))
    }

    /// Messages accepted and not received: how many there are when this returns is another
    /// question.
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// Whether there is no message, as [`len`](Self::len).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bound of the mailbox, if it has one.
    pub fn capacity(&self) -> Option<usize> {
        self.shared.is_bounded().then_some(self.shared.bound)
    }

    /// How many messages the policy has dropped, modulo 2^32.
    pub fn dropped(&self) -> u32 {
        self.shared.queue.lock().shared().dropped
    }

    /// Whether the two lead to the same mailbox.
    pub fn same_mailbox(&self, other: &Address<M>) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl<M> Shared<M> {
    /// As [`Address::try_send`].
    #[inline]
    fn try_send(&self, message: M) -> Result<(), SendError<M>> {
        use crate::mailbox::{Entry, Offer};
        match self.offer(Entry { message, is_call: false }) {
            Offer::Done | Offer::Waiting => Ok(()),
            Offer::Full(entry) => Err(SendError::Full(entry.message)),
            Offer::Closed(entry) => Err(SendError::Closed(entry.message)),
        }
    }
}

impl<M> Clone for Address<M> {
    fn clone(&self) -> Self {
        Address::new(Arc::clone(&self.shared))
    }
}

impl<M> Drop for Address<M> {
    fn drop(&mut self) {
        self.shared.drop_address();
    }
}

impl<M> fmt::Debug for Address<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pid = self.pid();
        f.debug_struct("Address").field("pid", &pid).field("closed", &self.is_closed()).finish()
    }
}

/// An [`Address`] that does not count as one.
pub struct WeakAddress<M> {
    shared: Weak<Shared<M>>,
}

impl<M> WeakAddress<M> {
    /// The address, unless the mailbox is closed or gone.
    pub fn upgrade(&self) -> Option<Address<M>> {
        let shared = self.shared.upgrade()?;
        if shared.is_closed() { None } else { Some(Address::new(shared)) }
    }
}

impl<M> Clone for WeakAddress<M> {
    fn clone(&self) -> Self {
        WeakAddress { shared: Weak::clone(&self.shared) }
    }
}

impl<M> fmt::Debug for WeakAddress<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WeakAddress")
    }
}

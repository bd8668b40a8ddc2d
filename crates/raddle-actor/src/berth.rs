//! Where the mailbox of a supervised process lies between two incarnations.

use std::sync::{Mutex, PoisonError};

use crate::mailbox::Mailbox;

/// A place for one mailbox.
pub(crate) struct Berth<M>(Mutex<Option<Mailbox<M>>>);

impl<M> Berth<M> {
    pub(crate) fn with(mailbox: Mailbox<M>) -> Self {
        Berth(Mutex::new(Some(mailbox)))
    }

    /// For the next incarnation; `None` while there is one.
    pub(crate) fn take(&self) -> Option<Mailbox<M>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The process has ended, or is about to.
    pub(crate) fn put(&self, mailbox: Mailbox<M>) {
        let old = self.0.lock().unwrap_or_else(PoisonError::into_inner).replace(mailbox);
        // Messages are dropped without the lock.
        drop(old);
    }
}

//! The end of a source: closed by its user, dropped by its owner, or taken apart.

use super::UringSource;
use crate::interest::Direction;
use crate::sys::socket;
use crate::uring::outgoing::After;
use crate::uring::word::Bits;
use crate::waiters::Seat;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// How long a connection that was dropped with bytes on their way may take to get rid of them.
const LINGER: Duration = Duration::from_secs(60);

impl UringSource {
    /// Ends every wait with an error, for good.
    pub(crate) fn close(self: &Arc<Self>) {
        self.word.set(Bits::GONE);
        let unread = self.discard();
        self.hang_up_when_sent(unread);
        self.let_go();
        self.shell.waiters.wake_everybody();
    }

    /// Hangs up now, or when what is on its way has been sent: the kernel then has it all. If
    /// something was received and not read, the peer learns that at once, too.
    fn hang_up_when_sent(&self, unread: bool) {
        let mut outgoing = self.outgoing.lock();
        if outgoing.is_busy() {
            outgoing.after = After::HangUp;
            drop(outgoing);
            // The peer has a minute to take something; then the kernel gives the connection up.
            let _ = socket::set_user_timeout(self.shell.fd(), LINGER);
            return;
        }
        drop(outgoing);
        if unread {
            self.shell.reset();
        } else {
            self.shell.hang_up();
        }
    }

    /// The owner is gone: hangs up at once if a request or an operation holds the descriptor.
    pub(crate) fn abandon(self: Arc<Self>) {
        let before = self.word.set(Bits::GONE);
        let coming = Bits::READ.with(Bits::WRITE).with(Bits::SENDING);
        if before.any(coming) || Arc::strong_count(&self) > 1 {
            self.close();
        } else if before.any(Bits::DATA) {
            self.discard();
        }
    }

    /// Lets go of what was received and not read; whether there was something. The peer learns it
    /// by a reset, as it does from the kernel for bytes that are still there.
    fn discard(&self) -> bool {
        let unread = self.held.lock().discard();
        if unread {
            self.shell.reset_on_close();
        }
        unread
    }

    /// Cancels what is on its way and lets go of what is held.
    fn let_go(self: &Arc<Self>) {
        self.cancel(Direction::Read);
        self.cancel(Direction::Write);
        if let Some(listening) = &self.listening {
            let unclaimed = listening.accepted.lock().discard();
            drop(unclaimed);
        }
    }

    /// `Ready` when no request is on its way; asks for the end of those that are.
    pub(crate) fn poll_unused(self: &Arc<Self>, cx: &mut Context<'_>) -> Poll<()> {
        for direction in [Direction::Read, Direction::Write] {
            if !self.word.load().any(Bits::coming(direction)) {
                continue;
            }
            self.shell.waiters.sit(direction, Seat::Cell, cx);
            // What is being sent is not cancelled: it was written.
            self.cancel(direction);
            // Its last completion clears the bit, then takes the waker: look again.
            if self.word.load().any(Bits::coming(direction)) {
                return Poll::Pending;
            }
        }
        Poll::Ready(())
    }

    /// Takes the descriptor out, if nobody else holds the source and nothing is held for it.
    pub(crate) fn into_fd(self: Arc<Self>) -> Result<OwnedFd, Arc<Self>> {
        let busy = Bits::READ.with(Bits::WRITE).with(Bits::SENDING).with(Bits::DATA);
        if self.word.load().any(busy) {
            return Err(self);
        }
        Arc::try_unwrap(self).map(|source| source.shell.into_fd())
    }
}

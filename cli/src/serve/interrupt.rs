//! The wish to stop: Ctrl-C, or SIGTERM as service managers and containers send it.
//!
//! One value is kept from before the first line is printed until the end, so no signal falls
//! between two waits: the first starts the drain, one that comes during the drain ends it.

use std::io;
use std::task::{Context, Poll};

use raddle::signal::{Signal, SignalKind, signal};

/// Listens to both signals.
#[derive(Debug)]
pub(crate) struct Interrupts([Signal; 2]);

impl Interrupts {
    /// From now on the signals no longer end the process by themselves.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self([signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?]))
    }

    /// Ready once for each wish (several that came together count as one), and when the runtime
    /// can listen no more.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self.0.iter_mut().any(|signal| signal.poll_recv(cx).is_ready()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

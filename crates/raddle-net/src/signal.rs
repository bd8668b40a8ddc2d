//! Signals of the process, for any number of listeners.
//!
//! The first listener to a signal installs a handler for it, by `sigaction`, once in the life of
//! the process. From then on the signal's default action (the end of the process, for Ctrl-C) no
//! longer happens, even when no listener is left; a handler that was there before is replaced
//! and not called. No signal mask is changed, and programs that are started inherit neither
//! handlers nor masks from this.
//!
//! Signals that come while a listener is not waiting are kept, and several of them are told as
//! one. A child of `fork` that does not execute a program keeps the handlers but wakes nobody.

use raddle_driver::{Direction, Source, SourceKind};
use std::fmt;
use std::io;
use std::task::{Context, Poll, ready};

mod registry;

/// The same names, where users of tokio look for them.
pub mod unix {
    pub use super::{Signal, SignalKind, signal};
}

/// Which signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SignalKind(i32);

impl SignalKind {
    /// The signal with this number, for those without a name here.
    pub const fn from_raw(number: i32) -> SignalKind {
        SignalKind(number)
    }

    /// Its number.
    pub const fn as_raw_value(self) -> i32 {
        self.0
    }

    /// SIGINT: Ctrl-C at the terminal.
    pub const fn interrupt() -> SignalKind {
        SignalKind(libc::SIGINT)
    }

    /// SIGTERM: the process is asked to end.
    pub const fn terminate() -> SignalKind {
        SignalKind(libc::SIGTERM)
    }

    /// SIGQUIT: Ctrl-\ at the terminal.
    pub const fn quit() -> SignalKind {
        SignalKind(libc::SIGQUIT)
    }

    /// SIGHUP: the terminal is gone; often "read the settings again".
    pub const fn hangup() -> SignalKind {
        SignalKind(libc::SIGHUP)
    }

    /// SIGUSR1.
    pub const fn user_defined1() -> SignalKind {
        SignalKind(libc::SIGUSR1)
    }

    /// SIGUSR2.
    pub const fn user_defined2() -> SignalKind {
        SignalKind(libc::SIGUSR2)
    }

    /// SIGWINCH: the terminal has another size.
    pub const fn window_change() -> SignalKind {
        SignalKind(libc::SIGWINCH)
    }

    /// SIGCHLD: a child process has changed.
    pub const fn child() -> SignalKind {
        SignalKind(libc::SIGCHLD)
    }

    /// SIGALRM.
    pub const fn alarm() -> SignalKind {
        SignalKind(libc::SIGALRM)
    }
}

/// Listens to a signal from now on.
///
/// # Errors
///
/// The signal cannot be listened to (`InvalidInput`: SIGKILL, SIGSTOP, and the signals of faults);
/// this thread belongs to no runtime; descriptors are exhausted.
pub fn signal(kind: SignalKind) -> io::Result<Signal> {
    let seat = registry::sit(kind.0)?;
    let source = Source::from_fd(seat.descriptor()?, SourceKind::Other)?;
    Ok(Signal { source, seat })
}

/// Waits for one Ctrl-C (SIGINT) that comes after this future was first polled.
///
/// See the [module](self) for what becomes of the signal's default action.
///
/// # Errors
///
/// As [`signal`]; the runtime is shut down.
///
/// # Cancel safety
///
/// A signal that comes between two calls is missed: a loop keeps a [`Signal`] instead.
pub async fn ctrl_c() -> io::Result<()> {
    let mut interrupts = signal(SignalKind::interrupt())?;
    interrupts.recv().await.ok_or_else(|| io::Error::other("the raddle runtime is shut down"))
}

/// Listens to one signal. Made by [`signal`].
pub struct Signal {
    source: Source,
    seat: registry::Seat,
}

impl Signal {
    /// Waits for the signal; `None` if the runtime is shut down. Signals that came since the last
    /// call, or since the listener was made, count as one.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn recv(&mut self) -> Option<()> {
        self.source.io(Direction::Read, registry::take).await.ok()
    }

    /// As [`recv`](Self::recv).
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        let taken = ready!(self.source.poll_io(cx, Direction::Read, registry::take));
        Poll::Ready(taken.ok())
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signal").field("number", &self.seat.number()).finish()
    }
}

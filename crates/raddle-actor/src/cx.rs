//! What a process sees of itself: its mailbox, its links, its time, its end.

use std::cell::UnsafeCell;
use std::error::Error;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use raddle_base::clock::Instant;
use raddle_base::context::{self, Place};

use crate::address::Address;
use crate::berth::Berth;
use crate::control::{Event, Life, MonitorRef, ProcessRef};
use crate::exit::ExitReason;
use crate::here;
use crate::mailbox::{Mailbox, Policy, Search, TryRecvError};
use crate::pid::Pid;
use crate::seat::Seat;

/// What the task of a process keeps while its code runs on a stack. Pinned with the task.
///
/// Shared references to it exist at any time; the mailbox is the code's while a call is on the
/// stack, and the task's otherwise.
pub(crate) struct Core<M> {
    pub(crate) seat: Seat,
    pub(crate) life: Life,
    pub(crate) mailbox: UnsafeCell<Mailbox<M>>,
    /// Where the mailbox goes at the end, for the next incarnation.
    berth: Option<Arc<Berth<M>>>,
}

impl<M> Core<M> {
    pub(crate) fn new(life: Life, mailbox: Mailbox<M>, berth: Option<Arc<Berth<M>>>) -> Self {
        let seat = Seat::new(life.pid());
        Core { seat, life, mailbox: UnsafeCell::new(mailbox), berth }
    }

    /// The code of the process is done with: hands the mailbox over, whose calls are answered, if
    /// there is to be another incarnation. Before the state of this one is dropped.
    pub(crate) fn retire(&mut self) {
        if let Some(berth) = self.berth.take() {
            let own = self.mailbox.get_mut();
            own.end_incarnation();
            let mailbox = std::mem::replace(own, Mailbox::new(None, Policy::Wait));
            berth.put(mailbox);
        }
    }
}

/// A process' view of itself, lent to its code.
///
/// Everything that waits here parks the process and not its thread. An exit signal that arrives
/// meanwhile, and is not [trapped](Self::trap_exit), unwinds the process there: its destructors
/// run, and code that catches the panic meets it again at the next wait.
///
/// In a [blocking section](raddle_runtime::block_in_place) it is the thread that waits, and a
/// signal waits for the end of the section. In a future that the process polls, by
/// `.wait()` for instance, all that waits here panics.
pub struct Cx<M: 'static> {
    core: NonNull<Core<M>>,
}

/// What can arrive at a process.
#[derive(Debug)]
pub enum Incoming<M> {
    /// A message from its mailbox.
    Message(M),
    /// An exit that was trapped, or the end of a process that is monitored.
    Event(Event),
}

/// No message will come: there is none, and nobody has an address of the mailbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disconnected;

impl fmt::Display for Disconnected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody can send a message to this mailbox any more")
    }
}

impl Error for Disconnected {}

/// Why [`Cx::receive_timeout`] gave no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiveTimeoutError {
    /// None came in time.
    Timeout,
    /// None will come: there is no message, and nobody has an address of the mailbox.
    Disconnected,
}

impl fmt::Display for ReceiveTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ReceiveTimeoutError::Timeout => "no message came in time",
            ReceiveTimeoutError::Disconnected => return fmt::Display::fmt(&Disconnected, f),
        })
    }
}

impl Error for ReceiveTimeoutError {}

impl<M> Cx<M> {
    /// # Safety
    ///
    /// `core` outlives the context, which exists once at a time and stays on the process' stack.
    pub(crate) unsafe fn new(core: *const Core<M>) -> Self {
        // SAFETY: a reference's address is not null.
        Cx { core: unsafe { NonNull::new_unchecked(core.cast_mut()) } }
    }

    fn core(&self) -> &Core<M> {
        // SAFETY: outlives this, as promised to `new`; only shared references to it are made.
        unsafe { self.core.as_ref() }
    }

    fn mailbox(&mut self) -> &mut Mailbox<M> {
        // SAFETY: while the code of the process runs the mailbox is its own, and this is the only
        // context there is.
        unsafe { &mut *self.core().mailbox.get() }
    }

    /// Parks the process until `step` is ready or the deadline passed; what it gave.
    fn wait_until<T>(
        &mut self,
        deadline: Instant,
        mut step: impl FnMut(&Life, &mut Mailbox<M>, &mut Context<'_>) -> Poll<T>,
    ) -> Option<T> {
        let core = self.core();
        let mut output = None;
        core.seat.wait(deadline, &mut |cx| {
            // SAFETY: as in `mailbox`; `self` is borrowed for the length of this call.
            let mailbox = unsafe { &mut *core.mailbox.get() };
            step(&core.life, mailbox, cx).map(|ready| output = Some(ready))
        });
        output
    }

    fn wait<T>(
        &mut self,
        step: impl FnMut(&Life, &mut Mailbox<M>, &mut Context<'_>) -> Poll<T>,
    ) -> T {
        match self.wait_until(Instant::FAR_FUTURE, step) {
            Some(output) => output,
            None => unreachable!("a wait without a deadline ended by it"),
        }
    }

    /// The name by which all know this process.
    pub fn pid(&self) -> Pid {
        self.core().life.pid()
    }

    /// A reference to this process, for links, monitors and signals.
    pub fn process(&self) -> ProcessRef {
        self.core().life.process()
    }

    /// An address of this process' mailbox. As long as there is one, receiving waits.
    pub fn address(&mut self) -> Address<M> {
        self.mailbox().address()
    }

    /// The next message; parks the process until there is one.
    ///
    /// # Errors
    ///
    /// [`Disconnected`] when there is no message and nobody has an address of the mailbox.
    pub fn receive(&mut self) -> Result<M, Disconnected> {
        self.wait(|_, mailbox, cx| mailbox.poll_recv(cx)).ok_or(Disconnected)
    }

    /// The next message if there is one now.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn try_receive(&mut self) -> Result<M, TryRecvError> {
        self.mailbox().try_recv()
    }

    /// As [`receive`](Self::receive), for at most `limit`. A message that is there is received
    /// whatever the limit.
    ///
    /// # Errors
    ///
    /// No message came in time, or none will come.
    pub fn receive_timeout(&mut self, limit: Duration) -> Result<M, ReceiveTimeoutError> {
        let deadline = Instant::now() + limit;
        match self.wait_until(deadline, |_, mailbox, cx| mailbox.poll_recv(cx)) {
            Some(Some(message)) => Ok(message),
            Some(None) => Err(ReceiveTimeoutError::Disconnected),
            None => Err(ReceiveTimeoutError::Timeout),
        }
    }

    /// The first message that `wanted` says true of; the others stay, in their order. Each message
    /// is looked at once, however many wake-ups it takes.
    ///
    /// Messages that are passed over still count against the bound of the mailbox.
    ///
    /// # Errors
    ///
    /// [`Disconnected`] when none is wanted and none will come.
    pub fn receive_where(&mut self, mut wanted: impl FnMut(&M) -> bool) -> Result<M, Disconnected> {
        let mut search = Search::new();
        self.wait(|_, mailbox, cx| mailbox.poll_recv_where(&mut search, &mut wanted, cx))
            .ok_or(Disconnected)
    }

    /// As [`receive_where`](Self::receive_where), for at most `limit`.
    ///
    /// # Errors
    ///
    /// None came in time, or none will come.
    pub fn receive_where_timeout(
        &mut self,
        limit: Duration,
        mut wanted: impl FnMut(&M) -> bool,
    ) -> Result<M, ReceiveTimeoutError> {
        let (mut search, deadline) = (Search::new(), Instant::now() + limit);
        let step = |_: &Life, mailbox: &mut Mailbox<M>, cx: &mut Context<'_>| {
            mailbox.poll_recv_where(&mut search, &mut wanted, cx)
        };
        match self.wait_until(deadline, step) {
            Some(Some(message)) => Ok(message),
            Some(None) => Err(ReceiveTimeoutError::Disconnected),
            None => Err(ReceiveTimeoutError::Timeout),
        }
    }

    /// The next message, or the next event: what became of processes that this one monitors, or,
    /// with [trapped exits](Self::trap_exit), is linked to. Events go first.
    ///
    /// # Errors
    ///
    /// [`Disconnected`] as for [`receive`](Self::receive). Events can still come: a process that
    /// waits for them alone uses [`receive_event`](Self::receive_event).
    pub fn receive_any(&mut self) -> Result<Incoming<M>, Disconnected> {
        self.wait(|life, mailbox, cx| {
            if let Poll::Ready(Ok(event)) = life.poll_event(cx) {
                return Poll::Ready(Ok(Incoming::Event(event)));
            }
            let message = mailbox.poll_recv(cx);
            message.map(|message| message.map(Incoming::Message).ok_or(Disconnected))
        })
    }

    /// The next event; messages stay where they are.
    pub fn receive_event(&mut self) -> Event {
        self.wait(|life, _, cx| match life.poll_event(cx) {
            Poll::Ready(Ok(event)) => Poll::Ready(event),
            // Doomed: the wait ends this process when it is left.
            Poll::Ready(Err(_)) | Poll::Pending => Poll::Pending,
        })
    }

    /// As [`receive_event`](Self::receive_event), for at most `limit`.
    pub fn receive_event_timeout(&mut self, limit: Duration) -> Option<Event> {
        let deadline = Instant::now() + limit;
        self.wait_until(deadline, |life, _, cx| match life.poll_event(cx) {
            Poll::Ready(Ok(event)) => Poll::Ready(event),
            Poll::Ready(Err(_)) | Poll::Pending => Poll::Pending,
        })
    }

    /// Parks the process for `time`. Never shorter; see the runtime's timers for how late.
    pub fn sleep(&mut self, time: Duration) {
        let deadline = Instant::now() + time;
        self.core().seat.wait(deadline, &mut |_| Poll::Pending);
    }

    /// Gives the other tasks of this worker a turn.
    pub fn yield_now(&mut self) {
        match context::place() {
            Place::Actor => self.core().seat.yield_now(),
            _ => here::yield_now(),
        }
    }

    /// Ends this process now, with this reason: its stack is unwound, and its destructors run.
    ///
    /// # Panics
    ///
    /// In a destructor while the process unwinds already.
    pub fn exit(&mut self, reason: ExitReason) -> ! {
        self.core().seat.exit(reason)
    }

    /// Whether exit signals of linked processes become [events](Event), and what it was before.
    /// [`ProcessRef::kill`] ends a process in any case.
    pub fn trap_exit(&mut self, trap: bool) -> bool {
        self.core().life.trap_exit(trap)
    }

    /// Links this process to another: the abnormal end of one ends the other too, unless it traps
    /// exits. A process that has ended already counts as one that ends now, with
    /// [`ExitReason::NoProcess`].
    pub fn link(&mut self, other: &ProcessRef) {
        self.core().life.link(other);
    }

    /// Takes a link back: no signal of it comes after this.
    pub fn unlink(&mut self, other: Pid) {
        self.core().life.unlink(other);
    }

    /// Asks to be told of the end of another process, by [`Event::Down`].
    pub fn monitor(&mut self, other: &ProcessRef) -> MonitorRef {
        self.core().life.monitor(other)
    }

    /// Takes a monitor back: no event of it comes after this. False if it came before.
    pub fn demonitor(&mut self, monitor: MonitorRef) -> bool {
        self.core().life.demonitor(monitor)
    }

    pub(crate) fn life(&self) -> &Life {
        &self.core().life
    }
}

impl<M> fmt::Debug for Cx<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cx").field("pid", &self.pid()).finish_non_exhaustive()
    }
}

//! A descriptor under io_uring.
//!
//! Each direction has at most one request on its way: reading a stream is a receive (see
//! [`super::stream`]), accepting an accept (see [`super::accept`]), everything else a poll, after
//! which the caller makes the call itself. A call is tried directly first where that is likely to
//! succeed: a write, or a read when nothing is known to be empty.
//!
//! | field | access |
//! |---|---|
//! | `word` | anybody; see its file |
//! | `held`, `accepted` | the same |
//! | `keys` | under the driver lock of the ring the request runs on |
//! | `write_ring`, `outgoing` | under their locks; news takes them under the driver lock |
//!
//! The rest of the implementation lies in `close`, `news` (what completions mean) and `write`.
//!
//! A caller never submits while it holds one of the locks: the order is driver lock first.

use super::Ring;
use super::accept::{Accepted, PeerAddr};
use super::outgoing::Outgoing;
use super::stream::Held;
use super::word::{Bits, Word};
use crate::addr::RawAddr;
use crate::interest::Direction;
use crate::remote::Inner;
use crate::shell::{self, Attempt, Shell, SourceKind};
use crate::sys::sqe::Sqe;
use crate::sys::{errno, socket};
use crate::waiters::Seat;
use crate::watcher::{Role, Watcher};
use crate::{current, errors};
use raddle_base::shim::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use raddle_base::shim::mutex::Mutex;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

mod close;
mod news;
mod write;

/// So many waits in a row on another worker, and the receive moves there.
const MOVE_AFTER: u32 = 64;

/// A source under io_uring.
pub(crate) struct UringSource {
    pub(crate) shell: Shell,
    word: Word,
    held: Mutex<Held>,
    /// Listeners only.
    listening: Option<Box<Listening>>,
    keys: [AtomicU64; 3],
    write_ring: Mutex<Option<Arc<Ring>>>,
    outgoing: Mutex<Outgoing>,
    /// The address of the ring a receive runs on; a hint.
    home: AtomicUsize,
    elsewhere: AtomicU32,
}

/// What a listener has besides.
struct Listening {
    accepted: Mutex<Accepted>,
    peer: PeerAddr,
}

impl UringSource {
    pub(crate) fn new(shell: Shell) -> Arc<UringSource> {
        let listening = (shell.kind() == SourceKind::Listener)
            .then(|| Box::new(Listening { accepted: Mutex::default(), peer: PeerAddr::new() }));
        Arc::new(UringSource {
            shell,
            word: Word::new(),
            held: Mutex::default(),
            listening,
            keys: std::array::from_fn(|_| AtomicU64::new(0)),
            write_ring: Mutex::new(None),
            outgoing: Mutex::default(),
            home: AtomicUsize::new(0),
            elsewhere: AtomicU32::new(0),
        })
    }

    fn is_stream(&self) -> bool {
        self.shell.kind() == SourceKind::Stream
    }

    /// Makes a call in place, unless a poll for it is on its way: then it would block.
    #[inline]
    pub(crate) fn attempt<T>(
        &self,
        direction: Direction,
        call: impl FnOnce(&Shell) -> io::Result<T>,
    ) -> Attempt<T> {
        let seen = self.word.load();
        if seen.any(Bits::GONE) {
            return Attempt::Done(Err(shell::closed()));
        }
        if seen.any(Bits::armed(direction)) {
            return Attempt::Blocked;
        }
        let attempt = Attempt::from(call(&self.shell));
        match attempt {
            Attempt::Blocked if seen.any(Bits::ok(direction)) => {
                self.word.clear(Bits::ok(direction));
            }
            // Hung up under the call: what the kernel says then is not the reason.
            Attempt::Done(Err(_)) if self.word.load().any(Bits::GONE) => {
                return Attempt::Done(Err(shell::closed()));
            }
            _ => {}
        }
        attempt
    }

    /// Reads a stream: takes what is held, or calls in place if no receive is on its way and the
    /// socket is not known to be empty. `short` tells from a call's result that it is empty now.
    #[inline]
    pub(crate) fn attempt_stream<T>(
        &self,
        take: impl FnOnce(&mut Held) -> io::Result<T>,
        direct: impl FnOnce(&Shell) -> io::Result<T>,
        short: impl FnOnce(&T) -> bool,
    ) -> Attempt<T> {
        if !self.is_stream() {
            return self.attempt(Direction::Read, direct);
        }
        let seen = self.word.load();
        if seen.any(Bits::GONE) {
            return Attempt::Done(Err(shell::closed()));
        }
        if seen.any(Bits::DATA) {
            let mut held = self.held.lock();
            if !held.is_empty() {
                let result = take(&mut held);
                if held.is_empty() {
                    // Under the lock: news sets the bit under it too.
                    self.word.clear(Bits::DATA);
                }
                return Attempt::Done(result);
            }
        }
        if seen.any(Bits::READ.with(Bits::DRAINED)) {
            return Attempt::Blocked;
        }
        let attempt = Attempt::from(direct(&self.shell));
        if let Attempt::Done(Ok(value)) = &attempt
            && short(value)
        {
            self.word.set(Bits::DRAINED);
        }
        attempt
    }

    /// Accepts: what has waited here, or by a direct call.
    pub(crate) fn attempt_accept(self: &Arc<Self>) -> Attempt<(OwnedFd, RawAddr)> {
        let Some(listening) = &self.listening else {
            return Attempt::Done(Err(io::ErrorKind::InvalidInput.into()));
        };
        let seen = self.word.load();
        if seen.any(Bits::DATA) && !seen.any(Bits::GONE) {
            let mut accepted = listening.accepted.lock();
            let taken = accepted.take();
            if accepted.is_empty() {
                self.word.clear(Bits::DATA);
            }
            if let Some(result) = taken {
                return Attempt::Done(result);
            }
        }
        let attempt = self.attempt(Direction::Read, |shell| socket::accept(shell.fd()));
        match attempt {
            Attempt::Done(Err(error)) if errno::out_of_descriptors(&error) => self.pause(error),
            Attempt::Done(Ok(_)) => {
                listening.accepted.lock().backoff.over();
                attempt
            }
            _ => attempt,
        }
    }

    /// Begins a pause. The error is reported if it is the first of its shortage.
    #[cold]
    fn pause(self: &Arc<Self>, error: io::Error) -> Attempt<(OwnedFd, RawAddr)> {
        let Some(listening) = &self.listening else { return Attempt::Done(Err(error)) };
        // The bit of a request stands for the pause: nobody arms or tries before it is over.
        if self.word.set(Bits::READ).any(Bits::READ) {
            return Attempt::Blocked;
        }
        let (time, first) = {
            let mut accepted = listening.accepted.lock();
            accepted.pausing = true;
            accepted.backoff.failed()
        };
        let delayed = self
            .ring_here()
            .and_then(|ring| ring.delay(time, Arc::clone(self) as Arc<dyn Watcher>));
        if let Err(nowhere) = delayed {
            listening.accepted.lock().pausing = false;
            self.word.clear(Bits::READ);
            return Attempt::Done(Err(nowhere));
        }
        if first { Attempt::Done(Err(error)) } else { Attempt::Blocked }
    }

    /// The other side has no room for a connection, and will tell nobody when it has: blocks the
    /// writing direction for `time`, as a poll on its way would.
    #[cold]
    pub(crate) fn try_again_after(self: &Arc<Self>, time: Duration) -> io::Result<()> {
        // Both in this order: what the last pause's end has said is over.
        self.word.set(Bits::WRITE);
        self.assume_blocked(Direction::Write);
        let delayed = self
            .ring_here()
            .and_then(|ring| ring.delay(time, Arc::clone(self) as Arc<dyn Watcher>));
        if delayed.is_err() {
            self.word.clear(Bits::WRITE);
        }
        delayed
    }

    /// Whether such a time is not over.
    pub(crate) fn is_pausing(&self) -> bool {
        self.word.load().any(Bits::WRITE)
    }

    /// Nobody waits for a connection any more: the request is cancelled.
    pub(crate) fn stop_accepting(self: &Arc<Self>) {
        if self.word.load().any(Bits::READ) {
            self.cancel(Direction::Read);
        }
    }

    /// The caller has met "would block" by a call of its own.
    pub(crate) fn assume_blocked(&self, direction: Direction) {
        self.word.clear(Bits::ok(direction));
    }

    /// The next attempt asks the kernel, whatever is assumed: nobody may be waiting for news.
    pub(crate) fn assume_nothing(&self) {
        if self.word.load().any(Bits::DRAINED) {
            self.word.clear(Bits::DRAINED);
        }
    }

    fn available(seen: Bits, direction: Direction) -> bool {
        match direction {
            Direction::Read => seen.any(Bits::GONE.with(Bits::READ_OK).with(Bits::DATA)),
            Direction::Write if seen.any(Bits::SENDING) => seen.any(Bits::GONE),
            Direction::Write => seen.any(Bits::GONE.with(Bits::WRITE_OK).with(Bits::FAILED)),
        }
    }

    /// `Ready` when the direction may be tried.
    pub(crate) fn poll_ready(
        self: &Arc<Self>,
        direction: Direction,
        seat: Seat<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let mut waited = self.poll_wait(direction, seat, cx);
        while waited.is_ready() && !Self::available(self.word.load(), direction) {
            if let Poll::Ready(Err(_)) = waited {
                break;
            }
            waited = self.poll_wait(direction, seat, cx);
        }
        waited
    }

    /// Leaves the caller's waker and sees to it that news will come; `Ready` if another attempt
    /// is worth making.
    #[inline]
    pub(crate) fn poll_wait(
        self: &Arc<Self>,
        direction: Direction,
        seat: Seat<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        self.shell.waiters.sit(direction, seat, cx);
        let coming = Bits::coming(direction);
        let mut seen = self.word.load();
        if !seen.any(coming) && !Self::available(seen, direction) {
            self.arm(direction)?;
            seen = self.word.load();
        }
        if let Seat::Queue(_) = seat {
            seen = self.word.set(Bits::MORE);
        }
        if Self::available(seen, direction) || !seen.any(coming) {
            return Poll::Ready(Ok(()));
        }
        if direction == Direction::Read {
            self.follow();
        }
        Poll::Pending
    }

    /// Moves the receive to this worker if it is waited for here many times in a row.
    #[inline]
    fn follow(self: &Arc<Self>) {
        // Relaxed, here and below: hints that only delay a move.
        let home = self.home.load(Ordering::Relaxed);
        let here = current::with(|remote| match &remote.inner {
            Inner::Uring(ring) => Arc::as_ptr(ring).addr(),
            Inner::Epoll(_) => home,
        });
        if here.is_ok_and(|here| here != home) {
            if self.elsewhere.fetch_add(1, Ordering::Relaxed) + 1 >= MOVE_AFTER {
                self.elsewhere.store(0, Ordering::Relaxed);
                self.cancel(Direction::Read);
            }
        } else if self.elsewhere.load(Ordering::Relaxed) != 0 {
            self.elsewhere.store(0, Ordering::Relaxed);
        }
    }

    fn ring_here(&self) -> io::Result<Arc<Ring>> {
        current::with(|remote| match &remote.inner {
            Inner::Uring(ring) => Ok(Arc::clone(ring)),
            Inner::Epoll(_) => Err(errors::other_backend()),
        })?
    }

    /// Puts a request of this direction on its way, unless one is.
    #[cold]
    fn arm(self: &Arc<Self>, direction: Direction) -> io::Result<()> {
        let ring = self.ring_here()?;
        if self.word.set(Bits::armed(direction)).any(Bits::armed(direction)) {
            return Ok(());
        }
        let (assumed, role) = match direction {
            Direction::Read => (Bits::READ_OK.with(Bits::DRAINED), Role::Read),
            Direction::Write => (Bits::WRITE_OK, Role::Write),
        };
        self.word.clear(assumed);
        let Some(sqe) = self.entry(direction, &ring) else {
            self.word.clear(Bits::armed(direction));
            return Ok(());
        };
        // Relaxed: a hint.
        self.home.store(Arc::as_ptr(&ring).addr(), Ordering::Relaxed);
        let watcher = Arc::clone(self) as Arc<dyn Watcher>;
        // SAFETY: what the entries name (the stream's own buffer, the peer's address) lies in
        // this source, at addresses that stay, and is let go at the completion.
        let requested = unsafe { ring.request(sqe, watcher, role) };
        if let Err(error) = requested {
            self.disarmed(direction);
            self.word.clear(Bits::armed(direction));
            // Others may rely on the request that has not come about.
            self.shell.waiters.wake_everybody();
            return Err(error);
        }
        Ok(())
    }

    /// The entry to submit. `None`: a stream has received something meanwhile.
    fn entry(&self, direction: Direction, ring: &Arc<Ring>) -> Option<Sqe> {
        let fd = self.shell.raw();
        match (direction, &self.listening) {
            (Direction::Write, _) => {
                *self.write_ring.lock() = Some(Arc::clone(ring));
                Some(Sqe::poll(fd, libc::EPOLLOUT as u32, false))
            }
            (Direction::Read, Some(listening)) => {
                let mut accepted = listening.accepted.lock();
                accepted.ring = Some(Arc::clone(ring));
                Some(listening.peer.entry(fd))
            }
            (Direction::Read, None) if self.is_stream() => self.held.lock().arm(fd, ring),
            (Direction::Read, None) => {
                self.held.lock().ring = Some(Arc::clone(ring));
                Some(Sqe::poll(fd, (libc::EPOLLIN | libc::EPOLLRDHUP) as u32, false))
            }
        }
    }

    /// Forgets the ring of a request that has ended. Its last reference is elsewhere.
    fn disarmed(&self, direction: Direction) {
        match (direction, &self.listening) {
            (Direction::Write, _) => *self.write_ring.lock() = None,
            (Direction::Read, Some(listening)) => listening.accepted.lock().ring = None,
            (Direction::Read, None) => self.held.lock().disarm(),
        }
    }

    /// Asks for the cancellation of the request of this direction.
    fn cancel(self: &Arc<Self>, direction: Direction) {
        let (ring, role) = match (direction, &self.listening) {
            (Direction::Write, _) => (self.write_ring.lock().clone(), Role::Write),
            (Direction::Read, Some(listening)) => {
                (listening.accepted.lock().ring.clone(), Role::Read)
            }
            (Direction::Read, None) => (self.held.lock().ring.clone(), Role::Read),
        };
        if let Some(ring) = ring {
            ring.cancel(Arc::clone(self) as Arc<dyn Watcher>, role);
        }
    }
}

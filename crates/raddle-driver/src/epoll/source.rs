//! A descriptor under epoll: registered with one worker's loop, moved when its task moves.
//!
//! A source is not registered when it is made but when it is first waited for, with the loop of
//! the thread that waits: a connection that is served without waiting costs no registration, and
//! a worker gets its own descriptors' events. A task that is polled elsewhere [`MOVE_AFTER`] times
//! in a row takes its source along; fewer, and it is cheaper to be woken across threads.
//!
//! | field | access |
//! |---|---|
//! | `readiness` | anybody; see its file |
//! | `place` | under its lock; taken by registering, moving, closing |
//! | `home`, `key` | written under `place`'s lock, read by anybody as a hint |
//! | `waited` | anybody, as a hint |
//! | `pause` | under its lock; listeners, and sockets that connect |
//!
//! Lock order: `place`, then the driver lock. News comes under the driver lock and takes neither.

use super::Loop;
use super::readiness::{Bits, Readiness};
use crate::backoff::Backoff;
use crate::interest::{Direction, Interest, Waited};
use crate::remote::Inner;
use crate::shell::{self, Attempt, Shell, SourceKind};
use crate::sys::{errno, socket};
use crate::waiters::Seat;
use crate::watcher::{Due, News, Role, Then, Watcher};
use crate::{addr::RawAddr, current, errors};
use raddle_base::shim::atomic::{AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use raddle_base::shim::mutex::Mutex;
use raddle_base::slab::Key;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// So many waits in a row on another worker, and the source moves there.
const MOVE_AFTER: u32 = 64;

/// Where a source is registered.
struct Place {
    poller: Arc<Loop>,
    key: Key,
}

/// A listener's shortage of descriptors, or a connecting socket's wait for room.
#[derive(Default)]
struct Pause {
    backoff: Backoff,
    pausing: bool,
}

/// A source under epoll.
pub(crate) struct EpollSource {
    pub(crate) shell: Shell,
    readiness: Readiness,
    place: Mutex<Option<Place>>,
    /// The address of the loop in `place`, 0 if there is none.
    home: AtomicUsize,
    /// The key in `place`; a hint, too.
    key: AtomicU64,
    /// What may be marked as waited for in the loop; a hint, too.
    waited: AtomicU8,
    elsewhere: AtomicU32,
    pause: Mutex<Pause>,
}

impl EpollSource {
    pub(crate) fn new(shell: Shell) -> Arc<EpollSource> {
        Arc::new(EpollSource {
            shell,
            readiness: Readiness::new(),
            place: Mutex::new(None),
            home: AtomicUsize::new(0),
            key: AtomicU64::new(0),
            waited: AtomicU8::new(0),
            elsewhere: AtomicU32::new(0),
            pause: Mutex::new(Pause::default()),
        })
    }

    /// Tries `call` if it may succeed. `drained` tells from its result that a stream has no more.
    #[inline]
    pub(crate) fn attempt<T>(
        &self,
        direction: Direction,
        call: impl FnOnce(&Shell) -> io::Result<T>,
        drained: impl FnOnce(&T) -> bool,
    ) -> Attempt<T> {
        let seen = self.readiness.snapshot();
        if !seen.allows(direction) {
            return Attempt::Blocked;
        }
        if seen.is_gone() {
            return Attempt::Done(Err(shell::closed()));
        }
        let attempt = Attempt::from(call(&self.shell));
        match &attempt {
            Attempt::Blocked => self.readiness.clear(seen, direction),
            // Hung up under the call: what the kernel says then is not the reason.
            Attempt::Done(Err(_)) if self.readiness.snapshot().is_gone() => {
                return Attempt::Done(Err(shell::closed()));
            }
            // Less than asked for: a stream socket is empty (or full), and the next byte makes
            // an edge. Other descriptors may hand out one line or packet at a time.
            Attempt::Done(Ok(value))
                if self.shell.kind() == SourceKind::Stream && drained(value) =>
            {
                self.readiness.clear_drained(seen, direction);
            }
            Attempt::Done(_) => {}
        }
        attempt
    }

    /// The caller has met "would block" on a source that was never waited for in this direction.
    pub(crate) fn assume_blocked(&self, direction: Direction) {
        self.readiness.clear(self.readiness.snapshot(), direction);
    }

    /// The next attempt asks the kernel if no news of this source can have come.
    pub(crate) fn assume_nothing(&self) {
        // Relaxed: a hint, see `ensure_registered`.
        if self.home.load(Ordering::Relaxed) == 0 {
            let _ = self.readiness.set(Bits::all());
        }
    }

    /// `Ready` when the kernel has said that the direction may be tried.
    pub(crate) fn poll_ready(
        self: &Arc<Self>,
        direction: Direction,
        seat: Seat<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let seen = self.readiness.snapshot();
        // Relaxed: a hint, see `ensure_registered`.
        if self.home.load(Ordering::Relaxed) == 0 && !seen.is_gone() {
            // What the word says of a source that was never registered is only assumed.
            self.readiness.clear(seen, direction);
        } else if seen.allows(direction) {
            return Poll::Ready(Ok(()));
        }
        self.poll_wait(direction, seat, cx)
    }

    /// Leaves the caller's waker; `Ready` if another attempt is worth making.
    #[inline]
    pub(crate) fn poll_wait(
        self: &Arc<Self>,
        direction: Direction,
        seat: Seat<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        self.shell.waiters.sit(direction, seat, cx);
        self.ensure_registered()?;
        let now = match seat {
            Seat::Cell => self.readiness.snapshot(),
            Seat::Queue(_) => self.readiness.announce_waiter(),
        };
        if now.allows(direction) {
            return Poll::Ready(Ok(()));
        }
        self.wait_for(direction);
        Poll::Pending
    }

    /// Tells the loop that somebody waits. The waiter has left its waker and found nothing: an
    /// event told before this has woken it, one told after it finds the mark.
    #[inline]
    fn wait_for(self: &Arc<Self>, direction: Direction) {
        // Relaxed: hints. The loop compares who has the key.
        let (home, key) = (self.home.load(Ordering::Relaxed), self.key.load(Ordering::Relaxed));
        let waited = self.waited.load(Ordering::Relaxed) | Interest::of(direction).bits();
        self.waited.store(waited, Ordering::Relaxed);
        let told = current::with(|remote| match (&remote.inner, Key::from_bits(key)) {
            (Inner::Epoll(here), Some(key)) if Arc::as_ptr(here).addr() == home => {
                here.wait_for(key, Arc::as_ptr(self).cast(), direction)
            }
            _ => false,
        });
        if !told.unwrap_or(false) {
            self.wait_for_elsewhere(direction);
        }
    }

    #[cold]
    fn wait_for_elsewhere(self: &Arc<Self>, direction: Direction) {
        // Whoever moves the registration takes what is waited for along.
        if let Some(place) = &*self.place.lock() {
            place.poller.wait_for(place.key, Arc::as_ptr(self).cast(), direction);
        }
    }

    /// Somebody has given up waiting and left the queue empty: unless somebody else waits, the
    /// loop need not be asked for this source any more.
    pub(crate) fn left(self: &Arc<Self>) {
        // Relaxed: events clear it. A bit that two threads lose between them costs a few looks.
        if self.waited.load(Ordering::Relaxed) == 0 {
            return;
        }
        for direction in [Direction::Read, Direction::Write] {
            if self.shell.waiters.is_waited(direction) {
                continue;
            }
            if let Some(place) = &*self.place.lock() {
                place.poller.wait_no_more(place.key, direction);
            }
            // Who has begun to wait meanwhile either does its marking after the line above, or
            // has left its waker before it.
            if self.shell.waiters.is_waited(direction) {
                self.wait_for_elsewhere(direction);
            }
        }
    }

    /// Registers the source if it is not, and moves it if its task has moved.
    #[inline]
    fn ensure_registered(self: &Arc<Self>) -> io::Result<()> {
        // Relaxed: a hint. What it decides wrongly is decided again under the lock.
        let home = self.home.load(Ordering::Relaxed);
        let here = current::with(|remote| match &remote.inner {
            Inner::Epoll(poller) => Some(Arc::as_ptr(poller).addr()),
            Inner::Uring(_) => None,
        });
        match here {
            Ok(Some(here)) if here == home => {
                if self.elsewhere.load(Ordering::Relaxed) != 0 {
                    // Relaxed: a count that only delays a move.
                    self.elsewhere.store(0, Ordering::Relaxed);
                }
                Ok(())
            }
            // Waited for on a thread without an epoll loop: events come to the home it has.
            Ok(None) | Err(_) if home != 0 => here.map(drop).or(Ok(())),
            Ok(None) => Err(errors::other_backend()),
            Err(error) => Err(error),
            Ok(Some(_)) if home == 0 => self.register_here(),
            Ok(Some(_)) => {
                // Relaxed: as above.
                if self.elsewhere.fetch_add(1, Ordering::Relaxed) + 1 < MOVE_AFTER {
                    return Ok(());
                }
                self.register_here()
            }
        }
    }

    /// Registers with this thread's loop, leaving another one if need be.
    #[cold]
    fn register_here(self: &Arc<Self>) -> io::Result<()> {
        let here = current::with(|remote| match &remote.inner {
            Inner::Epoll(poller) => Some(Arc::clone(poller)),
            Inner::Uring(_) => None,
        })?;
        let Some(here) = here else { return Err(errors::other_backend()) };
        let mut place = self.place.lock();
        let at_home = place.as_ref().is_some_and(|place| Arc::ptr_eq(&place.poller, &here));
        if at_home && !here.is_closed() {
            return Ok(());
        }
        let waited = self.remove(&mut place);
        let fd = self.shell.raw();
        // Registering reports what the descriptor is ready for now: nothing is lost by a move.
        let key = here.register(fd, Arc::clone(self) as Arc<dyn Watcher>, waited)?;
        // Relaxed: hints, see above.
        self.key.store(key.to_bits(), Ordering::Relaxed);
        self.home.store(Arc::as_ptr(&here).addr(), Ordering::Relaxed);
        self.elsewhere.store(0, Ordering::Relaxed);
        let closed = here.is_closed();
        *place = Some(Place { poller: here, key });
        if closed {
            // It was told to be closed before `home` was set: nobody would notice any more.
            self.remove(&mut place);
            return Err(errors::no_runtime());
        }
        Ok(())
    }

    /// Gives the registration up; what was waited for.
    fn remove(&self, place: &mut Option<Place>) -> Waited {
        let Some(Place { poller, key }) = place.take() else { return 0 };
        let waited = poller.remove(self.shell.raw(), key);
        // Relaxed: a hint, see above.
        self.home.store(0, Ordering::Relaxed);
        waited
    }

    /// Accepts one connection, unless the listener pauses for want of descriptors.
    pub(crate) fn attempt_accept(self: &Arc<Self>) -> Attempt<(OwnedFd, RawAddr)> {
        // Before the flag is looked at: the end of the pause clears the flag, then makes an event,
        // so that the clear below cannot wipe that event.
        let seen = self.readiness.snapshot();
        if seen.is_gone() {
            return Attempt::Done(Err(shell::closed()));
        }
        if self.pause.lock().pausing {
            self.readiness.clear(seen, Direction::Read);
            return Attempt::Blocked;
        }
        match self.attempt(Direction::Read, |shell| socket::accept(shell.fd()), |_| false) {
            Attempt::Done(Err(error)) if errno::out_of_descriptors(&error) => self.pause(error),
            Attempt::Done(result) => {
                self.pause.lock().backoff.over();
                Attempt::Done(result)
            }
            Attempt::Blocked => Attempt::Blocked,
        }
    }

    /// Begins a pause. The error is reported if it is the first of its shortage.
    #[cold]
    fn pause(self: &Arc<Self>, error: io::Error) -> Attempt<(OwnedFd, RawAddr)> {
        let mut pause = self.pause.lock();
        let (time, first) = pause.backoff.failed();
        drop(pause);
        match self.pause_for(time) {
            Err(nowhere) => Attempt::Done(Err(nowhere)),
            Ok(()) if first => Attempt::Done(Err(error)),
            Ok(()) => Attempt::Blocked,
        }
    }

    /// Begins a pause, at the end of which both directions may be tried again.
    fn pause_for(self: &Arc<Self>, time: Duration) -> io::Result<()> {
        self.pause.lock().pausing = true;
        let watcher = Arc::clone(self) as Arc<dyn Watcher>;
        let placed = self.place.lock().as_ref().map(|place| Arc::clone(&place.poller));
        let delayed = match placed {
            Some(poller) => {
                poller.delay(time, watcher);
                Ok(())
            }
            None => current::with(|remote| match &remote.inner {
                Inner::Epoll(poller) => poller.delay(time, watcher),
                Inner::Uring(_) => {}
            }),
        };
        if delayed.is_err() {
            self.pause.lock().pausing = false;
        }
        delayed
    }

    /// The other side has no room for a connection, and will make no event when it has: trying
    /// again is blocked for `time`.
    #[cold]
    pub(crate) fn try_again_after(self: &Arc<Self>, time: Duration) -> io::Result<()> {
        // Before the pause begins: its end makes an event, which this must not wipe.
        self.assume_blocked(Direction::Write);
        self.pause_for(time)
    }

    /// Whether a pause is on. Then what is known of the writing direction is forgotten: an
    /// unconnected socket is reported as one that has hung up.
    pub(crate) fn is_pausing(&self) -> bool {
        // Before the flag is looked at: see `attempt_accept`.
        let seen = self.readiness.snapshot();
        let pausing = self.pause.lock().pausing;
        if pausing {
            self.readiness.clear(seen, Direction::Write);
        }
        pausing
    }

    /// Ends every wait with an error, for good.
    pub(crate) fn close(&self) {
        let _ = self.readiness.set_gone();
        self.remove(&mut self.place.lock());
        self.shell.hang_up();
        self.shell.waiters.wake_everybody();
    }

    /// The owner is gone. Operations that still hold the source end.
    pub(crate) fn abandon(self: Arc<Self>) {
        self.remove(&mut self.place.lock());
        if Arc::strong_count(&self) > 1 {
            self.close();
        }
    }

    /// Takes the descriptor out, if nobody else holds the source.
    pub(crate) fn into_fd(self: Arc<Self>) -> Result<OwnedFd, Arc<Self>> {
        self.remove(&mut self.place.lock());
        Arc::try_unwrap(self).map(|source| source.shell.into_fd())
    }
}

impl Watcher for EpollSource {
    fn tell(&self, _role: Role, news: News, due: &mut Due) -> Then {
        let bits = match news {
            News::Ready(events) => {
                let bits = Bits::from_epoll(events);
                // Relaxed: a hint, see `left`.
                let left = self.waited.load(Ordering::Relaxed) & !bits.waited();
                self.waited.store(left, Ordering::Relaxed);
                bits
            }
            News::Elapsed => {
                self.pause.lock().pausing = false;
                Bits::all()
            }
            // Not registered any more: the next wait registers anew, or learns that it cannot.
            _ => {
                // Relaxed: a hint. The key is stale from now on, so nobody is misled for long.
                self.home.store(0, Ordering::Relaxed);
                Bits::all()
            }
        };
        let more = self.readiness.set(bits);
        if bits.allows(Direction::Read) {
            self.shell.waiters.take(Direction::Read, due);
        }
        if bits.allows(Direction::Write) {
            self.shell.waiters.take(Direction::Write, due);
        }
        Then::later(more)
    }

    fn later(&self) {
        self.shell.waiters.release_queue();
    }
}

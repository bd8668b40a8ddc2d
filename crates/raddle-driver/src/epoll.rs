//! The epoll loop: registrations, waiting, and telling those whom an event concerns.
//!
//! Descriptors are registered once, edge-triggered, for both directions. An event carries the key
//! of its registration: a place in a slab and its generation, so that an event fetched before a
//! registration was removed finds nothing, whatever has moved into the place since.
//!
//! Any thread may register and remove, and a rescuer may fetch events while the owner is stuck.
//! The slab is under the driver lock; fetching is not. Two threads may therefore process batches
//! at once, in any order: readiness only accumulates, so order does not matter here.
//!
//! The wake descriptor is registered at the very beginning, before the owner can block. It is
//! edge-triggered as well and never read.

pub(crate) mod readiness;
pub(crate) mod source;
mod waits;

use crate::interest::{Direction, Interest, Waited};
use crate::offload::Offload;
use crate::sys::epoll::{self, Limit};
use crate::wake::Wake;
use crate::watcher::{Due, News, Role, Watcher};
use raddle_base::clock::Instant;
use raddle_base::doorbell::Doorbell;
use raddle_base::shim::atomic::{AtomicBool, AtomicUsize, Ordering};
use raddle_base::shim::mutex::Mutex;
use raddle_base::slab::{Key, Slab};
use readiness::Bits;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::time::Duration;
use waits::Waits;

/// Events fetched by one call.
const BATCH: usize = 64;
/// The longest a single wait lasts; the caller of a park is ready for early returns.
const LONGEST: Duration = Duration::from_secs(86_400);

/// What an event belongs to.
enum Slot {
    /// The wake descriptor: the flags say what it was about.
    Wake,
    /// The timer that stands in for nanosecond time-outs.
    Timer,
    /// A registered descriptor, and what is waited for.
    Source(Arc<dyn Watcher>, Waited),
}

/// A listener that pauses.
struct Delay {
    at: Instant,
    watcher: Arc<dyn Watcher>,
}

struct Locked {
    slots: Slab<Slot>,
    delays: Vec<Delay>,
}

/// One worker's epoll. Shared with remotes and with the sources registered here.
pub(crate) struct Loop {
    epoll: OwnedFd,
    pub(crate) wake: Wake,
    /// Present where `epoll_pwait2` is missing.
    timer: Option<OwnedFd>,
    locked: Mutex<Locked>,
    delayed: AtomicUsize,
    waits: Waits,
    closed: AtomicBool,
    pub(crate) offload: Arc<dyn Offload>,
}

impl Loop {
    pub(crate) fn new(offload: Arc<dyn Offload>, nanoseconds: bool) -> io::Result<Loop> {
        let timer = if nanoseconds { None } else { Some(epoll::timer()?) };
        let this = Loop {
            epoll: epoll::create()?,
            wake: Wake::new()?,
            timer,
            locked: Mutex::new(Locked { slots: Slab::new(), delays: Vec::new() }),
            delayed: AtomicUsize::new(0),
            waits: Waits::new(),
            closed: AtomicBool::new(false),
            offload,
        };
        let edge = (libc::EPOLLIN | libc::EPOLLET) as u32;
        let key = this.locked.lock().slots.insert(Slot::Wake);
        epoll::add(&this.epoll, this.wake.fd().as_raw_fd(), edge, key.to_bits())?;
        if let Some(timer) = &this.timer {
            let key = this.locked.lock().slots.insert(Slot::Timer);
            epoll::add(&this.epoll, timer.as_raw_fd(), libc::EPOLLIN as u32, key.to_bits())?;
        }
        Ok(this)
    }

    /// Whether the loop was closed: registrations are refused.
    pub(crate) fn is_closed(&self) -> bool {
        // Acquire: who sees it closed sees what was told before.
        self.closed.load(Ordering::Acquire)
    }

    /// What the owner looks at before each dispatch: marked while somebody waits for an event.
    ///
    /// # Panics
    ///
    /// On another thread than the owner's.
    pub(crate) fn doorbell(&self) -> &Doorbell {
        self.waits.doorbell().expect("a driver is used on the thread that made it")
    }

    /// Registers a descriptor, which is waited for as `waited` says. What it is ready for is told
    /// at once, then at every edge.
    pub(crate) fn register(
        &self,
        fd: RawFd,
        watcher: Arc<dyn Watcher>,
        waited: Waited,
    ) -> io::Result<Key> {
        let edges = libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLET;
        let mut locked = self.locked.lock();
        // Under the lock: `close` sets the flag before it takes the lock to tell everybody.
        if self.is_closed() {
            drop(locked);
            return Err(crate::errors::no_runtime());
        }
        let key = locked.slots.insert(Slot::Source(watcher, waited));
        let result = epoll::add(&self.epoll, fd, edges as u32, key.to_bits());
        if let Err(error) = result {
            let slot = locked.slots.remove(key);
            drop(locked);
            drop(slot);
            return Err(error);
        }
        if waited != 0 {
            self.waits.begin();
        }
        Ok(key)
    }

    /// Removes a registration; what was waited for. No news of it comes after this returns, except
    /// what is being told at this moment.
    pub(crate) fn remove(&self, fd: RawFd, key: Key) -> Waited {
        let mut locked = self.locked.lock();
        let slot = locked.slots.remove(key);
        let waited = if let Some(Slot::Source(_, waited)) = slot { waited } else { 0 };
        if waited != 0 {
            self.waits.end();
        }
        drop(locked);
        // A stale key means that the loop was closed meanwhile, and the descriptor removed.
        if slot.is_some() {
            let _ = epoll::remove(&self.epoll, fd);
        }
        waited
    }

    /// Somebody begins to wait for `watcher`, which has this key if it is registered here; false
    /// if it is not.
    pub(crate) fn wait_for(&self, key: Key, watcher: *const (), direction: Direction) -> bool {
        let mut locked = self.locked.lock();
        let Some(Slot::Source(here, waited)) = locked.slots.get_mut(key) else { return false };
        if !std::ptr::addr_eq(Arc::as_ptr(here), watcher) {
            return false;
        }
        let before = std::mem::replace(waited, *waited | Interest::of(direction).bits());
        if before == 0 {
            self.waits.begin();
        }
        true
    }

    /// Nobody waits for this registration in this direction any more.
    pub(crate) fn wait_no_more(&self, key: Key, direction: Direction) {
        let mut locked = self.locked.lock();
        if let Some(Slot::Source(_, waited)) = locked.slots.get_mut(key) {
            self.waits.strike(waited, Interest::of(direction).bits());
        }
    }

    /// Tells the watcher that `pause` has passed, once it has.
    pub(crate) fn delay(&self, pause: Duration, watcher: Arc<dyn Watcher>) {
        let at = Instant::now() + pause;
        let mut locked = self.locked.lock();
        locked.delays.push(Delay { at, watcher });
        self.waits.begin();
        // Relaxed: a hint for the owner, which is woken below and then takes the lock.
        self.delayed.store(locked.delays.len(), Ordering::Relaxed);
        drop(locked);
        // The owner may be about to block for longer than the pause.
        self.wake.unpark();
    }

    /// Whether an event or the end of a delay has not been told yet. Any thread.
    pub(crate) fn is_pending(&self) -> bool {
        (self.waits.is_any() && epoll::is_readable(&self.epoll))
            || self.first_delay().is_some_and(|at| at <= Instant::now())
    }

    /// Fetches and tells what is there, without waiting. Any thread. The number of events told.
    pub(crate) fn look(&self, max: usize) -> usize {
        self.tell_delays();
        let mut told = 0;
        while told < max {
            let room = BATCH.min(max - told);
            let count = self.fetch(Limit::Now, room);
            told += count;
            if count < room {
                break;
            }
        }
        self.waits.notice();
        told
    }

    /// Waits until an event, the deadline or a nudge, and tells what is there. Owner only.
    pub(crate) fn park(&self, deadline: Option<Instant>) {
        if self.wake.take_token() {
            self.look(BATCH);
            return;
        }
        self.tell_delays();
        let limit = self.limit(deadline);
        self.fetch(limit, BATCH);
        let _ = self.wake.take_token();
        self.tell_delays();
        self.waits.notice();
    }

    /// How long a park may last.
    fn limit(&self, deadline: Option<Instant>) -> Limit {
        let delay = self.first_delay();
        let at = match (deadline, delay) {
            (Some(a), Some(b)) => a.min(b),
            (Some(at), None) | (None, Some(at)) => at,
            (None, None) => return Limit::Forever,
        };
        if at.is_far_future() {
            return Limit::Forever;
        }
        // One clock read per park with a deadline: the time-out is relative.
        let left = at.duration_since(Instant::now());
        if left.is_zero() { Limit::Now } else { Limit::For(left.min(LONGEST)) }
    }

    /// One call for at most `room` events, and the telling of them.
    fn fetch(&self, limit: Limit, room: usize) -> usize {
        let mut buffer = [const { MaybeUninit::uninit() }; BATCH];
        let into = &mut buffer[..room];
        let result = match (limit, &self.timer) {
            (Limit::For(time), Some(timer)) => {
                // The timer makes the descriptor readable at the nanosecond.
                let armed = epoll::set_timer(timer, time);
                armed.and_then(|()| epoll::wait(&self.epoll, into, Limit::Forever))
            }
            _ => epoll::wait(&self.epoll, into, limit),
        };
        // An interrupted wait is an early return. Other errors cannot happen with these arguments;
        // if one did, returning without events is all that could be done here.
        let Ok(events) = result else { return 0 };
        self.tell(events);
        events.len()
    }

    /// Tells watchers about events, taking the lock for as many as fit into one [`Due`].
    fn tell(&self, events: &[epoll::Event]) {
        let mut due = Due::new();
        let mut rest = events.iter();
        while !rest.as_slice().is_empty() {
            let mut locked = self.locked.lock();
            while due.has_room() {
                let Some(event) = rest.next() else { break };
                let slot = Key::from_bits(event.u64).and_then(|key| locked.slots.get_mut(key));
                match slot {
                    Some(Slot::Source(watcher, waited)) => {
                        self.waits.strike(waited, Bits::from_epoll(event.events).waited());
                        let then = watcher.tell(Role::Read, News::Ready(event.events), &mut due);
                        if then.later {
                            due.release(Arc::clone(watcher), true);
                        }
                    }
                    Some(Slot::Timer) => self.timer.iter().for_each(epoll::take_timer),
                    // A stale event, or a nudge: its flags are looked at by the owner.
                    Some(Slot::Wake) | None => {}
                }
            }
            drop(locked);
            due.settle();
        }
    }

    fn first_delay(&self) -> Option<Instant> {
        // Relaxed: whoever adds one unparks the owner.
        if self.delayed.load(Ordering::Relaxed) == 0 {
            return None;
        }
        self.locked.lock().delays.iter().map(|delay| delay.at).min()
    }

    /// Tells listeners whose pause is over. Costs one load while nobody pauses.
    fn tell_delays(&self) {
        // Relaxed: as above.
        if self.delayed.load(Ordering::Relaxed) == 0 {
            return;
        }
        let now = Instant::now();
        let mut due = Due::new();
        loop {
            let mut locked = self.locked.lock();
            let mut passed = false;
            while due.has_room() {
                let Some(at) = locked.delays.iter().position(|delay| delay.at <= now) else {
                    passed = true;
                    break;
                };
                let delay = locked.delays.swap_remove(at);
                self.waits.end();
                let then = delay.watcher.tell(Role::Delay, News::Elapsed, &mut due);
                due.release(delay.watcher, then.later);
            }
            // Relaxed: a hint, as above.
            self.delayed.store(locked.delays.len(), Ordering::Relaxed);
            drop(locked);
            due.settle();
            if passed {
                return;
            }
        }
    }

    /// Refuses registrations from now on, removes those there are and tells them. Owner only.
    pub(crate) fn close(&self) {
        // Release: pairs with the acquire of `is_closed`.
        self.closed.store(true, Ordering::Release);
        let mut due = Due::new();
        loop {
            let mut locked = self.locked.lock();
            let slots = std::mem::take(&mut locked.slots);
            let delays = std::mem::take(&mut locked.delays);
            self.waits.end_all();
            drop(locked);
            if slots.is_empty() && delays.is_empty() {
                return self.waits.notice();
            }
            for (_, slot) in slots.iter() {
                let Slot::Source(watcher, _) = slot else { continue };
                let then = watcher.tell(Role::Read, News::Closed, &mut due);
                due.release(Arc::clone(watcher), then.later);
                due.settle();
            }
            drop(delays);
        }
    }
}

impl std::fmt::Debug for Loop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loop").field("closed", &self.is_closed()).finish_non_exhaustive()
    }
}

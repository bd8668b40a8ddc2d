//! The timers of one worker: a wheel behind a small lock, with the next deadline in a word beside
//! it.
//!
//! # Question
//!
//! How does a worker learn before each dispatch, for one load, whether a timer is due, while
//! sleeps are armed, reset and dropped on any thread, none fires early, none is lost, and no waker
//! runs under the lock?
//!
//! # States
//!
//! An entry is Idle, Armed, Fired or Closed (see [`entry`](crate::time::entry)). The word `next`
//! is `u64::MAX` if nothing is armed and otherwise a time at which the owner must have looked.
//!
//! # Protocol
//!
//! * *Arm* (owner of the entry): put the waker in, take the lock, link. If the deadline is before
//!   `next`, lower `next`; if this is not the timers' own thread, call the notifier after
//!   unlocking, which unparks that thread.
//! * *Fire* (the worker; any thread that rescues it): under the lock advance the wheel, pop at
//!   most a batch, move each waker out and mark the entry Fired as the last access to it, store
//!   `next`; unlock, wake the batch; repeat.
//! * *Cancel* (owner, also by drop): if the entry is seen Fired, nothing is to be done. Otherwise
//!   take the lock and look again: still Armed means linked, so unlink and take the waker, to be
//!   dropped after unlocking; Fired means the firing thread is done with it.
//!
//! # Race
//!
//! Fire and cancel of one entry meet at the lock: whoever takes it first unlinks. A cancel without
//! the lock happens only after the acquire load of Fired, which the firing thread stored with
//! release after its last access: freeing the entry is ordered after all of them.
//!
//! A worker reads `next`, then parks until that time; a foreign thread lowers `next` in between.
//! Its unpark comes after the store, and parking takes the token (acquire), so the worker either
//! does not sleep or wakes at once, and then reads the lowered word.
//!
//! # Proof
//!
//! Models in the tests: `model_fire_meets_cancel`, `model_fire_meets_reset`,
//! `model_remote_arm_wakes_the_owner`; each red with the release in `Entry::finish` weakened, the
//! notifier left out, or the second look of cancel left out.
//!
//! # Spacing
//!
//! A lone timer fires at its deadline to the nanosecond. Where timers are dense, waking for each
//! would cost a system call a timer, so after some fired, the next look is at least three ticks
//! (49 µs) away, and six (98 µs) after a full batch of 32 or more. A timer is thus late by at most
//! that much for the sake of company, never early. Ten thousand sleeps that fire one a microsecond
//! take 0.89 of the processor time with looks 98 µs apart that they take with 49.

use std::ptr::NonNull;
use std::task::Waker;
use std::time::Duration;

use raddle_base::clock::Instant;
use raddle_base::shim::atomic::AtomicU64;
use raddle_base::shim::atomic::Ordering::Relaxed;
use raddle_base::shim::mutex::Mutex;
use raddle_base::wait::WakeBatch;

use crate::histogram::{Histogram, Recorder};
use crate::time::entry::{Entry, Phase};
use crate::time::level::TICK_BITS;
use crate::time::wheel::Wheel;

/// Least time between two looks that fire, in nanoseconds.
const SPACING: u64 = 3 << TICK_BITS;
/// The same after a look that fired a full batch.
const DENSE_SPACING: u64 = 2 * SPACING;

/// No timer is armed.
const NOTHING: u64 = u64::MAX;

/// The timers of one worker. Sleeps are armed and dropped on any thread; the worker fires them.
pub struct Timers {
    next: AtomicU64,
    inner: Mutex<Inner>,
    on_earlier: Box<dyn Fn() + Send + Sync>,
    clock: fn() -> Instant,
    /// How late timers fired. Written under the lock.
    lateness: Recorder,
}

#[derive(Debug)]
struct Inner {
    wheel: Wheel,
    /// No look that fires before this, see "Spacing".
    spaced: u64,
    closed: bool,
}

impl Inner {
    /// What `next` should say.
    fn next(&self) -> u64 {
        match self.wheel.next() {
            None => NOTHING,
            // A backlog is due at once.
            Some(now) if self.wheel.has_due() => now,
            Some(deadline) => deadline.max(self.spaced),
        }
    }
}

impl Timers {
    /// Timers on the monotonic clock. `on_earlier` is called when another thread than the owner
    /// armed a timer that comes before all others: it must make the owner look at [`next`] again.
    /// It runs on that other thread, outside any lock, and must not panic.
    ///
    /// Allocates the wheel, some 36 KiB; nothing after that.
    ///
    /// [`next`]: Self::next
    pub fn new(on_earlier: impl Fn() + Send + Sync + 'static) -> Self {
        Timers::with_clock(on_earlier, Instant::now)
    }

    /// Timers on a clock of the caller's.
    pub fn with_clock(
        on_earlier: impl Fn() + Send + Sync + 'static,
        clock: fn() -> Instant,
    ) -> Self {
        Timers {
            next: AtomicU64::new(NOTHING),
            inner: Mutex::new(Inner { wheel: Wheel::new(), spaced: 0, closed: false }),
            on_earlier: Box::new(on_earlier),
            clock,
            lateness: Recorder::new(),
        }
    }

    /// When [`fire`](Self::fire) must be called next: `None` while nothing is armed. One load.
    ///
    /// To the nanosecond, unless the earliest timer was cancelled or others fired less than 98 µs
    /// ago.
    #[inline]
    pub fn next(&self) -> Option<Instant> {
        // Relaxed: the word is a hint that says when to take the lock. The owner's own changes are
        // in its program order; those of others are followed by the notifier's unpark.
        let next = self.next.load(Relaxed);
        (next != NOTHING).then(|| Instant::from_nanos(next))
    }

    /// Whether anything is armed. One load.
    #[inline]
    pub fn is_armed(&self) -> bool {
        // Relaxed: as in `next`.
        self.next.load(Relaxed) != NOTHING
    }

    /// The time on the clock of these timers.
    #[inline]
    pub(crate) fn now(&self) -> Instant {
        (self.clock)()
    }

    /// Wakes at most `max` of those whose deadline is at or before `now`; returns how many.
    ///
    /// Costs one load if nothing is due. Wakers run on this thread, outside the lock, in batches;
    /// one that panics does not keep the others from being woken. Timers that were due together
    /// fire in the order of their 16 µs ticks.
    #[inline]
    pub fn fire(&self, now: Instant, max: usize) -> usize {
        // Relaxed: as in `next`.
        if self.next.load(Relaxed) > now.as_nanos() {
            return 0;
        }
        self.fire_due(now.as_nanos(), max)
    }

    fn fire_due(&self, now: u64, max: usize) -> usize {
        let mut fired = 0;
        // Kept until the end: a panic of a waker ends with the batch and goes no further, because
        // the sleeps fired with it have nothing to do with it.
        let mut batch = WakeBatch::new();
        loop {
            let more = {
                let mut inner = self.inner.lock();
                let before = fired;
                let mut first = now;
                fired += take_due(&mut inner, now, max - fired, &mut batch, &mut first);
                if fired != before {
                    self.lateness.record(Duration::from_nanos(now - first), 1);
                }
                // Relaxed: under the lock; read as a hint.
                self.next.store(inner.next(), Relaxed);
                inner.wheel.has_due()
            };
            batch.wake_all();
            if !more || fired >= max {
                return fired;
            }
        }
    }

    /// How late timers fired: of each batch of up to 32 that fired at once, the one that had been
    /// due for longest.
    pub(crate) fn lateness(&self) -> Histogram {
        self.lateness.snapshot()
    }

    /// Ends all sleeps that are armed, and all that will be: they panic when polled next, because
    /// nobody is left to wake them. For shutdown, after the tasks are gone.
    pub fn close(&self) {
        let mut batch = WakeBatch::new();
        loop {
            let more = {
                let mut inner = self.inner.lock();
                inner.closed = true;
                // Everything armed lies before the end of time.
                inner.wheel.advance(u64::MAX);
                take(&mut inner.wheel, usize::MAX, &mut batch, Phase::Closed, &mut { u64::MAX });
                // Relaxed: under the lock; read as a hint.
                self.next.store(NOTHING, Relaxed);
                inner.wheel.has_due()
            };
            batch.wake_all();
            if !more {
                return;
            }
        }
    }

    /// Links `entry`, to be woken at its deadline, unless the timers are closed.
    ///
    /// `owner` tells whether the calling thread is the one that fires these timers.
    ///
    /// # Safety
    ///
    /// The caller is the owner of the entry, which is not armed, is pinned, and is not freed
    /// before it was cancelled or seen in another phase than Armed.
    pub(crate) unsafe fn arm(&self, entry: &Entry, waker: Waker, owner: bool) {
        let deadline = entry.deadline();
        // SAFETY: the caller owns the entry, and it is linked just below.
        unsafe { entry.arm(waker) };
        let earlier = {
            let mut inner = self.inner.lock();
            if inner.closed {
                drop(inner);
                // SAFETY: the entry was never linked, so it is still ours alone.
                drop(unsafe { Entry::finish(NonNull::from(entry), Phase::Closed) });
                return;
            }
            if inner.wheel.is_empty() {
                // The wheel may be far behind the clock; catching up while it is empty costs one
                // clock read and saves every entry of the coming burst a cascade.
                inner.wheel.advance(self.now().as_nanos());
            }
            // SAFETY: the caller keeps the entry in place; the lock is held.
            unsafe { inner.wheel.insert(NonNull::from(entry)) };
            self.lower(deadline.max(inner.spaced))
        };
        if earlier && !owner {
            (self.on_earlier)();
        }
    }

    /// Lowers `next`, under the lock; true if that changed it.
    fn lower(&self, deadline: u64) -> bool {
        // Relaxed twice: writers hold the lock, and readers take the word as a hint.
        let earlier = deadline < self.next.load(Relaxed);
        if earlier {
            self.next.store(deadline, Relaxed);
        }
        earlier
    }

    /// Moves an armed entry to another deadline; false if it was fired or closed meanwhile.
    ///
    /// # Safety
    ///
    /// As for `cancel`.
    pub(crate) unsafe fn rearm(&self, entry: &Entry, deadline: u64, owner: bool) -> bool {
        let earlier = {
            let mut inner = self.inner.lock();
            if entry.phase() != Phase::Armed {
                return false;
            }
            // SAFETY: under the lock Armed means linked into this wheel, so it can be unlinked,
            // changed while it is not, and linked again; the owner keeps it in place.
            let freed = unsafe {
                let freed = inner.wheel.remove(NonNull::from(entry));
                entry.move_deadline(deadline);
                inner.wheel.insert(NonNull::from(entry));
                freed
            };
            if freed {
                self.raise(&inner);
            }
            self.lower(deadline.max(inner.spaced))
        };
        if earlier && !owner {
            (self.on_earlier)();
        }
        true
    }

    /// Puts `next` right, under the lock, after a slot became empty.
    fn raise(&self, inner: &Inner) {
        let next = inner.next();
        // Relaxed twice: as in `lower`. Not lowered: a bound that was raised by the spacing stays.
        if next > self.next.load(Relaxed) {
            self.next.store(next, Relaxed);
        }
    }

    /// Takes an entry back; it is not armed afterwards.
    ///
    /// # Safety
    ///
    /// The caller is the owner of `entry`, which was armed with these timers.
    pub(crate) unsafe fn cancel(&self, entry: &Entry) {
        let waker = {
            let mut inner = self.inner.lock();
            if entry.phase() != Phase::Armed {
                return;
            }
            // SAFETY: under the lock Armed means linked into this wheel; what was unlinked is
            // handed back to the owner, the caller.
            let (freed, waker) = unsafe {
                let freed = inner.wheel.remove(NonNull::from(entry));
                (freed, Entry::finish(NonNull::from(entry), Phase::Idle))
            };
            if freed {
                self.raise(&inner);
            }
            waker
        };
        drop(waker);
    }

    /// Wakes `waker` instead of the one given before, unless the entry was fired meanwhile.
    ///
    /// # Safety
    ///
    /// As for `cancel`.
    pub(crate) unsafe fn replace_waker(&self, entry: &Entry, waker: Waker) {
        let old = {
            let _inner = self.inner.lock();
            if entry.phase() != Phase::Armed {
                return;
            }
            // SAFETY: the lock is held, and Armed means linked.
            unsafe { entry.replace_waker(waker) }
        };
        drop(old);
    }
}

/// Moves wakers of at most `max` due entries into `batch` and returns how many; lowers `first` to
/// the earliest deadline among them.
fn take_due(
    inner: &mut Inner,
    now: u64,
    max: usize,
    batch: &mut WakeBatch,
    first: &mut u64,
) -> usize {
    // A backlog goes first: advancing looks through the current tick's slot, and doing that for
    // every batch would cost its length each time.
    let mut taken = take(&mut inner.wheel, max, batch, Phase::Fired, first);
    if !inner.wheel.has_due() {
        // Not to the very end of time, where the entries lie that wait for ever.
        inner.wheel.advance(now.min(u64::MAX - 1));
        taken += take(&mut inner.wheel, max - taken, batch, Phase::Fired, first);
    }
    if taken != 0 {
        let spacing = if batch.is_full() { DENSE_SPACING } else { SPACING };
        // The later one: what is left of a full batch does not shorten its spacing.
        inner.spaced = inner.spaced.max(now.saturating_add(spacing));
    }
    taken
}

/// Pops at most `max` due entries into `batch`, as far as it has room, and returns how many.
fn take(
    wheel: &mut Wheel,
    max: usize,
    batch: &mut WakeBatch,
    phase: Phase,
    first: &mut u64,
) -> usize {
    let mut taken = 0;
    while taken < max && !batch.is_full() {
        let Some(entry) = wheel.pop_due() else { break };
        // SAFETY: an entry lives until it is finished, and nobody changes its deadline before.
        *first = (*first).min(unsafe { entry.as_ref() }.deadline());
        // SAFETY: the lock is held by the caller, as `&mut Wheel` shows, and the entry was just
        // unlinked and is not touched again.
        batch.push(unsafe { Entry::finish(entry, phase) }.into());
        taken += 1;
    }
    taken
}

impl std::fmt::Debug for Timers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Timers").field("next", &self.next()).finish_non_exhaustive()
    }
}

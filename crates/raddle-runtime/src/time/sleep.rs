//! A future that is ready at a deadline.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use raddle_base::clock::Instant;
use raddle_base::context;
use raddle_base::wait::{WaitKind, WaitSite};

use crate::time::current;
use crate::time::entry::{Entry, Phase};
use crate::time::timers::Timers;

/// Below this, a sleep looks at the clock before it waits: it may be over by its first poll.
const SHORT: Duration = Duration::from_micros(16);

const NO_TIMERS: &str = "no timers on this thread: sleeps, timeouts and intervals must first be \
    polled inside a raddle runtime (in `raddle::run`, in a task, or in `Runtime::block_on`)";

const CLOSED: &str = "the runtime whose timers this sleep waits on has shut down";

/// Waits until `duration` has passed.
///
/// Never early. On an idle runtime late by less than 100 µs; a busy one looks for due timers
/// between dispatches. The clock starts at this call, not at the first poll. A duration of zero
/// is over at once; one that reaches beyond the end of time waits for ever.
///
/// # Panics
///
/// The future panics when polled on a thread that has no timers (outside a raddle runtime), or
/// after the runtime it waits on has shut down.
///
/// # Cancel safety
///
/// Dropping the future takes the timer back at once. Nothing is allocated.
#[inline]
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    let phase = if duration < SHORT { Phase::Unchecked } else { Phase::Idle };
    Sleep::with(current::now() + duration, phase)
}

/// Waits until `deadline`; over at once if that has passed. Otherwise as [`sleep`].
#[inline]
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep::with(deadline, Phase::Unchecked)
}

/// The future of [`sleep`] and [`sleep_until`].
///
/// It holds its timer in place and is therefore not `Unpin`: pin it with [`std::pin::pin!`] to
/// poll it by reference or to [`reset`](Self::reset) it. The timer is armed at the first poll and
/// stays with the worker that polled it first, wherever the task moves.
#[must_use = "futures do nothing unless awaited or polled"]
pub struct Sleep {
    entry: Entry,
    /// Where the entry is armed, or was last.
    timers: Option<Arc<Timers>>,
}

impl Sleep {
    #[inline]
    #[track_caller]
    fn with(deadline: Instant, phase: Phase) -> Sleep {
        Sleep { entry: Entry::new(deadline.as_nanos(), phase), timers: None }
    }

    /// What is waited for, and where in the program the sleep was made.
    pub fn wait_site(&self) -> WaitSite {
        WaitSite { kind: WaitKind::Time, location: self.entry.location() }
    }

    /// When it is over.
    pub fn deadline(&self) -> Instant {
        Instant::from_nanos(self.entry.deadline())
    }

    /// Whether the timer has fired. A sleep that was not polled yet has not.
    pub fn is_elapsed(&self) -> bool {
        self.entry.phase() == Phase::Fired
    }

    /// Moves the deadline, also of a sleep that is over, which then can be awaited again.
    ///
    /// A task that waits already is woken at the new deadline without polling again.
    pub fn reset(self: Pin<&mut Self>, deadline: Instant) {
        let deadline = deadline.as_nanos();
        let (entry, timers) = self.project();
        if entry.phase() == Phase::Armed {
            // Armed entries have timers: they are set before arming.
            let Some(timers) = timers else { return };
            // SAFETY: we own the entry, which is armed with these timers, and pinned.
            if unsafe { timers.rearm(entry, deadline, current::owns(timers)) } {
                return;
            }
        }
        // SAFETY: we own the entry, and it is not armed: only its owner arms it.
        unsafe { entry.rewind(deadline, Phase::Unchecked) };
    }

    /// The fields, without forming an exclusive reference to the entry, which a firing thread may
    /// be looking at.
    #[inline]
    fn project(self: Pin<&mut Self>) -> (&Entry, &mut Option<Arc<Timers>>) {
        // SAFETY: nothing is moved out of the pinned value; the entry stays in place until drop,
        // and `timers` is not pinned.
        unsafe {
            let this = std::ptr::from_mut(self.get_unchecked_mut());
            (&(*this).entry, &mut (*this).timers)
        }
    }

    /// As `poll`, whether or not the task has budget left, and without a note of the wait.
    #[inline]
    pub(crate) fn poll_unbudgeted(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let (entry, timers) = self.project();
        match entry.phase() {
            Phase::Fired => Poll::Ready(()),
            Phase::Idle => arm(entry, timers, cx),
            Phase::Unchecked => check(entry, timers, cx),
            Phase::Armed => wait_on(entry, timers, cx),
            Phase::Closed => panic!("{CLOSED}"),
        }
    }
}

/// The first poll of a sleep whose deadline may lie in the past: one clock read.
fn check(entry: &Entry, timers: &mut Option<Arc<Timers>>, cx: &mut Context<'_>) -> Poll<()> {
    if entry.deadline() > current::now().as_nanos() {
        return arm(entry, timers, cx);
    }
    // SAFETY: we own the entry, which is not armed.
    unsafe { entry.rewind(entry.deadline(), Phase::Fired) };
    Poll::Ready(())
}

/// The poll that starts to wait.
fn arm(entry: &Entry, timers: &mut Option<Arc<Timers>>, cx: &mut Context<'_>) -> Poll<()> {
    let owner = current::refresh(timers);
    let Some(timers) = timers else { panic!("{NO_TIMERS}") };
    // SAFETY: we own the entry and it is not armed; it is pinned, and `Drop for Sleep` cancels it.
    unsafe { timers.arm(entry, cx.waker().clone(), owner) };
    match entry.phase() {
        Phase::Closed => panic!("{CLOSED}"),
        Phase::Fired => Poll::Ready(()),
        _ => Poll::Pending,
    }
}

/// A poll while armed.
#[inline]
fn wait_on(entry: &Entry, timers: &Option<Arc<Timers>>, cx: &mut Context<'_>) -> Poll<()> {
    // SAFETY: we own the entry and saw it armed.
    if unsafe { entry.would_wake(cx.waker()) } {
        return Poll::Pending;
    }
    if let Some(timers) = timers {
        // SAFETY: we own the entry, which was armed with these timers.
        unsafe { timers.replace_waker(entry, cx.waker().clone()) };
    }
    match entry.phase() {
        Phase::Closed => panic!("{CLOSED}"),
        // Fired before the exchange: the old waker was woken, so this poll must not be missed.
        Phase::Fired => Poll::Ready(()),
        _ => Poll::Pending,
    }
}

impl Future for Sleep {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        std::task::ready!(context::check_budget(cx));
        let ready = self.as_mut().poll_unbudgeted(cx);
        match ready {
            Poll::Ready(()) => context::spend(),
            Poll::Pending => context::waits(WaitKind::Time, Some(self.entry.location())),
        }
        ready
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if self.entry.phase() == Phase::Armed
            && let Some(timers) = &self.timers
        {
            // SAFETY: we own the entry, which was armed with these timers.
            unsafe { timers.cancel(&self.entry) };
        }
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep")
            .field("deadline", &self.deadline())
            .field("is_elapsed", &self.is_elapsed())
            .finish()
    }
}

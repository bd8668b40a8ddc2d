//! A future that is ready at a deadline of the boot-time clock.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use raddle_base::clock::BootInstant;
use raddle_base::context;
use raddle_sync::Notified;

use crate::time::boot::resume;
use crate::time::{self, current};

/// Reads the boot-time clock.
pub(crate) type Clock = fn() -> BootInstant;

/// Where suspensions are not told of, the clock is looked at so often.
const STEP: Duration = Duration::from_secs(1);

/// Waits until `duration` has passed by the boot-time clock, which counts suspensions.
///
/// Never early. Late as [`time::sleep`](crate::time::sleep) is; after a suspension, by what the
/// kernel takes to start the thread that tells of it. The clock starts at this call. A duration of
/// zero is over at once; one that reaches beyond the end of time waits for ever. Nothing is
/// allocated, but the first such sleep of the process starts a thread (see the
/// [module](crate::time::boot)).
///
/// # Panics
///
/// As [`time::sleep`](crate::time::sleep), if polled where there are no timers.
///
/// # Cancel safety
///
/// Dropping the future takes the timer back at once.
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    sleep_until(BootInstant::now() + duration)
}

/// Waits until `deadline`; over at once if that has passed. Otherwise as [`sleep`].
#[track_caller]
pub fn sleep_until(deadline: BootInstant) -> Sleep {
    Sleep::with_clock(deadline, BootInstant::now)
}

/// The future of [`sleep`] and [`sleep_until`]. It is not `Unpin`: it holds its timer in place.
#[must_use = "futures do nothing unless awaited or polled"]
pub struct Sleep {
    deadline: BootInstant,
    /// What is left, by the clock of the runtime's timers.
    timer: time::Sleep,
    /// Whether `timer` was set for this deadline.
    set: bool,
    over: bool,
    resumed: Notified<'static>,
    clock: Clock,
}

impl Sleep {
    #[track_caller]
    pub(crate) fn with_clock(deadline: BootInstant, clock: Clock) -> Sleep {
        Sleep {
            deadline,
            timer: time::sleep_until(time::Instant::FAR_FUTURE),
            set: false,
            over: false,
            resumed: resume::resumed(),
            clock,
        }
    }

    /// When it is over.
    pub fn deadline(&self) -> BootInstant {
        self.deadline
    }

    /// Whether it was seen to be over. A sleep that was not polled yet is not.
    pub fn is_elapsed(&self) -> bool {
        self.over
    }

    /// Moves the deadline, also of a sleep that is over, which then can be awaited again. To be
    /// polled afterwards: a task that waits already is woken at the earlier of the two deadlines.
    pub fn reset(self: Pin<&mut Self>, deadline: BootInstant) {
        // SAFETY: only fields that are not pinned are written.
        let this = unsafe { self.get_unchecked_mut() };
        (this.deadline, this.set, this.over) = (deadline, false, false);
    }

    /// The time on this sleep's clock.
    pub(crate) fn now(&self) -> BootInstant {
        (self.clock)()
    }

    /// Sees to it that this task is told of the next suspension; true if there was one.
    fn hear(self: Pin<&mut Self>, cx: &mut Context<'_>) -> bool {
        // SAFETY: the field is pinned with the whole: nothing moves it out, and it is replaced in
        // place.
        let mut resumed = unsafe { self.map_unchecked_mut(|this| &mut this.resumed) };
        let mut told = false;
        while resumed.as_mut().poll(cx).is_ready() {
            told = true;
            resumed.set(resume::resumed());
        }
        told
    }

    /// As `poll`, whether or not the task has budget left.
    pub(crate) fn poll_unbudgeted(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.over {
            return Poll::Ready(());
        }
        let told = self.as_mut().hear(cx);
        // SAFETY: of the pinned fields, `resumed` is not touched and `timer` is pinned again.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: pinned with the whole; nothing moves it out.
        let mut timer = unsafe { Pin::new_unchecked(&mut this.timer) };
        let mut anew = told || !this.set;
        loop {
            let now = (this.clock)();
            if now >= this.deadline {
                this.over = true;
                return Poll::Ready(());
            }
            if anew {
                let step = step(this.deadline, now, resume::is_watched());
                timer.as_mut().reset(current::now() + step);
                this.set = true;
            }
            if timer.as_mut().poll_unbudgeted(cx).is_pending() {
                return Poll::Pending;
            }
            // A step is over, or the two clocks were not read at the same moment.
            anew = true;
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        ready!(context::check_budget(cx));
        let ready = self.poll_unbudgeted(cx);
        if ready.is_ready() {
            context::spend();
        }
        ready
    }
}

/// How long the timer may wait before the clock is looked at again.
pub(crate) fn step(deadline: BootInstant, now: BootInstant, watched: bool) -> Duration {
    match deadline - now {
        // For ever, by either clock.
        _ if deadline.is_far_future() => Duration::MAX,
        left if watched => left,
        left => left.min(STEP),
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}

//! Ticks on the boot-time clock.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use raddle_base::clock::{BootInstant, Instant};

use crate::time::boot::sleep::{Clock, Sleep};
use crate::time::interval::{LATE, MissedTickBehavior};

/// Ticks every `period` of the boot-time clock; the first tick is due at once. Allocates once, at
/// this call.
///
/// # Panics
///
/// If `period` is zero.
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    interval_at(BootInstant::now(), period)
}

/// Ticks every `period` of the boot-time clock, first at `start`. Allocates once, at this call.
///
/// # Panics
///
/// If `period` is zero.
#[track_caller]
pub fn interval_at(start: BootInstant, period: Duration) -> Interval {
    Interval::with_clock(start, period, BootInstant::now)
}

/// The stream of ticks of [`interval`] and [`interval_at`].
///
/// Ticks that fell due while the machine was suspended count as missed: by default they come all
/// at once, and [`MissedTickBehavior::Skip`] leaves them out.
pub struct Interval {
    delay: Pin<Box<Sleep>>,
    period: Duration,
    missed: MissedTickBehavior,
}

impl Interval {
    #[track_caller]
    pub(crate) fn with_clock(start: BootInstant, period: Duration, clock: Clock) -> Interval {
        assert!(period > Duration::ZERO, "the period of an interval must not be zero");
        let delay = Box::pin(Sleep::with_clock(start, clock));
        Interval { delay, period, missed: MissedTickBehavior::default() }
    }

    /// Waits for the next tick and returns when it was due.
    ///
    /// # Cancel safety
    ///
    /// A tick is consumed only when the future returns it.
    pub async fn tick(&mut self) -> BootInstant {
        poll_fn(|cx| self.poll_tick(cx)).await
    }

    /// Polls for the next tick; its value is when it was due.
    pub fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<BootInstant> {
        ready!(self.delay.as_mut().poll(cx));
        let (due, now) = (self.delay.deadline(), self.delay.now());
        let next = if now > due + LATE { self.after(due, now) } else { due + self.period };
        self.delay.as_mut().reset(next);
        Poll::Ready(due)
    }

    /// The tick after one that was consumed too late. The rule is arithmetic, whatever the clock.
    fn after(&self, due: BootInstant, now: BootInstant) -> BootInstant {
        let of = |instant: BootInstant| Instant::from_nanos(instant.as_nanos());
        BootInstant::from_nanos(self.missed.after(of(due), of(now), self.period).as_nanos())
    }

    /// The next tick comes one period from now.
    pub fn reset(&mut self) {
        let next = self.delay.now() + self.period;
        self.delay.as_mut().reset(next);
    }

    /// What is done about missed ticks.
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        self.missed
    }

    /// Sets what is done about missed ticks.
    pub fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        self.missed = behavior;
    }

    /// The period.
    pub fn period(&self) -> Duration {
        self.period
    }
}

impl fmt::Debug for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interval")
            .field("next", &self.delay.deadline())
            .field("period", &self.period)
            .field("missed", &self.missed)
            .finish()
    }
}

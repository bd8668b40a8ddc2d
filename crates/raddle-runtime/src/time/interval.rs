//! A clock that ticks: ready once in every period.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use raddle_base::clock::Instant;

use crate::time::current;
use crate::time::sleep::{Sleep, sleep_until};

/// A tick that is consumed later than this after its time counts as missed.
pub(crate) const LATE: Duration = Duration::from_millis(5);

/// Ticks every `period`; the first tick is due at once. Allocates once, at this call.
///
/// # Panics
///
/// If `period` is zero.
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    interval_at(current::now(), period)
}

/// Ticks every `period`, first at `start`. Allocates once, at this call.
///
/// # Panics
///
/// If `period` is zero.
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    assert!(period > Duration::ZERO, "the period of an interval must not be zero");
    Interval { delay: Box::pin(sleep_until(start)), period, missed: MissedTickBehavior::default() }
}

/// What an [`Interval`] does when ticks were not consumed in time.
///
/// | tick due at | 0 | 10 | 20 | 30 | 40 | 50 |
/// |---|---|---|---|---|---|---|
/// | consumer busy | | from 10 | | until 32 | | |
/// | `Burst` ticks at | 0 | 10 | 32 | 32 | 40 | 50 |
/// | `Delay` ticks at | 0 | 10 | 32 | 42 | 52 | … |
/// | `Skip` ticks at | 0 | 10 | 32 | | 40 | 50 |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissedTickBehavior {
    /// Ticks as fast as they are consumed until it has caught up.
    #[default]
    Burst,
    /// The next tick comes a whole period after the late one.
    Delay,
    /// The next tick comes at the next multiple of the period; those between are left out.
    Skip,
}

impl MissedTickBehavior {
    /// The tick after the one that was due at `due` and consumed at `now`, too late.
    pub(crate) fn after(self, due: Instant, now: Instant, period: Duration) -> Instant {
        match self {
            MissedTickBehavior::Burst => due + period,
            MissedTickBehavior::Delay => now + period,
            MissedTickBehavior::Skip => {
                let over = (now - due).as_nanos() % period.as_nanos();
                // At most the nanoseconds between two instants, hence 64 bits.
                now + (period - Duration::from_nanos(over as u64))
            }
        }
    }
}

/// The stream of ticks of [`interval`] and [`interval_at`].
pub struct Interval {
    delay: Pin<Box<Sleep>>,
    period: Duration,
    missed: MissedTickBehavior,
}

impl Interval {
    /// Waits for the next tick and returns when it was due.
    ///
    /// # Cancel safety
    ///
    /// A tick is consumed only when the future returns it.
    pub async fn tick(&mut self) -> Instant {
        poll_fn(|cx| self.poll_tick(cx)).await
    }

    /// Polls for the next tick; its value is when it was due.
    pub fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
        ready!(self.delay.as_mut().poll(cx));
        let due = self.delay.deadline();
        let now = current::now();
        let next = if now > due + LATE {
            self.missed.after(due, now, self.period)
        } else {
            due + self.period
        };
        self.delay.as_mut().reset(next);
        Poll::Ready(due)
    }

    /// The next tick comes one period from now.
    pub fn reset(&mut self) {
        self.reset_at(current::now() + self.period);
    }

    /// The next tick is due at once.
    pub fn reset_immediately(&mut self) {
        self.reset_at(current::now());
    }

    /// The next tick comes after `after`, whatever the period; later ones follow by the period.
    pub fn reset_after(&mut self, after: Duration) {
        self.reset_at(current::now() + after);
    }

    /// The next tick comes at `deadline`; later ones follow by the period.
    pub fn reset_at(&mut self, deadline: Instant) {
        self.delay.as_mut().reset(deadline);
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

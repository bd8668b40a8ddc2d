//! hyper's time-outs on raddle's timers.

use hyper::rt::{Sleep, Timer};
use raddle::time;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// Gives hyper raddle's time.
#[derive(Clone, Copy, Debug, Default)]
pub struct RaddleTimer;

/// A sleep that hyper waits for.
#[derive(Debug)]
pub struct TimerSleep(time::Sleep);

impl Future for TimerSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.inner().poll(cx)
    }
}

impl TimerSleep {
    fn inner(self: Pin<&mut Self>) -> Pin<&mut time::Sleep> {
        // SAFETY: the sleep is pinned with its wrapper: it is never moved out, and the wrapper
        // has neither a drop of its own nor is it `Unpin` unless the sleep is.
        unsafe { self.map_unchecked_mut(|sleep| &mut sleep.0) }
    }
}

impl Sleep for TimerSleep {}

impl Timer for RaddleTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(TimerSleep(time::sleep(duration)))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(TimerSleep(time::sleep_until(deadline.into())))
    }

    fn now(&self) -> Instant {
        time::Instant::now().into()
    }

    fn reset(&self, sleep: &mut Pin<Box<dyn Sleep>>, deadline: Instant) {
        match sleep.as_mut().downcast_mut_pin::<TimerSleep>() {
            Some(own) => own.inner().reset(deadline.into()),
            None => *sleep = self.sleep_until(deadline),
        }
    }
}

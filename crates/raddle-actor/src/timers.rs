//! Messages that come later, once or again and again.
//!
//! Each timer is a small task of the runtime on which it was made: it sleeps, sends, and ends early
//! when the mailbox closes. What it costs beyond the task is the flag by which
//! [`TimerRef::cancel`] and the timer agree on who was first. A timer holds an address: while one
//! is due, its process is not told that nobody has one.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use raddle_base::shim::atomic::AtomicU8;
use raddle_base::shim::atomic::Ordering::Relaxed;
use raddle_runtime::spawn;
use raddle_runtime::task::AbortHandle;
use raddle_runtime::time::{Instant, Sleep, sleep, sleep_until};

use crate::address::Address;

const ARMED: u8 = 0;
const FIRED: u8 = 1;
const CANCELLED: u8 = 2;

/// A timer that was set. Dropping this leaves it set.
pub struct TimerRef {
    state: Arc<AtomicU8>,
    task: AbortHandle,
}

impl TimerRef {
    /// Takes the timer back. True if it was set: no message of it is sent after this. (One that
    /// comes again and again is set until it ends.)
    pub fn cancel(&self) -> bool {
        // Relaxed: the exchange only decides who is first.
        let was = self.state.compare_exchange(ARMED, CANCELLED, Relaxed, Relaxed);
        if was.is_ok() {
            self.task.abort();
        }
        was.is_ok()
    }

    /// Whether it is still set.
    pub fn is_set(&self) -> bool {
        // Relaxed: nothing is read on its strength.
        self.state.load(Relaxed) == ARMED && !self.task.is_finished()
    }
}

impl fmt::Debug for TimerRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimerRef").field("set", &self.is_set()).finish()
    }
}

/// Sends `message` when `after` has passed: never earlier. A mailbox that is full by then is dealt
/// with as by [`Address::send`]; one that has closed gets nothing, and the message is dropped.
///
/// # Panics
///
/// On a thread that belongs to no runtime.
#[track_caller]
pub fn send_after<M: Send + 'static>(
    address: &Address<M>,
    after: Duration,
    message: M,
) -> TimerRef {
    let (state, address) = (Arc::new(AtomicU8::new(ARMED)), address.clone());
    let (flag, due) = (Arc::clone(&state), sleep(after));
    let task = spawn(async move {
        if until(due, &address).await && claim(&flag) {
            drop(address.send(message).await);
        }
    });
    TimerRef { state, task: task.abort_handle() }
}

/// Sends what `make` makes, each time when `period` has passed, until the mailbox closes or the
/// timer is cancelled. Ticks that a full mailbox or a busy program has missed are left out; those
/// after keep the rhythm.
///
/// # Panics
///
/// If the period is zero, or on a thread that belongs to no runtime.
#[track_caller]
pub fn send_every<M: Send + 'static>(
    address: &Address<M>,
    period: Duration,
    mut make: impl FnMut() -> M + Send + 'static,
) -> TimerRef {
    assert!(!period.is_zero(), "the period of a timer must not be zero");
    let (state, address) = (Arc::new(AtomicU8::new(ARMED)), address.clone());
    let flag = Arc::clone(&state);
    let mut next = Instant::now() + period;
    let task = spawn(async move {
        // Relaxed: as in `cancel`; the abort ends the task in any case.
        while until(sleep_until(next), &address).await && flag.load(Relaxed) == ARMED {
            if address.send(make()).await.is_err_and(|error| error.is_closed()) {
                break;
            }
            next = following(next, period, Instant::now());
        }
        // Relaxed: as in `cancel`.
        let _ = flag.compare_exchange(ARMED, FIRED, Relaxed, Relaxed);
    });
    TimerRef { state, task: task.abort_handle() }
}

/// The first tick after `now` that is a whole number of periods after `last`.
fn following(last: Instant, period: Duration, now: Instant) -> Instant {
    let period = u64::try_from(period.as_nanos()).unwrap_or(u64::MAX);
    let late = now.as_nanos().saturating_sub(last.as_nanos());
    let step = (late / period + 1).saturating_mul(period);
    Instant::from_nanos(last.as_nanos().saturating_add(step))
}

fn claim(flag: &AtomicU8) -> bool {
    // Relaxed: as in `cancel`.
    flag.compare_exchange(ARMED, FIRED, Relaxed, Relaxed).is_ok()
}

/// Waits for the time, or for the mailbox to close; true if it was the time.
async fn until<M>(due: Sleep, address: &Address<M>) -> bool {
    let (mut due, mut closed) = (pin!(due), pin!(address.closed()));
    poll_fn(|cx| {
        if closed.as_mut().poll(cx).is_ready() {
            return Poll::Ready(false);
        }
        due.as_mut().poll(cx).map(|()| true)
    })
    .await
}

#[cfg(all(test, not(loom)))]
#[path = "tests/timers.rs"]
mod tests;

//! One future on one thread: the bridge from blocking code to everything that is awaited.
//!
//! Question: where may a wait block the thread? On a plain thread and in a blocking job: yes, that
//! is what they are for. Inside the poll of an async task: never, it would stop the worker and
//! perhaps wait for work that only this worker can do. On an actor's stack: not the thread, but the
//! stack can be left until the future is ready, and that is what a wait does there. The thread's
//! execution context ([`raddle_base::context`]) knows which it is, so a refusal is immediate and
//! comes with advice.
//!
//! Each thread has one cached parker; a wait inside a wait (from a destructor, say) takes a fresh
//! one. Tokens of `std::thread::park` are neither used nor eaten.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use raddle_base::clock::Instant;
use raddle_base::context::{self, Blocker, Place};
use raddle_base::parker;

/// Runs a future to its end on this thread, which sleeps while the future waits. On the stack of an
/// actor it is the actor that waits, and the thread does other work.
///
/// Nothing is allocated, but for a parker at the thread's first call.
///
/// # Panics
///
/// Inside the poll of an async task, where blocking would stop a worker. See [`try_block_on`] for
/// a form that returns an error.
///
/// ```
/// assert_eq!(raddle_sync::block_on(async { 1 + 1 }), 2);
/// ```
#[track_caller]
pub fn block_on<F: IntoFuture>(future: F) -> F::Output {
    match try_block_on(future) {
        Ok(output) => output,
        Err(refused) => panic!("{refused}"),
    }
}

/// As [`block_on`], but where blocking is not allowed it gives the future back, unpolled.
pub fn try_block_on<F: IntoFuture>(future: F) -> Result<F::Output, Refused<F>> {
    match check_place() {
        Ok(()) => match run(future.into_future(), Instant::FAR_FUTURE) {
            Some(output) => Ok(output),
            None => unreachable!("a wait without a deadline ended by it"),
        },
        Err(place) => Err(Refused { future, place }),
    }
}

/// As [`block_on`], for at most `limit`; `None` if the future was not done by then.
///
/// The future is polled before the clock is looked at, so a ready one is never refused, even with
/// a limit of zero; a limit beyond the end of time is none. When time is up the future is dropped.
///
/// # Panics
///
/// Inside the poll of an async task, as [`block_on`].
///
/// ```
/// use std::time::Duration;
/// let never = std::future::pending::<()>();
/// assert_eq!(raddle_sync::wait_timeout(never, Duration::from_millis(1)), None);
/// ```
#[track_caller]
pub fn wait_timeout<F: IntoFuture>(future: F, limit: Duration) -> Option<F::Output> {
    wait_until(future, Instant::now() + limit)
}

/// As [`wait_timeout`], until a point in time.
///
/// # Panics
///
/// Inside the poll of an async task, as [`block_on`].
#[track_caller]
pub fn wait_until<F: IntoFuture>(future: F, deadline: Instant) -> Option<F::Output> {
    match check_place() {
        Ok(()) => run(future.into_future(), deadline),
        Err(place) => panic!("{}", Refused { future, place }),
    }
}

/// Any future, awaited by blocking: `channel.recv().wait()`. On a plain thread and in a blocking
/// job the thread sleeps; on the stack of an actor the actor does.
pub trait Wait: IntoFuture + Sized {
    /// Waits for the output. The same as [`block_on`].
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task: use `.await` there.
    #[track_caller]
    fn wait(self) -> Self::Output {
        block_on(self)
    }

    /// Waits for the output for at most `limit`. The same as [`wait_timeout`].
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task: use a timer of your runtime there.
    #[track_caller]
    fn wait_timeout(self, limit: Duration) -> Option<Self::Output> {
        wait_timeout(self, limit)
    }

    /// Waits for the output, or gives the future back where blocking is not allowed. The same as
    /// [`try_block_on`].
    fn try_wait_on(self) -> Result<Self::Output, Refused<Self>> {
        try_block_on(self)
    }
}

impl<F: IntoFuture> Wait for F {}

/// Blocking is not allowed here. Holds the future, which was not polled.
pub struct Refused<F> {
    future: F,
    place: Place,
}

impl<F> Refused<F> {
    /// The future that was to be waited for.
    pub fn into_inner(self) -> F {
        self.future
    }
}

impl<F> fmt::Display for Refused<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.place {
            Place::Actor => "this stack cannot be left here: its scheduler has not said how",
            _ => {
                "a blocking wait inside an async task would stop its worker: use `.await`, or move \
                 the blocking code to `spawn_blocking`"
            }
        })
    }
}

impl<F> fmt::Debug for Refused<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refused").field("place", &self.place).finish_non_exhaustive()
    }
}

impl<F> std::error::Error for Refused<F> {}

fn check_place() -> Result<(), Place> {
    match context::place() {
        Place::Thread | Place::Blocking => Ok(()),
        Place::Actor if context::with_blocker(|blocker| blocker.is_some()) => Ok(()),
        place @ (Place::Task | Place::Actor) => Err(place),
    }
}

/// Polls the future here until it is ready or the deadline passed.
fn run<F: Future>(future: F, deadline: Instant) -> Option<F::Output> {
    let mut future = pin!(future);
    context::with_blocker(|blocker| match blocker {
        Some(blocker) => run_on_actor(blocker, future.as_mut(), deadline),
        None => run_on_thread(future.as_mut(), deadline),
    })
}

/// As [`run`], while the actor's stack is left between two polls.
fn run_on_actor<F: Future>(
    blocker: &dyn Blocker,
    mut future: Pin<&mut F>,
    deadline: Instant,
) -> Option<F::Output> {
    let mut output = None;
    blocker
        .block_on(deadline, &mut |cx| future.as_mut().poll(cx).map(|ready| output = Some(ready)));
    output
}

/// As [`run`], while the thread sleeps between two polls.
fn run_on_thread<F: Future>(mut future: Pin<&mut F>, deadline: Instant) -> Option<F::Output> {
    parker::with_current(|parker| {
        let waker = parker::waker(parker);
        let mut cx = Context::from_waker(&waker);
        loop {
            // What is polled here is async code: it must not block in turn.
            let inside = context::enter(Place::Task);
            let polled = future.as_mut().poll(&mut cx);
            drop(inside);
            if let Poll::Ready(output) = polled {
                return Some(output);
            }
            if deadline.is_far_future() {
                parker.park();
                continue;
            }
            // One clock read a poll: a future that wakes itself all the time must end, too.
            if Instant::now() >= deadline || !parker.park_until(deadline) {
                return None;
            }
        }
    })
}

#[cfg(all(test, not(loom)))]
#[path = "tests/block_on.rs"]
mod tests;

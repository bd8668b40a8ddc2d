//! The future of an operation.
//!
//! First it attempts the operation in place. If that does not do, it goes to the ring of this
//! thread's driver (or is posted to the driver this thread was given), or waits for readiness, or
//! goes to a blocking thread, as the operation says. Only what leaves the future is allocated.

use crate::current;
use crate::epoll::Loop;
use crate::flight::Flight;
use crate::interest::Direction;
use crate::offload::OffloadError;
use crate::op::{Entry, Operation, Route};
use crate::remote::Inner;
use crate::shell::Attempt;
use crate::uring::Ring;
use crate::waiters::{Seat, WaitSlot};
use crate::watcher::{Role, Watcher};
use raddle_base::context;
use raddle_base::wait::WaitKind;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// A started operation; `Ready` with its output.
///
/// Does nothing until polled. Dropping it asks the kernel to cancel the operation and does not
/// wait; a cancelled write may have been carried out, in whole or in part. Memory the kernel may
/// still access stays with the operation until the kernel is done.
#[must_use = "futures do nothing unless polled"]
pub struct Submitted<O: Operation> {
    stage: Stage<O>,
    slot: WaitSlot,
}

enum Stage<O> {
    /// Not begun.
    Fresh(O),
    /// Waits until its source is ready.
    Waiting(O),
    /// With a ring.
    Flying(Arc<Flight<O>>, Arc<Ring>),
    /// With a blocking thread.
    Offloaded(Arc<Flight<O>>),
    /// The output was given, or the operation is being moved.
    Over,
}

impl<O: Operation> Submitted<O> {
    #[track_caller]
    pub(crate) fn new(operation: O) -> Submitted<O> {
        Submitted { stage: Stage::Fresh(operation), slot: WaitSlot::new(Direction::Write) }
    }

    /// Attempts the operation, then finds the way it goes on.
    fn begin(&mut self, mut operation: O, cx: &mut Context<'_>) -> Poll<O::Output> {
        let remote = match current::with(Arc::clone) {
            Ok(remote) => remote,
            Err(error) => return Poll::Ready(operation.finish(Err(error))),
        };
        let ring = matches!(remote.inner, Inner::Uring(_));
        if let Some(result) = operation.attempt(ring) {
            return Poll::Ready(operation.finish(result));
        }
        match &remote.inner {
            Inner::Uring(ring) if operation.may_fly() => self.fly(ring, operation, cx),
            Inner::Uring(_) => {
                self.stage = Stage::Waiting(operation);
                self.poll_stage(cx)
            }
            Inner::Epoll(poller) => match operation.route() {
                Route::Ready(..) => {
                    self.stage = Stage::Waiting(operation);
                    self.poll_stage(cx)
                }
                Route::Offload => self.offload(poller, operation, cx),
            },
        }
    }

    fn fly(&mut self, ring: &Arc<Ring>, operation: O, cx: &mut Context<'_>) -> Poll<O::Output> {
        let flight = Arc::new(Flight::new(operation));
        // SAFETY: the flight is new: the kernel has not begun, and nobody else knows it.
        let Entry(sqe) = unsafe { flight.with(O::entry) };
        let watcher = Arc::clone(&flight) as Arc<dyn Watcher>;
        // SAFETY: the operation promises it for as long as it lives at its address, which is
        // within the flight until the completion has been told.
        match unsafe { ring.request(sqe, watcher, Role::Read) } {
            Ok(()) => {
                self.stage = Stage::Flying(flight, Arc::clone(ring));
                self.poll_stage(cx)
            }
            Err(error) => flight.refuse(error),
        }
    }

    fn offload(&mut self, poller: &Loop, operation: O, cx: &mut Context<'_>) -> Poll<O::Output> {
        let flight = Arc::new(Flight::new(operation));
        self.stage = Stage::Offloaded(Arc::clone(&flight));
        let mut job = Job(Some(flight));
        let refused = poller.offload.run(Box::new(move || job.run()));
        if let Err(OffloadError::Full) = refused {
            // The dropped job has ended the flight with "cancelled"; say more than that.
            let Stage::Offloaded(flight) = std::mem::replace(&mut self.stage, Stage::Over) else {
                unreachable!("set above")
            };
            return flight.refuse_ended(io::ErrorKind::ResourceBusy.into());
        }
        self.poll_stage(cx)
    }

    fn poll_stage(&mut self, cx: &mut Context<'_>) -> Poll<O::Output> {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Fresh(operation) => self.begin(operation, cx),
            Stage::Waiting(operation) => self.poll_waiting(operation, cx),
            Stage::Flying(flight, ring) => {
                let polled = flight.poll(cx);
                if polled.is_pending() {
                    context::waits(WaitKind::Operation, Some(self.slot.location()));
                    self.stage = Stage::Flying(flight, ring);
                }
                polled
            }
            Stage::Offloaded(flight) => {
                let polled = flight.poll(cx);
                if polled.is_pending() {
                    context::waits(WaitKind::Operation, Some(self.slot.location()));
                    self.stage = Stage::Offloaded(flight);
                }
                polled
            }
            Stage::Over => panic!("an operation was polled after its end"),
        }
    }

    fn poll_waiting(&mut self, mut operation: O, cx: &mut Context<'_>) -> Poll<O::Output> {
        // SAFETY: the slot is pinned with the future, which is only polled pinned.
        let slot = unsafe { Pin::new_unchecked(&self.slot) };
        loop {
            if let Some(result) = operation.attempt(false) {
                leave(&operation, slot);
                return Poll::Ready(operation.finish(result));
            }
            let Route::Ready(handle, direction) = operation.route() else {
                unreachable!("an operation keeps its route")
            };
            match handle.poll_wait(direction, Seat::Queue(slot), cx) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => {
                    leave(&operation, slot);
                    return Poll::Ready(operation.finish(Err(error)));
                }
                Poll::Pending => {
                    self.stage = Stage::Waiting(operation);
                    return Poll::Pending;
                }
            }
        }
    }
}

/// Gives up the place in the source's queue.
fn leave<O: Operation>(operation: &O, slot: Pin<&WaitSlot>) {
    if let Route::Ready(handle, _) = operation.route() {
        handle.leave(slot);
    }
}

/// What an attempt on a source comes to for an operation.
pub(crate) fn attempted(attempt: Attempt<usize>) -> Option<io::Result<u32>> {
    match attempt {
        Attempt::Done(result) => Some(result.map(|count| u32::try_from(count).unwrap_or(u32::MAX))),
        Attempt::Blocked => None,
    }
}

impl<O: Operation> Future for Submitted<O> {
    type Output = O::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<O::Output> {
        ready!(context::check_budget(cx));
        // SAFETY: the slot stays where it is; an operation is `Unpin`.
        let this = unsafe { self.get_unchecked_mut() };
        let polled = this.poll_stage(cx);
        if polled.is_ready() {
            context::spend();
        }
        polled
    }
}

impl<O: Operation> Drop for Submitted<O> {
    fn drop(&mut self) {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Waiting(operation) => {
                // SAFETY: the future was pinned when it began to wait, and is not moved any more.
                leave(&operation, unsafe { Pin::new_unchecked(&self.slot) });
            }
            Stage::Flying(flight, ring) => {
                if flight.abandon() {
                    ring.cancel(flight, Role::Read);
                }
            }
            // A blocking call cannot be cancelled: it ends in its own time.
            Stage::Offloaded(flight) => drop(flight.abandon()),
            Stage::Fresh(_) | Stage::Over => {}
        }
    }
}

impl<O: Operation> fmt::Debug for Submitted<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.stage {
            Stage::Fresh(_) => "Submitted(fresh)",
            Stage::Waiting(_) => "Submitted(waiting)",
            Stage::Flying(..) => "Submitted(flying)",
            Stage::Offloaded(_) => "Submitted(offloaded)",
            Stage::Over => "Submitted(over)",
        })
    }
}

/// A job for a blocking thread. Dropped without having run, it ends the operation as cancelled.
struct Job<O: Operation>(Option<Arc<Flight<O>>>);

impl<O: Operation> Job<O> {
    fn run(&mut self) {
        let Some(flight) = self.0.take() else { return };
        // SAFETY: the job is the kernel's side of this flight, and it runs once.
        let result = unsafe { flight.with(O::block) };
        flight.complete_and_wake(result);
    }
}

impl<O: Operation> Drop for Job<O> {
    fn drop(&mut self) {
        if let Some(flight) = self.0.take() {
            flight.complete_and_wake(Err(io::Error::from_raw_os_error(libc::ECANCELED)));
        }
    }
}

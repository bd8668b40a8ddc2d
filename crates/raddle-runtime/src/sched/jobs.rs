//! Blocking jobs as tasks: the same handle, the same errors, other threads.
//!
//! A blocking job is a task whose future runs a closure in its one poll. The poll happens on a
//! thread of the blocking pool, and the task is in no queue of the scheduler and not in the list
//! of live tasks: the pool has it, until it has run or been dropped.

use std::any::Any;
use std::panic::Location;
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll, Waker};

use raddle_base::context::{self, Place};

use crate::blocking::job;
use crate::blocking::shared::Reservation;
use crate::sched::shared::Shared;
use crate::task::{
    Id, JoinError, JoinHandle, Meta, RawTask, Runnable, Schedule, Step, allocate, enter_worker,
};

/// A closure as a future that is ready at once.
struct Job<F>(Option<F>);

impl<F> Unpin for Job<F> {}

impl<F: FnOnce() -> T, T> Future for Job<F> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        let Some(job) = self.0.take() else { unreachable!("a job is polled once") };
        let _place = context::enter(Place::Blocking);
        Poll::Ready(job())
    }
}

/// What a job knows of a scheduler: none, it is never woken.
enum NoScheduler {}

impl Schedule for NoScheduler {
    unsafe fn schedule(_: *const (), _: Runnable) {
        unreachable!("a blocking job is claimed from birth and ends in one poll")
    }

    unsafe fn release(_: *const (), _: RawTask) -> bool {
        // Its reference for a live list is given up at birth.
        false
    }

    fn cancelled(id: Id) -> JoinError {
        // Set while the pool drops a job that it does not run.
        match job::reason() {
            Some(refusal) => JoinError::refused(id, refusal),
            None => JoinError::cancelled(id),
        }
    }

    unsafe fn wake_joiner(_: *const (), joiner: Waker) {
        joiner.wake();
    }

    unsafe fn unhandled_panic(_: *const (), _: RawTask, payload: Box<dyn Any + Send>) {
        // The panic hook has printed its message; the payload's destructor may panic itself.
        std::mem::forget(payload);
    }
}

/// The run reference of a job, which resolves the handle also if the job is never run.
struct Accepted(Option<Runnable>);

impl Accepted {
    fn run(mut self) {
        self.finish();
    }

    fn finish(&mut self) {
        if let Some(task) = self.0.take() {
            let _polling = enter_worker();
            let Step::Done = task.run(0) else { unreachable!("a job ends in one poll") };
        }
    }
}

impl Drop for Accepted {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.header().state.mark_cancelled();
            self.finish();
        }
    }
}

impl Shared {
    /// Has `f` run on a thread that may block. If the pool refuses it, the handle gives an error
    /// that says why.
    pub(crate) fn spawn_blocking<F, T>(
        &self,
        f: F,
        place: Option<Reservation>,
        site: &'static Location<'static>,
    ) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let meta = Meta { site };
        // SAFETY: closure and output are `Send`; `NoScheduler` uses no pointer.
        let raw = unsafe {
            allocate::<Job<F>, NoScheduler>(Job(Some(f)), ptr::null(), false, (0, 0), None, meta)
        };
        // The reference meant for the list of live tasks.
        raw.drop_refs(1);
        // SAFETY: the join reference of the new task, whose output is `T`.
        let handle = unsafe { JoinHandle::new(raw) };
        // SAFETY: the run reference of the new task.
        let job = Accepted(Some(unsafe { Runnable::from_raw_task(raw) }));
        let job = Box::new(move || job.run());
        let submitted = match place {
            Some(place) => place.submit(job),
            None => self.blocking.submit(job),
        };
        if let Err(error) = submitted {
            // A refused job is dropped, and so resolves its handle.
            job::refuse(error.job, error.refusal);
        }
        handle
    }
}

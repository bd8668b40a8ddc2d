//! The threads of a pool: how one is started, what it does, and how it sleeps.
//!
//! # Question
//!
//! How does a pool grow with its work and shrink without it, such that an accepted job is never
//! left with all threads asleep, and a job that waits for another job never waits for itself?
//!
//! # States
//!
//! See [`state`](crate::blocking::state): all decisions are made there, under one lock. An idle
//! thread is on a list of parkers; being taken off that list is its call to work.
//!
//! # Protocol
//!
//! * *Submit*: under the lock, queue the job and take the latest idle thread off the list, or
//!   note that a thread is being started; then, without the lock, unpark or start it.
//! * *Idle*: under the lock, find the queue empty and go on the list; park until the keep-alive
//!   is over. Then, under the lock again: still on the list and the time over means leave; not on
//!   the list means called, whatever the clock says.
//! * *Start*: the first job travels with the new thread. If the system refuses the thread, the
//!   job goes to those who are there, or back to the caller with the reason.
//!
//! # Race
//!
//! A thread's keep-alive ends at the moment when it is called. Both happen under the lock: if the
//! call is first, the thread is off the list and looks for the job; if the end is first, the
//! thread is off the list and the submitter finds another way. The token of an unpark that comes
//! too late makes the thread's next park return early, which it is ready for.
//!
//! # Proof
//!
//! The invariants of `state` are checked after every step of random histories
//! (`random_histories_keep_the_books`), the race by `model_a_call_meets_the_end_of_patience`, and
//! the whole by bursts of jobs on two threads with a keep-alive of 1 ms.
//!
//! # Waiting for another job
//!
//! A job that polls a join handle, from `block_on` for instance, and finds it pending does not
//! count as a thread while it waits: the pool starts another one for what is queued, beyond the
//! maximum if need be. So nested use completes on a pool of one thread, also through tasks. If the
//! system refuses the thread and nobody else is there, the queued jobs are refused and their
//! handles say so. Waiting by other means (a channel, a lock of std) is not seen.

use std::any::Any;
use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::ptr;
use std::sync::{Arc, OnceLock};

use raddle_base::clock::Instant;
use raddle_base::parker::Parker;
use raddle_base::shim::mutex::{Condvar, Mutex};
use raddle_sync::Notify;

use crate::blocking::config::Config;
use crate::blocking::error::{Refusal, SubmitError};
use crate::blocking::job::{self, Job, contain};
use crate::blocking::state::{Admitted, Next, State};

/// Makes a thread at home in a runtime until the value is dropped, on that thread.
pub(crate) type Enter = Box<dyn Fn() -> Option<Box<dyn Any>> + Send + Sync>;

/// What the handle of a pool and its threads share.
pub(crate) struct Shared {
    state: Mutex<State>,
    /// The last thread has ended, or one has.
    ended: Condvar,
    config: Config,
    /// What the threads hold while they run jobs; set once, before the first job.
    pub(crate) enter: OnceLock<Enter>,
    /// Told of each place that becomes free, where places are limited.
    room: Notify,
}

/// The pool thread that runs here.
struct Here {
    shared: *const Shared,
    /// Whether the job it runs waits for another one, and is counted so.
    waiting: Cell<bool>,
}

raddle_base::local! {
    static HERE: Cell<*const Here> = const { Cell::new(ptr::null()) };
}

impl Shared {
    pub(crate) fn new(config: Config) -> Arc<Shared> {
        let limit = config.queue_limit.unwrap_or(usize::MAX);
        Arc::new(Shared {
            state: Mutex::new(State::new(config.max_threads, limit)),
            ended: Condvar::new(),
            config,
            enter: OnceLock::new(),
            room: Notify::new(),
        })
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// Looks at the books.
    pub(crate) fn with_state<R>(&self, f: impl FnOnce(&State) -> R) -> R {
        f(&self.state.lock())
    }

    /// Takes a job in, or gives it back.
    pub(crate) fn submit(self: &Arc<Self>, job: Job) -> Result<(), (Job, Refusal)> {
        let admitted = self.state.lock().admit(job);
        self.follow(admitted)
    }

    /// Reserves a place for a job, if there is one.
    pub(crate) fn try_reserve(self: &Arc<Self>) -> Result<Reservation, Refusal> {
        self.state.lock().reserve()?;
        Ok(Reservation { shared: Some(Arc::clone(self)) })
    }

    /// Waits for a place. An error means that the pool is closed.
    pub(crate) async fn reserve(self: &Arc<Self>) -> Result<Reservation, Refusal> {
        loop {
            // Made before the look, so that the closing of the pool reaches it in any case.
            let freed = self.room.notified();
            match self.try_reserve() {
                Err(Refusal::Full) => freed.await,
                decided => return decided,
            }
        }
    }

    /// A place may have become free.
    fn freed(&self) {
        if self.config.queue_limit.is_some() {
            self.room.notify_one();
        }
    }

    fn follow(self: &Arc<Self>, admitted: Admitted) -> Result<(), (Job, Refusal)> {
        match admitted {
            Admitted::Queued => Ok(()),
            Admitted::Wake(parker) => {
                parker.unpark();
                Ok(())
            }
            Admitted::Refused(job, refusal) => Err((job, refusal)),
            Admitted::Start(job) => self.start(job),
        }
    }

    /// Starts a thread that begins with `job`. The books count it as starting already.
    fn start(self: &Arc<Self>, job: Job) -> Result<(), (Job, Refusal)> {
        // The job travels in a box of its own, so that it is still here if the start fails.
        let parcel = Arc::new(Mutex::new(Some(job)));
        let (shared, theirs) = (Arc::clone(self), Arc::clone(&parcel));
        let main = Box::new(move || {
            let job = theirs.lock().take();
            drop(theirs);
            thread_main(&shared, job);
        });
        let Err(error) = (self.config.start)(self.config.builder(), main) else { return Ok(()) };
        let Some(job) = parcel.lock().take() else { return Ok(()) };
        let refusal = Refusal::NoThread { os_error: error.raw_os_error() };
        let (admitted, orphans) = self.state.lock().start_failed(job, refusal);
        refuse_all(orphans, refusal);
        match admitted {
            // A second failure would come to the same decision: nobody is there.
            Admitted::Start(job) => Err((job, refusal)),
            other => self.follow(other),
        }
    }

    /// Ends admission: jobs that nobody began are refused, threads without a job end.
    pub(crate) fn close(&self) {
        let (queue, idle) = self.state.lock().close();
        idle.iter().for_each(|parker| parker.unpark());
        self.room.notify_waiters();
        refuse_all(queue, Refusal::Closed);
    }

    /// Waits until all threads but the calling one have ended, or until `deadline`; returns how
    /// many have not.
    pub(crate) fn wait_ended(&self, deadline: Instant) -> usize {
        let own = usize::from(self.is_here());
        let mut state = self.state.lock();
        loop {
            let left = state.present() - own;
            let limit = deadline.duration_since(Instant::now());
            if left == 0 || limit.is_zero() {
                return left;
            }
            state = self.ended.wait_timeout(state, limit).0;
        }
    }

    /// Whether the calling thread is one of this pool's, running a job.
    fn is_here(&self) -> bool {
        let here = HERE.get();
        // SAFETY: a pointer in `HERE` is to a local of `run_jobs` further up this stack.
        !here.is_null() && unsafe { ptr::eq((*here).shared, self) }
    }

    /// Parks an idle thread until it is called (a job or nothing to run) or to leave.
    fn idle(&self, parker: &Arc<Parker>) -> Next {
        let until = Instant::now() + self.config.keep_alive;
        loop {
            // Without patience there is nothing to wait for, and a model has no time to pass.
            let called = !self.config.keep_alive.is_zero() && parker.park_until(until);
            // A clock read per wake-up of a sleeping thread.
            let expired = !called || Instant::now() >= until;
            match self.state.lock().woke(parker, expired) {
                Next::Park => {}
                next => return next,
            }
        }
    }
}

/// A place for a job in a [`BlockingPool`](crate::blocking::BlockingPool), kept until it is used
/// or dropped.
#[must_use = "the place is given up as soon as this is dropped"]
pub struct Reservation {
    /// Taken when the place is used.
    shared: Option<Arc<Shared>>,
}

impl Reservation {
    /// Has `job` run on a thread of the pool.
    ///
    /// # Errors
    ///
    /// The job back, if the pool was closed since, or no thread could be started and none is
    /// there.
    pub fn submit(mut self, job: Job) -> Result<(), SubmitError<Job>> {
        let Some(shared) = self.shared.take() else { unreachable!("a place is used once") };
        let admitted = shared.state.lock().admit_reserved(job);
        shared.follow(admitted).map_err(|(job, refusal)| SubmitError { refusal, job })
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(shared) = &self.shared {
            shared.state.lock().unreserve();
            shared.freed();
        }
    }
}

impl fmt::Debug for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reservation")
    }
}

/// Refuses jobs outside the lock: their destructors are foreign code.
fn refuse_all(jobs: VecDeque<Job>, refusal: Refusal) {
    jobs.into_iter().for_each(|job| job::refuse(job, refusal));
}

/// What a pool thread does from begin to end.
fn thread_main(shared: &Arc<Shared>, first: Option<Job>) {
    shared.state.lock().started();
    if let Some(hook) = &shared.config.on_thread_start {
        contain(|| hook());
    }
    let entered = shared.enter.get().and_then(|enter| enter());
    run_jobs(shared, first);
    drop(entered);
    if let Some(hook) = &shared.config.on_thread_stop {
        contain(|| hook());
    }
    let _last = shared.state.lock().ended();
    // Whoever waits may have a thread of its own to subtract: each end is told.
    shared.ended.notify_all();
}

fn run_jobs(shared: &Arc<Shared>, first: Option<Job>) {
    let here = Here { shared: Arc::as_ptr(shared), waiting: Cell::new(false) };
    HERE.set(&raw const here);
    let parker = Arc::new(Parker::new());
    let mut job = first;
    loop {
        if let Some(job) = job.take() {
            job::run(job);
            resumed();
        }
        let mut next = shared.state.lock().next(&parker);
        shared.freed();
        if matches!(next, Next::Park) {
            next = shared.idle(&parker);
        }
        match next {
            Next::Run(next) => job = Some(next),
            Next::Park => {}
            Next::Leave => break,
        }
    }
    HERE.set(ptr::null());
}

/// Tells the pool, if this is a pool thread, that its job waits for a task or another job.
#[inline]
pub(crate) fn waits() {
    let here = HERE.get();
    // SAFETY: a pointer in `HERE` is to a local of `run_jobs` further up this stack.
    if let Some(here) = unsafe { here.as_ref() } {
        job_waits(here);
    }
}

#[cold]
fn job_waits(here: &Here) {
    if here.waiting.replace(true) {
        return;
    }
    // SAFETY: `run_jobs` borrows the Arc this points into for as long as `HERE` is set.
    let shared = unsafe {
        Arc::increment_strong_count(here.shared);
        Arc::from_raw(here.shared)
    };
    let admitted = shared.state.lock().begin_wait();
    if let Err((job, refusal)) = shared.follow(admitted) {
        job::refuse(job, refusal);
    }
}

/// Tells the pool, if this is a pool thread, that its job does not wait any more.
#[inline]
pub(crate) fn resumed() {
    let here = HERE.get();
    // SAFETY: as in `waits`.
    if let Some(here) = unsafe { here.as_ref() } {
        job_resumed(here);
    }
}

#[cold]
fn job_resumed(here: &Here) {
    if here.waiting.replace(false) {
        // SAFETY: as in `job_waits`.
        unsafe { (*here.shared).state.lock().end_wait() };
    }
}

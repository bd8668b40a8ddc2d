//! The books of a pool: who is there, what waits, and what follows from an event. Pure: no thread
//! is started or woken here; the verbs say who is to be.
//!
//! | count | threads that |
//! |---|---|
//! | `starting` | were asked for and have not reported yet |
//! | `live` | have reported and not left: running a job, idle, or waiting |
//! | `idle` | are parked without a job (their parkers, the latest last) |
//! | `waiting` | run a job that waits for another job |
//!
//! *Running* are the live ones that neither idle nor wait; one that was called off the idle list
//! counts as running from then on.
//!
//! A *place* is where a job can go: a thread that may run it, or room in the queue. Places may be
//! reserved for jobs to come (`reserved`).
//!
//! Invariants, each kept by every verb:
//!
//! 1. While a job is queued and a thread is idle, either as many threads run as may, or each
//!    queued job has a thread that was called for it.
//! 2. While a job is queued, some thread will come to it: one that runs or is starting. A start
//!    that fails with none of these takes the whole queue out, to be refused.
//! 3. More threads run than may only while jobs that waited go on; then the next thread that ends
//!    a job, or is called, leaves. Another one is running then, which comes to the queue.

use std::collections::VecDeque;
use std::sync::Arc;

use raddle_base::parker::Parker;

use crate::blocking::error::Refusal;
use crate::blocking::job::Job;

/// What a pool keeps under its lock.
pub(crate) struct State {
    queue: VecDeque<Job>,
    idle: Vec<Arc<Parker>>,
    live: usize,
    starting: usize,
    waiting: usize,
    /// Threads that have not finished their last step: `live`, and those that call their hooks.
    present: usize,
    reserved: usize,
    closed: bool,
    max_threads: usize,
    queue_limit: usize,
}

/// What is to be done about a job.
#[must_use]
pub(crate) enum Admitted {
    /// It is queued, and a busy thread will come to it.
    Queued,
    /// It is queued for this idle thread: unpark it.
    Wake(Arc<Parker>),
    /// Start a thread that begins with it.
    Start(Job),
    /// It is not taken.
    Refused(Job, Refusal),
}

/// What a thread does next.
#[must_use]
pub(crate) enum Next {
    Run(Job),
    /// Park: it is on the list of idle threads.
    Park,
    /// Leave: it is not counted as live any more.
    Leave,
}

impl State {
    pub(crate) fn new(max_threads: usize, queue_limit: usize) -> Self {
        State {
            queue: VecDeque::new(),
            idle: Vec::new(),
            live: 0,
            starting: 0,
            waiting: 0,
            present: 0,
            reserved: 0,
            closed: false,
            max_threads: max_threads.max(1),
            queue_limit,
        }
    }

    fn running(&self) -> usize {
        self.live - self.waiting - self.idle.len()
    }

    /// Whether one more thread may run.
    fn has_room(&self) -> bool {
        self.running() + self.starting < self.max_threads
    }

    /// Decides about a new job.
    pub(crate) fn admit(&mut self, job: Job) -> Admitted {
        if self.closed {
            return Admitted::Refused(job, Refusal::Closed);
        }
        if !self.has_place() {
            return Admitted::Refused(job, Refusal::Full);
        }
        self.accept(job)
    }

    fn accept(&mut self, job: Job) -> Admitted {
        if self.has_room() {
            return self.place(job);
        }
        self.queue.push_back(job);
        Admitted::Queued
    }

    /// Whether there is a place that is not reserved.
    fn has_place(&self) -> bool {
        let free = self.max_threads.saturating_sub(self.running() + self.starting);
        self.queue.len() + self.reserved < self.queue_limit.saturating_add(free)
    }

    /// Reserves a place.
    pub(crate) fn reserve(&mut self) -> Result<(), Refusal> {
        if self.closed {
            return Err(Refusal::Closed);
        }
        if !self.has_place() {
            return Err(Refusal::Full);
        }
        self.reserved += 1;
        Ok(())
    }

    /// Gives a reserved place up.
    pub(crate) fn unreserve(&mut self) {
        self.reserved -= 1;
    }

    /// Decides about a job for which a place was reserved.
    pub(crate) fn admit_reserved(&mut self, job: Job) -> Admitted {
        self.reserved -= 1;
        if self.closed {
            return Admitted::Refused(job, Refusal::Closed);
        }
        self.accept(job)
    }

    /// Finds a thread for a job, there being room for one more to run.
    fn place(&mut self, job: Job) -> Admitted {
        match self.idle.pop() {
            Some(parker) => {
                self.queue.push_back(job);
                Admitted::Wake(parker)
            }
            None => {
                self.starting += 1;
                self.present += 1;
                Admitted::Start(job)
            }
        }
    }

    /// The thread that was to begin with `job` could not be started. The second value is the
    /// queue, if nobody is left to come to it.
    pub(crate) fn start_failed(&mut self, job: Job, refusal: Refusal) -> (Admitted, VecDeque<Job>) {
        self.starting -= 1;
        self.present -= 1;
        let admitted = if self.closed {
            Admitted::Refused(job, Refusal::Closed)
        } else if let Some(parker) = self.idle.pop() {
            self.queue.push_front(job);
            Admitted::Wake(parker)
        } else if self.running() + self.starting > 0 {
            // Beyond the limit if need be: the job was as good as accepted.
            self.queue.push_front(job);
            Admitted::Queued
        } else {
            return (Admitted::Refused(job, refusal), std::mem::take(&mut self.queue));
        };
        (admitted, VecDeque::new())
    }

    /// A thread that was started reports.
    pub(crate) fn started(&mut self) {
        self.starting -= 1;
        self.live += 1;
    }

    /// A live thread has ended its job.
    pub(crate) fn next(&mut self, parker: &Arc<Parker>) -> Next {
        if self.closed || self.running() > self.max_threads {
            return self.leave();
        }
        match self.queue.pop_front() {
            Some(job) => Next::Run(job),
            // One that came in place of a thread that goes on now is not kept for later.
            None if self.live - self.waiting > self.max_threads => self.leave(),
            None => {
                self.idle.push(Arc::clone(parker));
                Next::Park
            }
        }
    }

    /// An idle thread was woken, or its time is over (`expired`). It was claimed if it is not on
    /// the list any more; then it looks for the job, whatever the clock says.
    pub(crate) fn woke(&mut self, parker: &Arc<Parker>, expired: bool) -> Next {
        let Some(place) = self.idle.iter().rposition(|other| Arc::ptr_eq(other, parker)) else {
            return self.next(parker);
        };
        if !expired && !self.closed {
            return Next::Park;
        }
        self.idle.remove(place);
        self.leave()
    }

    fn leave(&mut self) -> Next {
        self.live -= 1;
        Next::Leave
    }

    /// A thread's last step; true if it was the last thread.
    pub(crate) fn ended(&mut self) -> bool {
        self.present -= 1;
        self.present == 0
    }

    /// A job of this thread begins to wait for another job: the thread stops to count. Says what
    /// is to be done about the first queued job, for which there may be room now.
    pub(crate) fn begin_wait(&mut self) -> Admitted {
        self.waiting += 1;
        if !self.has_room() {
            return Admitted::Queued;
        }
        match self.queue.pop_front() {
            Some(job) => self.place(job),
            None => Admitted::Queued,
        }
    }

    /// The job does not wait any more.
    pub(crate) fn end_wait(&mut self) {
        self.waiting -= 1;
    }

    /// Ends admission. Returns what was queued and who is idle.
    pub(crate) fn close(&mut self) -> (VecDeque<Job>, Vec<Arc<Parker>>) {
        self.closed = true;
        // Idle threads stay on the list, by which they know that they have no job to look for.
        (std::mem::take(&mut self.queue), self.idle.clone())
    }

    /// Threads that have not ended.
    pub(crate) fn present(&self) -> usize {
        self.present
    }

    /// Jobs that wait for a thread.
    pub(crate) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Threads without a job.
    pub(crate) fn idle(&self) -> usize {
        self.idle.len()
    }
}

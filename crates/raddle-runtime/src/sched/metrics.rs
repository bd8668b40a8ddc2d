//! What a runtime counts and measures, and how it is read.
//!
//! Plain counts are written by one thread and read by anybody. What is measured, by which clock
//! readings, is in `service`.

use std::fmt;

use crate::histogram::Histogram;
use crate::sched::peer::Peer;
use crate::sched::service::Class;

impl Peer {
    pub(crate) fn metrics(&self) -> WorkerMetrics {
        let (remote_wakes, calls) = self.service.counts();
        WorkerMetrics {
            dispatches: self.counters.dispatches.get(),
            steals: self.counters.steals.get(),
            parks: self.counters.parks.get(),
            served: self.counters.served.get(),
            looks: self.counters.looks.get(),
            clock_reads: self.counters.clock_reads.get(),
            rescues: self.counters.rescues.get(),
            remote_wakes,
            wakes_coalesced: remote_wakes - calls,
            remote_to_poll: self.service.to_poll(Class::Remote),
            io_to_poll: self.service.to_poll(Class::Io),
            timer_to_poll: self.service.to_poll(Class::Timer),
            timer_lateness: self.timers.lateness(),
            dispatch_length: self.service.dispatch_lengths(),
        }
    }
}

/// What one worker has done since it started.
///
/// Each number is read by itself while the worker goes on, so two of them need not belong to the
/// same moment. Histograms are samples, as their fields say; with `metrics` off in the settings
/// they stay empty, all but [`timer_lateness`](Self::timer_lateness), which takes no clock reading
/// of its own. They are counted where the poll happened: by the worker that ran the task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerMetrics {
    /// Polls of tasks.
    pub dispatches: u64,
    /// Successful steals from other workers.
    pub steals: u64,
    /// Times it went to sleep.
    pub parks: u64,
    /// Tasks that came from the inbox and the injector: woken or spawned by other threads.
    pub served: u64,
    /// Times it asked its driver while busy.
    pub looks: u64,
    /// Times it read the clock: for timers, for polling, or to let its driver wait a little. Not
    /// counted are the readings of samples.
    pub clock_reads: u64,
    /// Times its other work was taken over because a task did not return.
    pub rescues: u64,
    /// Tasks that other threads have woken or spawned into its inbox.
    pub remote_wakes: u64,
    /// Those among [`remote_wakes`](Self::remote_wakes) for which no thread had to be woken: the
    /// worker was awake, or had been called for another one already. The rest cost a system call
    /// each.
    pub wakes_coalesced: u64,
    /// From a wake by another thread, or a spawn outside the runtime, to the poll.
    ///
    /// One in 64 is measured, by a reading on the waking thread before it pushes the task, and one
    /// before the poll. Left out are tasks that another worker steals on the way.
    pub remote_to_poll: Histogram,
    /// From the look that found a completion or a ready descriptor to the poll of its task.
    ///
    /// One in 64 is measured, by two readings on the worker. Left out is the time from the event
    /// itself to the look, which is not to be had without a reading for each: with io_uring a look
    /// comes before the next dispatch unless served tasks wait (then after 50 µs or 64 dispatches
    /// at most), with epoll some 25 µs later. Left out too are tasks that another worker steals.
    pub io_to_poll: Histogram,
    /// From the look that fired a timer to the poll of its task; together with
    /// [`timer_lateness`](Self::timer_lateness) that is the whole delay.
    ///
    /// One in 64 is measured, by two readings on the worker.
    pub timer_to_poll: Histogram,
    /// From the deadline of a timer to the look that fired it.
    ///
    /// Of each batch of up to 32 timers that fire at once, the one that had been due for longest
    /// is counted, by the reading that the look makes anyway.
    pub timer_lateness: Histogram,
    /// How long dispatches take: a poll, and what the worker does between two of them.
    ///
    /// These are means of groups, counted once for each dispatch of the group: between two
    /// readings of the clock (some 25 µs apart, at most 256 dispatches, while a timer is armed or
    /// epoll is waited on), in one of 64 turns between two sleeps, and else between two looks of
    /// the monitor, 2 ms apart, in which the worker did not sleep. A dispatch that lasts over a
    /// look is counted by itself, with the time between the looks that saw it. So a rare long one
    /// that is shorter than 2 ms hides in its group, and a worker that sleeps often is measured
    /// in a 64th of its turns.
    pub dispatch_length: Histogram,
}

impl WorkerMetrics {
    /// Adds what another worker has done.
    pub fn merge(&mut self, other: &WorkerMetrics) {
        self.dispatches += other.dispatches;
        self.steals += other.steals;
        self.parks += other.parks;
        self.served += other.served;
        self.looks += other.looks;
        self.clock_reads += other.clock_reads;
        self.rescues += other.rescues;
        self.remote_wakes += other.remote_wakes;
        self.wakes_coalesced += other.wakes_coalesced;
        self.remote_to_poll.merge(&other.remote_to_poll);
        self.io_to_poll.merge(&other.io_to_poll);
        self.timer_to_poll.merge(&other.timer_to_poll);
        self.timer_lateness.merge(&other.timer_lateness);
        self.dispatch_length.merge(&other.dispatch_length);
    }
}

/// A line of counts, and a line for each histogram.
impl fmt::Display for WorkerMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WorkerMetrics { dispatches, steals, parks, rescues, .. } = self;
        let (wakes, coalesced) = (self.remote_wakes, self.wakes_coalesced);
        writeln!(
            f,
            "{dispatches} dispatches, {steals} steals, {parks} parks, {rescues} rescues, \
             {wakes} remote wakes ({coalesced} coalesced)"
        )?;
        writeln!(f, "  remote wake to poll: {}", self.remote_to_poll)?;
        writeln!(f, "  I/O to poll:         {}", self.io_to_poll)?;
        writeln!(f, "  timer to poll:       {}", self.timer_to_poll)?;
        writeln!(f, "  timer lateness:      {}", self.timer_lateness)?;
        write!(f, "  dispatch length:     {}", self.dispatch_length)
    }
}

/// What a runtime has done since it started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// One entry a worker; stand-ins for workers in blocking sections come last.
    pub workers: Vec<WorkerMetrics>,
    /// Tasks that have been spawned and have not ended.
    pub live_tasks: usize,
}

impl Metrics {
    /// All workers together.
    pub fn total(&self) -> WorkerMetrics {
        let mut total = WorkerMetrics::default();
        self.workers.iter().for_each(|worker| total.merge(worker));
        total
    }
}

/// All workers together, then each by itself.
impl fmt::Display for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} live tasks; {}", self.live_tasks, self.total())?;
        for (index, worker) in self.workers.iter().enumerate() {
            write!(f, "\nworker {index}: {worker}")?;
        }
        Ok(())
    }
}

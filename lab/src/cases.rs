//! The scenarios: a file each, generic over the contender, and the catalogue of them all.
//!
//! `lab/CASES.md` holds the definitions; `contenders` says who takes part in which.

pub(crate) mod blocking_round_trip;
pub(crate) mod catch_unwind_panics;
pub(crate) mod chained_spawn;
pub(crate) mod channels;
pub(crate) mod compute;
pub(crate) mod deep_recursion;
pub(crate) mod events;
pub(crate) mod file_read;
pub(crate) mod handoffs;
pub(crate) mod idle_wakeups;
pub(crate) mod many_timers;
pub(crate) mod meetings;
pub(crate) mod mutexes;
pub(crate) mod noise;
pub(crate) mod once_cells;
pub(crate) mod one_item;
pub(crate) mod ping_pong_oneshot;
pub(crate) mod rwlock_pressure;
pub(crate) mod rwlocks;
pub(crate) mod service;
pub(crate) mod spawn_batch;
pub(crate) mod spawn_storm_busy;
pub(crate) mod timer_lateness;
pub(crate) mod yields;

use crate::rt::{Stacks, Tasks};

#[cfg(test)]
mod tests;

/// A scenario as `list` shows it.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) about: &'static str,
}

const fn case(name: &'static str, unit: &'static str, about: &'static str) -> Case {
    Case { name, unit, about }
}

/// All cases; those with a bar first.
pub(crate) static CASES: &[Case] = &[
    case("yield_many", "ns", "1,000 tasks yield 100 times each; time a yield"),
    case("spawn_batch", "ns", "10,000 empty tasks are spawned, then joined; time a task"),
    case("chained_spawn", "ns", "1,000 tasks, each spawns the next and ends; time a link"),
    case("ping_pong_oneshot", "ns", "a task, two oneshots, there and back, 10,000 times; a round"),
    case("many_timers", "ns", "10,000 tasks sleep 1 to 10 ms; process CPU time a timer"),
    case("timer_lateness", "us", "lateness of 100 µs, 1 ms and 10 ms sleeps on an idle runtime"),
    case("echo_1", "ns", "echo of 64 B, 1 connection; server CPU time a request"),
    case("echo_64", "ns", "echo of 64 B, 64 connections; server CPU time a request"),
    case("echo_1000", "ns", "echo of 64 B, 1,000 connections; server CPU time a request"),
    case("http_hello", "ns", "hyper says hello, 64 keep-alive connections; server CPU a request"),
    case("mem_task", "bytes", "memory of each of 100,000 tasks that wait on a 32-byte future"),
    case("idle_wakeups", "switches", "voluntary switches in 5 s of an idle runtime"),
    case("service", "us", "an event beside 1 task that yields; p99 of I/O to first poll"),
    case("service_idle", "ns", "the same with no event; time a yield"),
    case("service_multi", "us", "an event beside 64 tasks that yield; p99 of I/O to first poll"),
    case("service_body_1us", "us", "an event beside 1 task with bodies of 1 µs; p99 of I/O"),
    case("service_body_10us", "us", "an event beside 1 task with bodies of 10 µs; p99 of I/O"),
    case("service_body_100us", "us", "an event beside 1 task with bodies of 100 µs; p99 of I/O"),
    case(
        "service_64_body_100us",
        "us",
        "an event beside 64 tasks with bodies of 100 µs; p99 of I/O",
    ),
    case("busy_sibling", "us", "an event, two workers, one of them in bodies of 1 ms; p99 of I/O"),
    case("stuck_worker", "us", "events while all workers are in loops of 500 ms; p99 of I/O"),
    case("stuck_worker_but_one", "us", "events while all workers but one are; p99 of I/O"),
    case("noise", "ns", "yield_many; process CPU time a yield"),
    case("fan_out_compute", "ns", "64 tasks of 1 ms arithmetic on one worker; time in all"),
    case("spawn_storm_busy", "ns", "10,000 empty tasks beside one that keeps yielding; a task"),
    case("yield_in_hot_loop", "ns", "1 task yields 1,000,000 times; time a yield"),
    case("mpsc_contention", "ns", "8 producers of 10,000 values, one consumer; time a value"),
    case("multi_thread_scaling", "ns", "64 tasks of 1 ms arithmetic on two workers; time in all"),
    case("deep_recursion", "ns", "100 tasks recurse 500 frames of 128 bytes; time a task"),
    case("uncontended_channel", "ns", "1 producer, 1 consumer, 100,000 values; time a value"),
    case("catch_unwind_panics", "ns", "1,000 tasks panic and are joined; time a task"),
    case("blocking_round_trip", "ns", "a call passed to the blocking pool and awaited; a round"),
    case("file_read", "ns", "random 4 KiB reads of a cached file, one at a time; time a read"),
    case("mem_timer", "bytes", "memory of each of 100,000 tasks that sleep"),
    case("mem_connection", "bytes", "memory of the server for each idle connection"),
    case("event_is_set", "ns", "a set event is asked whether it is set; by hand"),
    case("event_ready_wait", "ns", "a wait for a set event; by hand"),
    case("event_cycle", "ns", "register, set, complete, reset; by hand"),
    case("event_fanout_1000", "ns", "1,000 waits and one set; time a wait; by hand"),
    case("auto_event_ready", "ns", "set and a wait that takes it; by hand"),
    case("auto_event_cycle", "ns", "register, set, complete; by hand"),
    case("mutex_ready", "ns", "lock, use, unlock, nobody else there; by hand"),
    case("mutex_handoff", "ns", "A holds, B queues, A unlocks, B locks and unlocks; by hand"),
    case("mutex_handoff_tasks", "ns", "the same between two tasks of one worker"),
    case("mutex_contended", "ns", "2 threads lock, use, unlock; time a lock"),
    case(
        "mutex_contended_tasks",
        "ns",
        "4 tasks on 2 workers lock, use, unlock, yield; time a lock",
    ),
    case("rwlock_ready_read", "ns", "take shared, read, release; by hand"),
    case("rwlock_ready_write", "ns", "take, write, release; by hand"),
    case("rwlock_last_reader_handoff", "ns", "the last reader lets a writer in; by hand"),
    case("rwlock_writer_writer_handoff", "ns", "a writer lets a writer in; by hand"),
    case(
        "rwlock_writer_readers_handoff",
        "ns",
        "a writer lets 8 readers in; time for all 8; by hand",
    ),
    case(
        "rwlock_last_reader_handoff_tasks",
        "ns",
        "the last reader lets a writer in; tasks of one worker",
    ),
    case(
        "rwlock_writer_writer_handoff_tasks",
        "ns",
        "a writer lets a writer in; tasks of one worker",
    ),
    case(
        "rwlock_writer_readers_handoff_tasks",
        "ns",
        "a writer lets 8 readers in; tasks of one worker",
    ),
    case(
        "rwlock_mixed_90",
        "ns",
        "2 tasks on 2 workers, 90 % reads, a yield after each; an operation",
    ),
    case(
        "rwlock_mixed_50",
        "ns",
        "2 tasks on 2 workers, 50 % reads, a yield after each; an operation",
    ),
    case(
        "rwlock_pressure",
        "ns",
        "a writer among readers that loop, 2 workers; 99th percentile of its wait",
    ),
    case("semaphore_ready", "ns", "acquire one of 64 permits, release; by hand"),
    case("semaphore_handoff", "ns", "the only permit goes to one that waits; by hand"),
    case("oneshot", "ns", "a channel, one value sent, then received; by hand"),
    case("mpsc_bounded", "ns", "one value sent, then received, capacity 64; by hand"),
    case("mpsc_unbounded", "ns", "one value sent, then received; by hand"),
    case("mpmc", "ns", "one value sent, then received, many receivers possible; by hand"),
    case("broadcast", "ns", "one value sent, then received by the only receiver; by hand"),
    case("watch", "ns", "one value sent, its change awaited and read; by hand"),
    case("barrier", "ns", "two parties, the first waits; by hand"),
    case("latch", "ns", "a latch of one, a wait, the count down; by hand"),
    case("waitgroup", "ns", "a group of two, one waits, one is dropped; by hand"),
    case("once_hit", "ns", "a cell that has its value; by hand"),
    case("once_cell_8_waiters", "ns", "a cell, an initialiser, 8 that wait; by hand"),
    case("condvar", "ns", "a wait is notified and has the mutex again; by hand"),
];

/// A case by name.
pub(crate) fn find(name: &str) -> Option<&'static Case> {
    CASES.iter().find(|case| case.name == name)
}

/// Joins tasks in the order of their spawning and adds up what they return.
pub(crate) async fn join_sum<R: Tasks>(joins: Vec<R::Join<u64>>) -> u64 {
    let mut sum = 0u64;
    for join in joins {
        sum = sum.wrapping_add(join.await);
    }
    sum
}

/// The same for what blocks; a body that panicked is a mismatch.
pub(crate) fn join_sum_blocking<S: Stacks>(joins: Vec<S::Join<u64>>) -> Result<u64, String> {
    let mut sum = 0u64;
    for join in joins {
        sum = sum.wrapping_add(S::join(join).ok_or("a body panicked")?);
    }
    Ok(sum)
}

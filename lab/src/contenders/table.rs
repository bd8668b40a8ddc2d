//! Rows of the table: which cases follow from what a runtime can do.

use crate::cases::{
    blocking_round_trip, catch_unwind_panics, chained_spawn, channels, compute, deep_recursion,
    file_read, idle_wakeups, many_timers, noise, ping_pong_oneshot, service, spawn_batch,
    spawn_storm_busy, timer_lateness, yields,
};
use crate::contender::{Cpus, Entry};
use crate::hosted::Service;
use crate::load::report::Kind;
use crate::memory::{self, Basis};
use crate::outcome::Verdict;
use crate::plan::Plan;
use crate::rt::{Offload, Stacks, Tasks};
use crate::served::{self, Echo, Http};

pub(super) fn entry(case: &'static str, cpus: Cpus, run: fn(Plan) -> Verdict) -> Entry {
    Entry { case, cpus, run }
}

/// What every async runtime takes part in.
pub(super) fn tasks<R: Tasks>(cpus: Cpus) -> Vec<Entry> {
    vec![
        entry("yield_many", cpus, yields::many_tasks::<R>),
        entry("spawn_batch", cpus, spawn_batch::tasks::<R>),
        entry("chained_spawn", cpus, chained_spawn::tasks::<R>),
        entry("ping_pong_oneshot", cpus, ping_pong_oneshot::tasks::<R>),
        entry("many_timers", cpus, many_timers::tasks::<R>),
        entry("timer_lateness", cpus, timer_lateness::tasks::<R>),
        entry("idle_wakeups", cpus, idle_wakeups::tasks::<R>),
        entry("fan_out_compute", cpus, compute::tasks::<R>),
        entry("spawn_storm_busy", cpus, spawn_storm_busy::tasks::<R>),
        entry("yield_in_hot_loop", cpus, yields::hot_tasks::<R>),
        entry("mpsc_contention", cpus, channels::contended_tasks::<R>),
        entry("deep_recursion", cpus, deep_recursion::tasks::<R>),
        entry("uncontended_channel", cpus, channels::alone_tasks::<R>),
        entry("catch_unwind_panics", cpus, catch_unwind_panics::tasks::<R>),
    ]
}

/// What everything that blocks in place takes part in.
pub(super) fn stacks<S: Stacks>() -> Vec<Entry> {
    let cpus = Cpus::One;
    vec![
        entry("yield_many", cpus, yields::many_stacks::<S>),
        entry("spawn_batch", cpus, spawn_batch::stacks::<S>),
        entry("chained_spawn", cpus, chained_spawn::stacks::<S>),
        entry("ping_pong_oneshot", cpus, ping_pong_oneshot::stacks::<S>),
        entry("many_timers", cpus, many_timers::stacks::<S>),
        entry("timer_lateness", cpus, timer_lateness::stacks::<S>),
        entry("idle_wakeups", cpus, idle_wakeups::stacks::<S>),
        entry("fan_out_compute", cpus, compute::stacks::<S>),
        entry("yield_in_hot_loop", cpus, yields::hot_stacks::<S>),
        entry("mpsc_contention", cpus, channels::contended_stacks::<S>),
        entry("deep_recursion", cpus, deep_recursion::stacks::<S>),
        entry("uncontended_channel", cpus, channels::alone_stacks::<S>),
        entry("catch_unwind_panics", cpus, catch_unwind_panics::stacks::<S>),
        entry("multi_thread_scaling", Cpus::Two, compute::stacks_on_two::<S>),
    ]
}

/// `spawn_storm_busy` on stacks, for what runs new units beside busy ones.
pub(super) fn storm_on_stacks<S: Stacks>() -> Entry {
    entry("spawn_storm_busy", Cpus::One, spawn_storm_busy::stacks::<S>)
}

/// `multi_thread_scaling` of a runtime whose two workers share tasks.
pub(super) fn scaling_shared<R: Tasks>() -> Entry {
    entry("multi_thread_scaling", Cpus::Two, compute::tasks::<R>)
}

/// `multi_thread_scaling` of a runtime of one thread, run twice.
pub(super) fn scaling_split<R: Tasks>() -> Entry {
    entry("multi_thread_scaling", Cpus::Two, compute::split_tasks::<R>)
}

/// `blocking_round_trip`.
pub(super) fn offload<R: Offload>() -> Entry {
    entry("blocking_round_trip", Cpus::Two, blocking_round_trip::tasks::<R>)
}

/// `blocking_round_trip` on a fresh thread a call.
pub(super) fn offload_to_thread<S: Stacks>() -> Entry {
    entry("blocking_round_trip", Cpus::Two, blocking_round_trip::stacks::<S>)
}

/// `file_read`.
pub(super) fn files<R: file_read::Files>() -> Entry {
    entry("file_read", Cpus::Two, file_read::tasks::<R>)
}

/// `file_read` with `pread`.
pub(super) fn files_by_pread() -> Entry {
    entry("file_read", Cpus::Two, file_read::threads)
}

/// The service cases of a runtime with so many workers.
pub(super) fn service<S: Service>() -> Vec<Entry> {
    let cpus = Cpus::Two;
    let mut entries = vec![
        entry("service", cpus, service::service::<S>),
        entry("service_idle", cpus, service::idle::<S>),
        entry("service_multi", cpus, service::multi::<S>),
        entry("service_body_1us", cpus, service::body_1us::<S>),
        entry("service_body_10us", cpus, service::body_10us::<S>),
        entry("service_body_100us", cpus, service::body_100us::<S>),
        entry("service_64_body_100us", cpus, service::many_100us::<S>),
        entry("stuck_worker", cpus, service::stuck_worker::<S>),
    ];
    if S::WORKERS > 1 {
        entries.push(entry("busy_sibling", cpus, service::busy_sibling::<S>));
        entries.push(entry("stuck_worker_but_one", cpus, service::stuck_but_one::<S>));
    }
    entries
}

/// `noise`.
pub(super) fn noise<R: Tasks>() -> Entry {
    entry("noise", Cpus::One, noise::tasks::<R>)
}

/// The echo cases.
pub(super) fn echo<E: Echo>() -> Vec<Entry> {
    vec![
        entry("echo_1", Cpus::One, |plan| served::under_load(plan, E::echo, Kind::Echo, 1)),
        entry("echo_64", Cpus::One, |plan| served::under_load(plan, E::echo, Kind::Echo, 64)),
        entry("echo_1000", Cpus::One, |plan| served::under_load(plan, E::echo, Kind::Echo, 1000)),
    ]
}

/// `http_hello`.
pub(super) fn http<H: Http>() -> Entry {
    entry("http_hello", Cpus::One, |plan| served::under_load(plan, H::http, Kind::Http, 64))
}

/// `mem_task` and `mem_timer` on tasks.
pub(super) fn memory_of_tasks<R: Tasks>(cpus: Cpus) -> Vec<Entry> {
    vec![
        entry("mem_task", cpus, memory::task_tasks::<R>),
        entry("mem_timer", cpus, memory::timer_tasks::<R>),
    ]
}

/// `mem_task` and `mem_timer` on stacks.
pub(super) fn memory_of_stacks<S: Stacks>() -> Vec<Entry> {
    vec![
        entry("mem_task", Cpus::One, memory::task_stacks::<S>),
        entry("mem_timer", Cpus::One, memory::timer_stacks::<S>),
    ]
}

/// `mem_connection`, by what the allocator was asked for.
pub(super) fn memory_of_connections<E: Echo>() -> Entry {
    entry("mem_connection", Cpus::One, |plan| memory::connection(plan, E::echo, Basis::Allocator))
}

/// `mem_connection`, by resident memory: for servers with a stack a connection.
pub(super) fn memory_of_connection_stacks<E: Echo>() -> Entry {
    entry("mem_connection", Cpus::One, |plan| memory::connection(plan, E::echo, Basis::Resident))
}

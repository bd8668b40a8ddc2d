//! How many dispatches may lie between an event and the poll of the task that waits for it?
//!
//! A worker is stopped at a point of its loop while it has a backlog to run; meanwhile a task is
//! woken, one is spawned, and a descriptor becomes ready, all from outside; then it is let go, and
//! the dispatches are counted until all three have been polled. The k-th of them has to wait for
//! at most 2k, 8k while slots are refilled, 16k while both sides of the worker are busy. On epoll
//! the descriptor has to wait for the next reading of the clock as well.

#[path = "points/rig.rs"]
mod rig;
#[path = "points/stolen.rs"]
mod stolen;
#[path = "points/trace.rs"]
mod trace;

use raddle_base::hooks;
use raddle_tests::watched;

use rig::{Load, Rig, backends};

/// Consecutive runs of each case.
const RUNS: usize = 100;

/// Stops the only worker of the runtime `name` `RUNS` times at `point` under `load`, after which it
/// makes `before` dispatches before its next look, and checks that the k-th waits for at most
/// `factor` times k dispatches.
fn check(name: &'static str, point: &'static str, before: u64, load: Load, factor: u64) {
    for io in backends() {
        watched(move || {
            let mut rig = Rig::new(name, 1, io);
            rig.begin_waiting();
            let backlog = rig.burden(load);
            for run in 0..RUNS {
                rig.wait_until_they_wait();
                let pause = hooks::arm_on(point, &rig.thread(0));
                pause.wait_for(1);
                let from = rig.dispatches(0) + before;
                rig.make_all_ready();
                drop(pause);
                rig.check_served(&format!("{io:?} {load:?} run {run}"), 0, from, factor);
            }
            backlog.end();
        });
    }
}

#[test]
fn one_yielder_keeps_nobody_waiting() {
    check("one", hooks::LOOK, 0, Load::Yielders(1), 2);
}

#[test]
fn sixty_four_yielders_keep_nobody_waiting() {
    check("many", hooks::LOOK, 0, Load::Yielders(64), 2);
}

#[test]
fn what_comes_right_after_a_look_is_seen_by_the_next() {
    check("looked", hooks::LOOKED, 1, Load::Yielders(1), 2);
}

#[test]
fn what_comes_before_a_poll_is_seen_after_it() {
    check("poll", hooks::POLL, 0, Load::Yielders(1), 2);
}

#[test]
fn tasks_that_wake_each_other_by_the_slot_starve_neither_the_backlog_nor_what_comes() {
    check("slots", hooks::LOOK, 0, Load::Slots, 8);
}

#[test]
fn both_sides_with_busy_slots_keep_nobody_waiting_for_more_than_their_share() {
    check("sides", hooks::LOOK, 0, Load::BothSides, 16);
}

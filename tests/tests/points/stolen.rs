//! The bound holds for a worker that runs what it has stolen, from the moment of the theft on.

use std::sync::mpsc;

use raddle_base::hooks;
use raddle_tests::watched;

use super::RUNS;
use super::rig::{Backlog, Rig, backends, index_of};

/// Blocks one worker in a task that spawns as many yielders as it is told, at its own worker, and
/// gives the backlog back: so all of them are run by thieves.
struct Jam {
    worker: usize,
    orders: mpsc::Sender<usize>,
    backlogs: mpsc::Receiver<Backlog>,
}

impl Jam {
    fn new(rig: &Rig) -> Jam {
        let (orders, wait) = mpsc::channel();
        let (done, backlogs) = mpsc::channel();
        let (tell, told) = mpsc::channel();
        let task = async move {
            let thread = std::thread::current().name().map(index_of);
            tell.send(thread.unwrap()).unwrap();
            for yielders in wait {
                let mut backlog = Backlog::new();
                (0..yielders).for_each(|_| raddle::spawn(backlog.yielder()).detach());
                done.send(backlog).unwrap();
            }
        };
        rig.runtime().spawn(task).detach();
        Jam { worker: told.recv().unwrap(), orders, backlogs }
    }
}

/// Has worker B steal yielders from a jammed worker A, stops B right after the theft, and checks
/// that what becomes ready then waits for its share of dispatches only.
fn check(name: &'static str, yielders: usize) {
    for io in backends() {
        watched(move || {
            let mut rig = Rig::new(name, 2, io);
            let jam = Jam::new(&rig);
            let thief = 1 - jam.worker;
            // They begin on the only worker that is free.
            rig.begin_waiting();
            for run in 0..RUNS {
                rig.wait_until_they_wait();
                let theft = hooks::arm_on(hooks::STOLEN, &rig.thread(thief));
                jam.orders.send(yielders).unwrap();
                let backlog = jam.backlogs.recv().unwrap();
                theft.wait_for(1);
                let from = rig.dispatches(thief);
                rig.make_all_ready();
                drop(theft);
                rig.check_served(&format!("{io:?} {yielders} stolen, run {run}"), thief, from, 2);
                backlog.end();
            }
        });
    }
}

#[test]
fn one_stolen_yielder_keeps_nobody_waiting() {
    check("thief", 1);
}

#[test]
fn sixty_four_stolen_yielders_keep_nobody_waiting() {
    check("thieves", 64);
}

//! The monitor's rest under the model, against workers that wake and sleep.

use raddle_base::shim::{Arc, model, thread};

use super::*;
use crate::sched::idle::{Awake, Idle, SleepWord};

struct Model {
    idle: Idle,
    sleep: SleepWord,
    rest: Rest,
}

#[test]
fn model_a_worker_that_wakes_is_watched() {
    model::check(|| {
        let model =
            Arc::new(Model { idle: Idle::new(), sleep: SleepWord::new(), rest: Rest::new() });
        model.idle.fall_asleep(&model.sleep, false);
        let theirs = model.clone();
        let worker = thread::spawn(move || {
            let Awake::Own = theirs.idle.awake(&theirs.sleep) else { unreachable!() };
            theirs.rest.worker_wakes();
        });
        let theirs = model.clone();
        let monitor = thread::spawn(move || {
            // Ends, whatever comes first: a rest that nobody ends is a deadlock to the model.
            theirs.rest.until_called(|| theirs.sleep.is_awake());
        });
        worker.join().unwrap();
        monitor.join().unwrap();
    });
}

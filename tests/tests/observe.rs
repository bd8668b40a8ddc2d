//! What a runtime tells of itself: dumps name each task with its state and what it waits for, and
//! delay nobody; metrics have samples of each class.

#[path = "observe/samples.rs"]
mod samples;
#[path = "observe/states.rs"]
mod states;
#[path = "observe/storms.rs"]
mod storms;
#[path = "observe/waits.rs"]
mod waits;

use raddle::dump::{Dump, TaskDump, TaskState, Wait};
use raddle::task::Id;
use raddle::{Builder, Runtime};

fn runtime(workers: usize) -> Runtime {
    Builder::new().workers(workers).build().unwrap()
}

/// The task of this number.
#[track_caller]
fn by_id(dump: &Dump, id: Id) -> &TaskDump {
    match dump.tasks.iter().find(|task| task.id == id) {
        Some(task) => task,
        None => panic!("task {id} is not in the dump: {dump}"),
    }
}

/// What this task waits for, if it waits.
fn wait_of(dump: &Dump, id: Id) -> Option<Wait> {
    match by_id(dump, id).state {
        TaskState::Waiting(wait) => Some(wait),
        _ => None,
    }
}

/// Takes dumps until one is as wanted. The watchdog of the caller ends it if none ever is.
fn until<T>(runtime: &Runtime, wanted: impl Fn(&Dump) -> Option<T>) -> T {
    loop {
        if let Some(found) = wanted(&runtime.dump()) {
            return found;
        }
        std::thread::yield_now();
    }
}

//! raddle: one worker, two workers, and the local runtime, each on io_uring and on epoll.
//!
//! The runtime runs on the calling thread, which becomes worker 0; the body is spawned, as for
//! everybody. `raddle-local` spawns with `spawn_local`. On a machine without io_uring the
//! contenders that ask for it fall back to epoll and say so.

mod net;
mod service;
mod sync;
pub(super) mod tasks;

use super::table;
use crate::cases::file_read::Files;
use crate::contender::{Contender, Cpus, Entry};
use crate::hosted::Service;
use crate::rt::{Offload, Tasks};
use crate::served::{Echo, Http};
pub(crate) use sync::entries as primitives;
use tasks::{LOCALLY, QUIETLY, Raddle};

pub(super) const ONE: Contender = Contender {
    name: "raddle",
    about: "raddle, one worker, io_uring",
    entries: || {
        let noise = table::noise::<Raddle<1, URING>>();
        let mut entries = entries::<Raddle<1, URING>>(Cpus::One, Some(noise));
        entries.extend(primitives());
        served::<Raddle<1, URING>>(entries)
    },
    memory: || memory::<Raddle<1, URING>>(Cpus::One),
};

pub(super) const ONE_EPOLL: Contender = Contender {
    name: "raddle-epoll",
    about: "raddle, one worker, epoll",
    entries: || served::<Raddle<1, EPOLL>>(on_epoll::<Raddle<1, EPOLL>>(Cpus::One)),
    memory: || memory::<Raddle<1, EPOLL>>(Cpus::One),
};

pub(super) const MULTI: Contender = Contender {
    name: "raddle-multi",
    about: "raddle, two workers, io_uring",
    entries: || {
        served::<Raddle<2, URING>>(entries::<Raddle<2, URING>>(
            Cpus::Two,
            scaling::<Raddle<2, URING>>(),
        ))
    },
    memory: || memory::<Raddle<2, URING>>(Cpus::Two),
};

pub(super) const MULTI_EPOLL: Contender = Contender {
    name: "raddle-multi-epoll",
    about: "raddle, two workers, epoll",
    entries: || served::<Raddle<2, EPOLL>>(on_epoll::<Raddle<2, EPOLL>>(Cpus::Two)),
    memory: || memory::<Raddle<2, EPOLL>>(Cpus::Two),
};

pub(super) const LOCAL: Contender = Contender {
    name: "raddle-local",
    about: "raddle, local runtime, io_uring",
    entries: || {
        let split = table::scaling_split::<Raddle<LOCALLY, URING>>();
        entries::<Raddle<LOCALLY, URING>>(Cpus::One, Some(split))
    },
    memory: || memory::<Raddle<LOCALLY, URING>>(Cpus::One),
};

pub(super) const LOCAL_EPOLL: Contender = Contender {
    name: "raddle-local-epoll",
    about: "raddle, local runtime, epoll",
    entries: || on_epoll::<Raddle<LOCALLY, EPOLL>>(Cpus::One),
    memory: || memory::<Raddle<LOCALLY, EPOLL>>(Cpus::One),
};

pub(super) const QUIET: Contender = Contender {
    name: "raddle-quiet",
    about: "raddle, one worker, io_uring, no monitor, no metrics",
    entries: || {
        let same = ["yield_many", "yield_in_hot_loop"];
        let mut entries = table::tasks::<Raddle<QUIETLY, URING>>(Cpus::One);
        entries.retain(|entry| same.contains(&entry.case));
        entries.push(table::noise::<Raddle<QUIETLY, URING>>());
        entries
    },
    memory: Vec::new,
};

const URING: bool = false;
const EPOLL: bool = true;

fn entries<R: Offload + Files + Echo + Http>(cpus: Cpus, more: Option<Entry>) -> Vec<Entry> {
    let mut entries = table::tasks::<R>(cpus);
    entries.extend(table::echo::<R>());
    entries.extend([table::http::<R>(), table::offload::<R>(), table::files::<R>()]);
    entries.extend(more);
    entries
}

/// With the service cases.
fn served<R: Service>(mut entries: Vec<Entry>) -> Vec<Entry> {
    entries.extend(table::service::<R>());
    entries
}

fn scaling<R: Tasks>() -> Option<Entry> {
    Some(table::scaling_shared::<R>())
}

/// Only where the driver makes a difference: I/O, timers, wakes from other threads and idling.
fn on_epoll<R: Offload + Files + Echo + Http>(cpus: Cpus) -> Vec<Entry> {
    let parks = ["many_timers", "timer_lateness", "idle_wakeups"];
    let mut entries = table::tasks::<R>(cpus);
    entries.retain(|entry| parks.contains(&entry.case));
    entries.extend(table::echo::<R>());
    entries.extend([table::http::<R>(), table::offload::<R>(), table::files::<R>()]);
    entries
}

fn memory<R: Tasks + Echo>(cpus: Cpus) -> Vec<Entry> {
    let mut entries = table::memory_of_tasks::<R>(cpus);
    entries.push(table::memory_of_connections::<R>());
    entries
}

//! Who runs next, on which thread.
//!
//! # Map
//!
//! | file | what it knows |
//! |---|---|
//! | `shared` | what all threads share; how a spawn or a wake finds its worker |
//! | `peer` | what other threads may see of a worker |
//! | `sides` | the owner's queues, free and pinned, and the order in which they are served |
//! | `queue` | one run queue: a ring and the FIFO behind it |
//! | `worker` | the loop: look, choose, dispatch, find, sleep |
//! | `pace` | when the clock is read |
//! | `hold` | how long the driver is left alone while served tasks run |
//! | `steal` | taking from others, and doing the duties of one that is away |
//! | `duty` | who does a worker's duties: it, or others while it is absent |
//! | `monitor`, `rest`, `stuck` | the thread that looks whether workers move; its sleep, reports |
//! | `watch`, `post` | an idle worker looks after busy siblings |
//! | `idle` | who sleeps and who searches: the sleep protocol |
//! | `stand_in` | blocking sections |
//! | `jobs` | blocking jobs |
//! | `threads`, `births`, `running` | the threads themselves |
//! | `phase`, `shutdown` | the end |
//! | `metrics`, `counters`, `service`, `probe` | what is counted and sampled |
//! | `dump`, `ticks` | what all tasks do, and since when |
//! | `insight` | the face of both |
//! | `park` | what a driver must give |
//! | `current` | this thread's worker |
//! | `runtime`, `ambient` | the faces: a runtime and its handle; functions that find theirs |

pub(crate) mod ambient;
mod births;
pub(crate) mod config;
mod counters;
pub(crate) mod current;
pub(crate) mod dump;
mod duty;
mod hold;
mod idle;
mod insight;
mod jobs;
pub(crate) mod metrics;
mod monitor;
mod pace;
pub mod park;
mod peer;
mod phase;
mod post;
mod probe;
mod queue;
mod registry;
mod rest;
mod root;
mod running;
pub(crate) mod runtime;
mod service;
mod shared;
pub(crate) mod shutdown;
mod sides;
pub(crate) mod size;
pub(crate) mod stand_in;
mod steal;
pub(crate) mod stuck;
mod threads;
mod ticks;
mod watch;
mod worker;

#[cfg(all(test, shuttle))]
mod tests {
    mod shuttle;
}

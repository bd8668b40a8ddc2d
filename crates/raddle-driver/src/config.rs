//! How a driver is to be made.

use crate::offload::Offload;
use crate::probe::Backend;
use crate::sizes::{BUFFER_SIZE, BUFFERS, ENTRIES};
use crate::sys::epoll;
use std::fmt;
use std::sync::Arc;

/// How the kernel tells the owner of a ring about completions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskRun {
    /// When the owner enters the kernel for whatever reason, without interrupting it; a flag says
    /// that there is something. The cheapest where other threads may look as well.
    #[default]
    Cooperative,
    /// At once, by interrupting the owner.
    Eager,
    /// Only when the owner asks. For a driver whose completions no other thread ever reaps.
    Deferred,
}

/// How to make a driver.
#[derive(Clone)]
pub struct Config {
    /// What [`choose`](crate::choose) said.
    pub backend: Backend,
    /// Submission entries of a ring, a power of two. Completions have room for 8 times as many,
    /// unless [`completions`](Self::completions) says otherwise. More of either is handled, but an
    /// overflow of completions ends multishot receives, which then have to be armed again.
    pub entries: u32,
    /// Completion entries of a ring; 0 for the default.
    pub completions: u32,
    /// Receive buffers of a ring, a power of two of at most 32,768. They cost memory only once
    /// they are used: a ring begins with 64 and uses more as more streams receive at once.
    pub buffers: u32,
    /// Bytes of each of them.
    pub buffer_size: u32,
    /// How completions are told.
    pub task_run: TaskRun,
    /// On a ring, small writes to streams go to the kernel together, at the end of the turn, if at
    /// least so many events were told since the owner last parked: then the turn is likely to see
    /// that many writes. In quieter turns each write is a call of its own, and at the peer at once.
    /// 0 groups always, `u32::MAX` never.
    ///
    /// **How long a grouped write may wait.** Until the owner next looks, submits or parks, or
    /// another thread reaps in its place. So a task that writes and then keeps its thread without
    /// giving way keeps the write back, too, as long as it runs: worst, from the write to the end
    /// of that poll, and then as long as the owner holds its driver back. A caller that must have
    /// the bytes gone before it computes gives way once after the write.
    pub group_writes_from: u32,
    /// Whether to use `epoll_pwait2`; `false` makes a timer descriptor stand in for it, as on
    /// kernels that lack it.
    pub nanosecond_waits: bool,
    /// Where blocking calls go.
    pub offload: Arc<dyn Offload>,
}

impl Config {
    /// The usual sizes.
    pub fn new(backend: Backend, offload: Arc<dyn Offload>) -> Config {
        Config {
            backend,
            entries: ENTRIES,
            completions: 0,
            buffers: BUFFERS,
            buffer_size: BUFFER_SIZE,
            task_run: TaskRun::Cooperative,
            group_writes_from: 4,
            nanosecond_waits: epoll::has_nanoseconds(),
            offload,
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("backend", &self.backend)
            .field("entries", &self.entries)
            .field("task_run", &self.task_run)
            .finish_non_exhaustive()
    }
}

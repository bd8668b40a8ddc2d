//! A future in one allocation, and everything that may point at it.
//!
//! # Kinds of reference
//!
//! | reference | held by | count |
//! |---|---|---|
//! | `Runnable` | a queue, or the worker that polls: the run reference | 0 or 1 |
//! | live list | the scheduler's sharded list of unfinished tasks | 0 or 1 |
//! | [`JoinHandle`] | whoever spawned | 0 or 1 |
//! | [`AbortHandle`], `Waker` | anybody | any |
//!
//! All are counted in the state word. The last one frees the memory. By then the future and the
//! output are gone, so a stray waker on another thread never runs a destructor of the task's.
//!
//! # Who may touch which field
//!
//! | field | access |
//! |---|---|
//! | `state` | anyone, by its verbs |
//! | `next` | the holder of the run reference (a queue links it) |
//! | `links` | under the lock of the live list's shard |
//! | `home` | written by the worker that polls (of a pinned task, before it is), read by wakers |
//! | `parked` | written by the worker that polls, read by dumps |
//! | `join_waker` | the join handle; the completer once COMPLETE and JOIN_WAKER are set (1) |
//! | stage | the claimant (RUNNING) until COMPLETE; then the join handle, or the completer (2) |
//! | the rest | never changes |
//!
//! (1) While JOIN_WAKER is clear the handle may write the cell; while it is set and COMPLETE is
//! not, nobody may. (2) Future or output; the completer has the output if there is no handle.
//!
//! # Why the interface is sound
//!
//! `spawn` asks that future and output are `Send` and `'static`; a claim moves between threads
//! only through queues, which release and acquire. Pinned tasks may hold anything: their state
//! word carries PINNED, their wakers send them home, and only their home worker claims them. A task
//! that settles is pinned from within a poll, see [`settle`].
//! A join handle of a `!Send` output is `!Send` itself, because it holds a `PhantomData<T>`.

mod abort;
mod coop;
mod error;
mod harness;
mod header;
mod id;
mod join;
mod live;
mod parked;
mod settle;
mod stage;
mod state;
mod view;
mod waker;

pub use abort::AbortHandle;
pub use coop::{Unconstrained, consume_budget, unconstrained};
pub use error::JoinError;
pub use id::Id;
pub use join::JoinHandle;
pub use settle::{release, settle};

pub(crate) use harness::allocate;
pub(crate) use header::{Meta, RawTask, Runnable, Schedule, Step};
pub(crate) use live::LiveList;
pub(crate) use state::Phase;
pub(crate) use view::View;
pub(crate) use waker::enter_worker;

/// Gives the other tasks of this worker a turn: the caller is polled again after those that are
/// in line now.
///
/// # Fairness
///
/// The task goes to the tail of its worker's rotating queue, so tasks that only yield run in
/// strict rotation. On another runtime, or inside a combinator that polls its children with
/// wakers of its own, this wakes the waker it was polled with, as any self-wake does.
///
/// # Cancel safety
///
/// Dropping the future has no effect.
pub fn yield_now() -> YieldNow {
    YieldNow { yielded: false }
}

/// The future of [`yield_now`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct YieldNow {
    yielded: bool,
}

impl Future for YieldNow {
    type Output = ();

    #[inline]
    fn poll(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<()> {
        if self.yielded {
            return std::task::Poll::Ready(());
        }
        self.yielded = true;
        raddle_base::context::yield_back(cx);
        std::task::Poll::Pending
    }
}

/// The id of the running task.
///
/// # Panics
///
/// Outside of a task; [`try_id`] returns an option instead.
#[track_caller]
pub fn id() -> Id {
    match try_id() {
        Some(id) => id,
        None => panic!("there is no current task: call this from inside a task, or use try_id"),
    }
}

/// The id of the running task, or `None` outside of a task.
pub fn try_id() -> Option<Id> {
    Id::current()
}

#[cfg(all(test, not(loom)))]
#[path = "task/tests/size.rs"]
mod tests;

//! A task that changes sides: free while it holds nothing of a thread's, pinned while it does.
//!
//! A stack that was left in the middle may hold anything a thread may hold, so it never leaves its
//! thread; before it starts, and once it is empty, its task may be stolen like any other. The task
//! itself says so during a poll. See the table of PINNED in [`state`](crate::task::State).

use raddle_base::context;
use raddle_base::shim::atomic::Ordering::Relaxed;

use crate::sched::current;
use crate::task::RawTask;

/// The task that is being polled is polled and dropped on this worker only, from now on and until
/// it is [released](release).
///
/// False, and without effect, if this is not the poll of a task by its own worker, with the task's
/// own waker: then nobody knows who will poll it next.
pub fn settle() -> bool {
    with_own(|task, index| {
        // The home first: whoever sees the bit reads it.
        // Relaxed: both are published by the verb that ends the poll.
        task.header().home.store(index as u32, Relaxed);
        task.header().state.pin();
    })
}

/// The task that is being polled may be polled and dropped by any worker again.
///
/// False, and without effect, where [`settle`] is.
///
/// # Safety
///
/// The task was spawned as one that may move, and nothing it holds now must stay on this thread.
pub unsafe fn release() -> bool {
    with_own(|task, _| task.header().state.unpin())
}

fn with_own(change: impl FnOnce(RawTask, usize)) -> bool {
    let data = context::own_waker_data();
    if data.is_null() {
        return false;
    }
    // SAFETY: the data of the waker of the task that this thread polls, which holds a reference.
    let task = unsafe { RawTask::from_data(data) };
    let Some(index) = current::index_in(task.header().scheduler) else { return false };
    change(task, index);
    context::settled();
    true
}

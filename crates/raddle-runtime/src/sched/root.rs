//! The task by which a thread that became worker 0 waits for its own future.
//!
//! The future given to `run` lies on the caller's stack and may borrow from it. The task made for
//! it holds raw pointers only; it is pinned to worker 0, which is the caller's own thread in the
//! very call that owns the future, and it is complete before that call goes on.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Weak;
use std::task::{Context, Poll};

use raddle_base::clock::Instant;

use crate::sched::shared::Shared;
use crate::sched::shutdown;

/// The outcome of the caller's future.
pub(crate) type Outcome<T> = Option<Result<T, Box<dyn Any + Send>>>;

/// Future and outcome, as the task sees them.
pub(crate) struct Root {
    poll: unsafe fn(*mut (), *mut (), &mut Context<'_>) -> Poll<()>,
    future: *mut (),
    outcome: *mut (),
    shared: Weak<Shared>,
}

impl Root {
    /// A task body that polls `future` into `outcome` and then ends the runtime.
    ///
    /// # Safety
    ///
    /// Both outlive every poll of the result, and are not touched otherwise until it is dropped
    /// or will not be polled again. The future is not moved before it is dropped.
    pub(crate) unsafe fn new<F: Future>(
        future: *mut F,
        outcome: *mut Outcome<F::Output>,
        shared: Weak<Shared>,
    ) -> Root {
        Root { poll: poll::<F>, future: future.cast(), outcome: outcome.cast(), shared }
    }
}

impl Future for Root {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let root = self.get_mut();
        // SAFETY: the pointers are valid, as promised to `new`.
        let poll = unsafe { (root.poll)(root.future, root.outcome, cx) };
        if poll.is_ready()
            && let Some(shared) = root.shared.upgrade()
        {
            shutdown::begin(&shared, Instant::FAR_FUTURE);
        }
        poll
    }
}

/// # Safety
///
/// `future` and `outcome` are of the types for `F` and exclusively the caller's.
unsafe fn poll<F: Future>(future: *mut (), outcome: *mut (), cx: &mut Context<'_>) -> Poll<()> {
    // SAFETY: as promised; the future stays where it is.
    let future = unsafe { Pin::new_unchecked(&mut *future.cast::<F>()) };
    let done = match catch_unwind(AssertUnwindSafe(|| future.poll(cx))) {
        Ok(Poll::Pending) => return Poll::Pending,
        Ok(Poll::Ready(output)) => Ok(output),
        Err(payload) => Err(payload),
    };
    // SAFETY: as promised.
    unsafe { *outcome.cast::<Outcome<F::Output>>() = Some(done) };
    Poll::Ready(())
}

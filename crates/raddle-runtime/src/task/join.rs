//! The handle by which the spawner waits for a task's output.

use std::fmt;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use raddle_base::context;
use raddle_base::wait::WaitKind;

use crate::blocking::shared as blocking;
use crate::task::state::Fast;
use crate::task::{AbortHandle, Id, JoinError, RawTask};

/// Waits for the output of a spawned task.
///
/// Dropping the handle detaches the task: it goes on, and its output is dropped when it ends. A
/// panic that nobody has read by then goes to the runtime's panic policy, unless the task had ended
/// and the handle is dropped on a thread outside the runtime.
/// Awaiting gives the output, or a [`JoinError`] if the task panicked or was aborted.
///
/// # Cancel safety
///
/// Cancel-safe: a dropped wait on `&mut handle` loses nothing, and the output stays until it is
/// taken.
///
/// # Panics
///
/// Polling again after the output was taken panics.
#[must_use = "dropping the handle detaches the task; call `detach` to say so"]
pub struct JoinHandle<T> {
    raw: RawTask,
    /// The output has been given away.
    taken: bool,
    output: PhantomData<T>,
}

// SAFETY: the handle only moves the output of type `T` to whoever awaits it.
unsafe impl<T: Send> Send for JoinHandle<T> {}
// SAFETY: a shared handle gives no access to the output.
unsafe impl<T: Send> Sync for JoinHandle<T> {}

impl<T> Unpin for JoinHandle<T> {}
impl<T> UnwindSafe for JoinHandle<T> {}
impl<T> RefUnwindSafe for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    /// # Safety
    ///
    /// The caller owns the join reference of a task whose output is `T`.
    pub(crate) unsafe fn new(raw: RawTask) -> Self {
        JoinHandle { raw, taken: false, output: PhantomData }
    }

    /// Asks for the end of the task: its future is dropped at its next turn, and the handle gives
    /// a cancelled [`JoinError`], unless the task completed first. Never waits.
    pub fn abort(&self) {
        self.raw.abort();
    }

    /// A handle that can abort the task and nothing else.
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle::new(self.raw)
    }

    /// Whether the task has ended. True means that awaiting will not wait.
    pub fn is_finished(&self) -> bool {
        self.raw.header().state.is_complete()
    }

    /// The id of the task.
    pub fn id(&self) -> Id {
        self.raw.header().id
    }

    /// Lets the task go on by itself, as dropping the handle does.
    pub fn detach(self) {}

    /// Takes the output of a task that is complete.
    pub(crate) fn take(&mut self) -> Result<T, JoinError> {
        let mut output: Option<Result<T, JoinError>> = None;
        // SAFETY: the task is complete and this handle has the right to its output, which is of
        // type `T` as promised to `new`.
        unsafe {
            (self.raw.header().vtable.take_output)(self.raw, (&raw mut output).cast());
        }
        output.unwrap_or_else(|| panic!("a join handle was polled after it gave its output"))
    }

    /// Fills the join waker cell; false if the task completed meanwhile.
    pub(crate) fn register(&self, waker: &Waker) -> bool {
        let header = self.raw.header();
        if header.state.has_join_waker() {
            // SAFETY: nobody writes the cell while JOIN_WAKER is set, but this handle.
            let same = header
                .join_waker
                .with(|cell| unsafe { (*cell).as_ref().is_some_and(|old| old.will_wake(waker)) });
            if same {
                return !header.state.is_complete();
            }
            if !header.state.retract_join_waker() {
                return false;
            }
        }
        let new = Some(waker.clone());
        // SAFETY: JOIN_WAKER is clear: the cell is this handle's.
        let old = header.join_waker.with_mut(|cell| unsafe { cell.replace(new) });
        let published = header.state.publish_join_waker();
        if !published {
            // SAFETY: completed before the cell was published: it is still this handle's.
            drop(header.join_waker.with_mut(|cell| unsafe { (*cell).take() }));
        }
        drop(old);
        published
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        std::task::ready!(context::check_budget(cx));
        if !self.raw.header().state.is_complete() && self.register(cx.waker()) {
            // Free of cost but for a load, unless this is a thread of the blocking pool.
            blocking::waits();
            context::waits(WaitKind::Join, Some(self.raw.header().site));
            return Poll::Pending;
        }
        blocking::resumed();
        context::spend();
        Poll::Ready(self.take())
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        let header = self.raw.header();
        match header.state.unjoin_fast() {
            Fast::Detached => return,
            Fast::Complete => {
                if !self.taken {
                    // SAFETY: the task is complete and the right to its output is this handle's.
                    unsafe { (header.vtable.drop_output)(self.raw) };
                }
                if header.state.unjoin_complete() {
                    self.raw.dealloc();
                }
                return;
            }
            Fast::Slow => {}
        }
        let owed = header.state.unjoin();
        if owed.drop_waker {
            // SAFETY: JOIN_WAKER was cleared by this handle before completion: the cell is its.
            drop(header.join_waker.with_mut(|cell| unsafe { (*cell).take() }));
        }
        if owed.drop_output {
            // SAFETY: the task is complete and the right to its output was this handle's.
            unsafe { (header.vtable.drop_output)(self.raw) };
        }
        self.raw.drop_refs(1);
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("id", &self.id()).finish_non_exhaustive()
    }
}

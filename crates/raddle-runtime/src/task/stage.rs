//! Future, then output, then nothing: the cell that a task's claim protects.

use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll};

use raddle_base::shim::cell::UnsafeCell;

use crate::task::JoinError;

/// What the cell holds. The future is never moved once it is here.
pub(crate) enum Stage<F: Future> {
    Future(F),
    Output(Result<F::Output, JoinError>),
    Empty,
}

/// The cell. Access is ruled by the state word; see the table in [`task`](crate::task).
pub(crate) struct StageCell<F: Future>(UnsafeCell<Stage<F>>);

impl<F: Future> StageCell<F> {
    pub(crate) fn new(future: F) -> Self {
        StageCell(UnsafeCell::new(Stage::Future(future)))
    }

    /// Polls the future.
    ///
    /// # Safety
    ///
    /// The caller holds the claim (RUNNING), and the cell does not move any more.
    #[inline]
    pub(crate) unsafe fn poll(&self, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.0.with_mut(|stage| {
            // SAFETY: the claim gives exclusive access to the cell.
            let Stage::Future(future) = (unsafe { &mut *stage }) else {
                unreachable!("a task without its future was polled")
            };
            // SAFETY: the task is on the heap and its stage is not moved until the future has
            // been dropped in place.
            unsafe { Pin::new_unchecked(future) }.poll(cx)
        })
    }

    /// Drops the future, or the output, in place. A panic of the destructor leaves the cell
    /// empty.
    ///
    /// # Safety
    ///
    /// The caller has exclusive access: the claim, or the right to the output.
    pub(crate) unsafe fn clear(&self) {
        self.0.with_mut(|stage| {
            struct Emptied<F: Future>(*mut Stage<F>);
            impl<F: Future> Drop for Emptied<F> {
                fn drop(&mut self) {
                    // SAFETY: exclusive as promised by the caller of `clear`; the old content has
                    // been dropped, also when its destructor panicked.
                    unsafe { self.0.write(Stage::Empty) };
                }
            }
            let _emptied = Emptied(stage);
            // SAFETY: exclusive as promised; dropped once, because `Emptied` overwrites it
            // without dropping.
            unsafe { stage.drop_in_place() };
        });
    }

    /// Stores the output. The future must have been cleared.
    ///
    /// # Safety
    ///
    /// The caller holds the claim.
    pub(crate) unsafe fn store(&self, output: Result<F::Output, JoinError>) {
        // SAFETY: exclusive by the claim; what is overwritten is `Empty`.
        self.0.with_mut(|stage| unsafe { stage.write(Stage::Output(output)) });
    }

    /// Moves the output out.
    ///
    /// # Safety
    ///
    /// The task is complete and the caller has the right to the output.
    pub(crate) unsafe fn take(&self) -> Option<Result<F::Output, JoinError>> {
        self.0.with_mut(|stage| {
            // SAFETY: exclusive by the right to the output.
            let stage = unsafe { stage.replace(Stage::Empty) };
            match stage {
                Stage::Output(output) => Some(output),
                // Taken already; a future is never here after completion.
                other => {
                    let _ = ManuallyDrop::new(other);
                    None
                }
            }
        })
    }
}

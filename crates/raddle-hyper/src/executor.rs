//! hyper's tasks on the runtime of the thread that spawns them.

use hyper::rt::Executor;

/// Spawns on the current runtime.
///
/// # Panics
///
/// `execute` panics on a thread that belongs to no runtime.
#[derive(Clone, Copy, Debug, Default)]
pub struct RaddleExecutor;

impl<F> Executor<F> for RaddleExecutor
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    #[track_caller]
    fn execute(&self, future: F) {
        drop(raddle::spawn(future));
    }
}

//! Calls that block, on the runtime's pool.

use raddle_driver::NO_RUNTIME;
use raddle_runtime::Handle;
use std::io;

/// Runs `call` on the blocking pool of this thread's runtime and gives its result.
///
/// # Errors
///
/// This thread belongs to no runtime; the pool takes no more jobs, or was shut down before this
/// one ran.
///
/// # Panics
///
/// A panic of `call` is passed on.
pub(crate) async fn run<T, F>(call: F) -> io::Result<T>
where
    T: Send + 'static,
    F: FnOnce() -> T + Send + 'static,
{
    let Some(runtime) = Handle::try_current() else {
        return Err(io::Error::other(NO_RUNTIME));
    };
    match runtime.spawn_blocking(call).await {
        Ok(value) => Ok(value),
        Err(error) => match error.try_into_panic() {
            Ok(payload) => std::panic::resume_unwind(payload),
            Err(error) => Err(io::Error::other(error)),
        },
    }
}

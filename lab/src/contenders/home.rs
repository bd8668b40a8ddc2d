//! Values of runtimes that live on one thread, passed off as `Send`.

use crate::rt::OneThread;

/// Wraps what belongs to a runtime of one thread.
///
/// Only for adapters whose `run` polls the body, and `spawn` its tasks, on the calling thread.
#[inline]
pub(super) fn home<T>(value: T) -> OneThread<T> {
    // SAFETY: the adapters that call this are one-thread runtimes: bodies of the cases reach the
    // value only from tasks of that runtime, which never leave their thread.
    unsafe { OneThread::new(value) }
}

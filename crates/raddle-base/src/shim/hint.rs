//! Hints: of a spinning thread, which under loom yields, because a model has one real thread; and
//! to the compiler, which branch is the rare one.

pub use std::hint::cold_path;

/// Tells the processor, or the model, that this thread is spinning.
#[inline]
pub fn spin_loop() {
    #[cfg(not(any(loom, shuttle)))]
    std::hint::spin_loop();
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(shuttle)]
    shuttle::thread::yield_now();
}

/// A thread passes a point of a loop that it may go round without getting anywhere until another
/// one does: nothing, except that under shuttle, whose priorities are strict, it gives way now and
/// then, as a kernel would make it.
#[cfg(not(shuttle))]
#[inline(always)]
pub(crate) fn pass() {}

/// As above.
#[cfg(shuttle)]
pub(crate) fn pass() {
    if crate::shim::world::is_time_to_yield() {
        shuttle::thread::yield_now();
    }
}

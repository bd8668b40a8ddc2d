//! Hints: of a spinning thread, which under loom yields, because a model has one real thread; and
//! to the compiler, which branch is the rare one.

pub use std::hint::cold_path;

/// Tells the processor, or the model, that this thread is spinning.
#[inline]
pub fn spin_loop() {
    #[cfg(not(loom))]
    std::hint::spin_loop();
    #[cfg(loom)]
    loom::thread::yield_now();
}

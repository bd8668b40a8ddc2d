//! The hint of a spinning thread; under loom it yields, because a model has one real thread.

/// Tells the processor, or the model, that this thread is spinning.
#[inline]
pub fn spin_loop() {
    #[cfg(not(loom))]
    std::hint::spin_loop();
    #[cfg(loom)]
    loom::thread::yield_now();
}

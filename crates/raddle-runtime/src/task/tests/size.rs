//! What a task costs in bytes.

use std::any::Any;

use super::*;

struct Nowhere;

impl Schedule for Nowhere {
    unsafe fn schedule(_: *const (), _: Runnable) {}

    unsafe fn release(_: *const (), _: RawTask) -> bool {
        false
    }

    unsafe fn wake_joiner(_: *const (), _: std::task::Waker) {}

    unsafe fn unhandled_panic(_: *const (), _: RawTask, _: Box<dyn Any + Send>) {}
}

#[test]
fn a_task_with_a_small_future_fits_into_three_cache_lines() {
    struct Future32([u64; 4]);
    impl Future for Future32 {
        type Output = ();
        fn poll(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<()> {
            let _ = self.0;
            std::task::Poll::Pending
        }
    }
    assert!(harness::task_size::<Future32, Nowhere>() <= 160);
}

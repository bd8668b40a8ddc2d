//! Backtraces pass the seam or end cleanly.

use raddle_fiber::{Fiber, Stack, Step, Suspender};
use std::backtrace::Backtrace;

#[inline(never)]
fn inside_the_fiber() -> String {
    std::hint::black_box(Backtrace::force_capture().to_string())
}

#[inline(never)]
fn resumes_the_fiber(fiber: &mut Fiber<(), String, ()>) -> String {
    let Step::Suspended(text) = fiber.resume(()) else { panic!("it should have suspended") };
    std::hint::black_box(text)
}

fn assert_passes_the_seam(text: &str) {
    let inner = text.find("inside_the_fiber").expect(text);
    let outer = text.find("resumes_the_fiber").expect(text);
    let test = text.rfind("a_backtrace_goes_on_in_the_resumer").expect(text);
    assert!(inner < outer && outer < test, "{text}");
}

#[test]
fn a_backtrace_goes_on_in_the_resumer() {
    let mut fiber = Fiber::new(Stack::new().unwrap(), |s: &Suspender<(), String>, ()| {
        for _ in 0..2 {
            s.suspend(inside_the_fiber());
        }
    });
    assert_passes_the_seam(&resumes_the_fiber(&mut fiber));
    // After a suspension as well, from another place.
    assert_passes_the_seam(&resumes_the_fiber(&mut fiber));
}

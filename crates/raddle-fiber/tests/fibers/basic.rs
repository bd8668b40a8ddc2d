//! Resume and suspend: values arrive, ends are told apart, misuse is found.

use raddle_fiber::{Fiber, Reason, Stack, Step};
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::rc::Rc;
use std::thread;

fn stack() -> Stack {
    Stack::new().unwrap()
}

#[test]
fn values_travel_both_ways() {
    let mut fiber = Fiber::new(stack(), |s, first: [u64; 5]| {
        let second = s.suspend(first[0] as u8);
        let third = s.suspend(second[1] as u8);
        third.map(|n| n.to_string())
    });
    assert!(matches!(fiber.resume([1; 5]), Step::Suspended(1)));
    assert!(!fiber.is_done());
    assert!(matches!(fiber.resume([2; 5]), Step::Suspended(2)));
    let Step::Finished(end) = fiber.resume([3; 5]) else { panic!("it should have finished") };
    assert_eq!(end.join(""), "33333");
    assert!(fiber.is_done());
}

#[test]
fn owned_values_are_moved_once() {
    let mut fiber = Fiber::new(stack(), |s, mut text: String| {
        for _ in 0..3 {
            let next = s.suspend(vec![text]);
            text = next;
        }
        text
    });
    for n in 0..3 {
        let Step::Suspended(mut out) = fiber.resume(format!("value {n}")) else { panic!() };
        assert_eq!(out.pop().unwrap(), format!("value {n}"));
    }
    assert!(matches!(fiber.resume("end".to_owned()), Step::Finished(end) if end == "end"));
}

#[test]
fn a_panic_is_a_step() {
    let mut fiber = Fiber::<(), (), ()>::new(stack(), |s, ()| {
        s.suspend(());
        panic::resume_unwind(Box::new(42));
    });
    assert!(matches!(fiber.resume(()), Step::Suspended(())));
    let Step::Panicked(payload) = fiber.resume(()) else { panic!("it should have panicked") };
    assert_eq!(payload.downcast_ref(), Some(&42));
    assert!(fiber.is_done());
    assert!(!thread::panicking());
}

#[test]
fn an_ended_fiber_cannot_be_resumed() {
    let mut fiber = Fiber::<(), ()>::new(stack(), |_, ()| ());
    assert!(matches!(fiber.resume(()), Step::Finished(())));
    let again = panic::catch_unwind(AssertUnwindSafe(|| fiber.resume(())));
    let message = *again.unwrap_err().downcast::<&str>().unwrap();
    assert_eq!(message, "a fiber was resumed after its end");
}

#[test]
fn what_is_not_send_may_lie_on_the_stack() {
    let shared = Rc::new(Cell::new(0));
    let inner = shared.clone();
    let home = thread::current().id();
    let mut fiber = Fiber::new(stack(), move |s, ()| {
        let mine = Rc::new(5);
        for _ in 0..100 {
            inner.set(inner.get() + *mine);
            s.suspend(thread::current().id());
        }
        Rc::strong_count(&mine)
    });
    for n in 0..100 {
        assert!(matches!(fiber.resume(()), Step::Suspended(id) if id == home));
        assert_eq!(shared.get(), 5 * (n + 1));
    }
    assert!(matches!(fiber.resume(()), Step::Finished(1)));
    assert_eq!(Rc::strong_count(&shared), 1);
}

#[test]
fn a_stack_serves_one_fiber_after_another() {
    let mut stack = stack();
    let bounds = stack.bounds();
    assert_eq!(bounds.len(), stack.size());
    for n in 0..100 {
        let mut fiber = Fiber::<u64, (), u64>::new(stack, |_, n| n + 1);
        assert!(matches!(fiber.resume(n), Step::Finished(m) if m == n + 1));
        stack = fiber.into_stack().unwrap();
        assert_eq!(stack.bounds(), bounds);
    }
}

#[test]
fn large_and_aligned_closures_fit() {
    #[repr(align(256))]
    struct Aligned([u8; 1000]);
    let big = Aligned([7; 1000]);
    let mut fiber = Fiber::<(), (), Aligned>::new(stack(), move |s, ()| {
        s.suspend(());
        let here = std::ptr::from_ref(&big).addr();
        assert_eq!(here % 256, 0);
        Aligned(big.0.map(|n| n + 1))
    });
    assert!(matches!(fiber.resume(()), Step::Suspended(())));
    assert!(matches!(fiber.resume(()), Step::Finished(end) if end.0 == [8; 1000]));
}

#[test]
fn a_closure_that_does_not_fit_is_refused() {
    let big = [0_u8; 200_000];
    let made = panic::catch_unwind(|| {
        drop(Fiber::<(), (), u8>::new(stack(), move |_, ()| big[7]));
    });
    assert!(made.is_err());
}

#[test]
fn a_suspension_while_panicking_is_refused_and_changes_nothing() {
    struct Waits<F: Fn()>(F);
    impl<F: Fn()> Drop for Waits<F> {
        fn drop(&mut self) {
            (self.0)();
        }
    }
    let mut fiber = Fiber::<(), u32, u32>::new(stack(), |s, ()| {
        let refused = Cell::new(0);
        let unwound = panic::catch_unwind(AssertUnwindSafe(|| {
            let _waits = Waits(|| {
                let error = s.try_suspend(7).unwrap_err();
                assert_eq!((error.reason, error.value), (Reason::Panicking, 7));
                assert_eq!(s.can_suspend(), Err(Reason::Panicking));
                let loud = panic::catch_unwind(AssertUnwindSafe(|| s.suspend(8)));
                assert!(loud.unwrap_err().downcast_ref::<String>().unwrap().contains("panicking"));
                refused.set(refused.get() + 1);
            });
            panic::resume_unwind(Box::new("first"));
        }));
        assert_eq!(unwound.unwrap_err().downcast_ref(), Some(&"first"));
        s.suspend(1);
        refused.get()
    });
    // Another fiber panics and ends meanwhile: each sees its own panic only.
    assert!(matches!(fiber.resume(()), Step::Suspended(1)));
    let mut other = Fiber::<(), ()>::new(stack(), |_, ()| {
        assert!(!thread::panicking());
        panic::resume_unwind(Box::new("second"));
    });
    assert!(matches!(other.resume(()), Step::Panicked(_)));
    assert!(matches!(fiber.resume(()), Step::Finished(1)));
}

#[test]
fn names_and_numbers_are_optional() {
    let fiber = Fiber::<(), ()>::builder().name("worker").id(7).build(stack(), |_, ()| ());
    let fiber: Fiber<(), (), ()> = fiber;
    assert!(format!("{fiber:?}").contains("worker"));
}

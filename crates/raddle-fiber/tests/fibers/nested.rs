//! Fibers in fibers, and calls on the resumer's stack.

use raddle_fiber::{Fiber, Reason, Stack, Step, Suspender, Unwound, foreign, on_parent_stack};
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::ptr;
use std::thread;

fn stack() -> Stack {
    Stack::new().unwrap()
}

fn here() -> usize {
    let pointer;
    // SAFETY: reads the stack pointer; a local variable might lie in a frame of the sanitizer's.
    unsafe { std::arch::asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack)) };
    pointer
}

#[test]
fn fibers_resume_fibers() {
    fn count(s: &Suspender<(), u32>, depth: u32) {
        s.suspend(depth);
        if depth < 20 {
            let mut inner = Fiber::new(stack(), move |s, ()| count(s, depth + 1));
            while let Step::Suspended(n) = inner.resume(()) {
                s.suspend(n);
            }
        }
    }
    let mut outer = Fiber::new(stack(), |s, ()| count(s, 0));
    for n in 0..=20 {
        assert!(matches!(outer.resume(()), Step::Suspended(m) if m == n));
    }
    assert!(matches!(outer.resume(()), Step::Finished(())));
}

#[test]
fn a_kill_reaches_fibers_on_the_stack() {
    struct Last(std::rc::Rc<Cell<u32>>);
    impl Drop for Last {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    let drops = std::rc::Rc::new(Cell::new(0));
    let seen = drops.clone();
    let mut outer = Fiber::<(), (), ()>::new(stack(), move |s, ()| {
        let last = Last(seen);
        let mut inner = Fiber::<(), (), ()>::new(stack(), move |s, ()| {
            let _last = last;
            s.suspend(());
        });
        assert!(matches!(inner.resume(()), Step::Suspended(())));
        s.suspend(());
    });
    assert!(matches!(outer.resume(()), Step::Suspended(())));
    assert!(matches!(outer.unwind(), Unwound::Killed));
    assert_eq!(drops.get(), 1);
}

#[test]
fn deep_calls_run_on_the_resumers_stack() {
    let stack = stack();
    let bounds = stack.bounds();
    let mut fiber = Fiber::<(), (), usize>::new(stack, move |s, ()| {
        assert!(bounds.contains(&here()));
        let there = on_parent_stack(|| {
            assert!(!bounds.contains(&here()));
            assert_eq!(s.can_suspend(), Err(Reason::Elsewhere));
            let loud = panic::catch_unwind(AssertUnwindSafe(|| s.suspend(())));
            assert!(loud.is_err());
            [1_u8; 1 << 20].iter().map(|n| *n as usize).sum::<usize>()
        });
        s.suspend(());
        there
    });
    assert!(matches!(fiber.resume(()), Step::Suspended(())));
    assert!(matches!(fiber.resume(()), Step::Finished(n) if n == 1 << 20));
}

#[test]
fn a_panic_elsewhere_comes_back() {
    let mut fiber = Fiber::<(), (), bool>::new(stack(), |s, ()| {
        let caught = panic::catch_unwind(|| {
            on_parent_stack(|| {
                panic::resume_unwind(Box::new(9));
            })
        });
        assert!(!thread::panicking());
        s.suspend(());
        caught.unwrap_err().is::<i32>()
    });
    assert!(matches!(fiber.resume(()), Step::Suspended(())));
    assert!(matches!(fiber.resume(()), Step::Finished(true)));
}

#[test]
fn elsewhere_may_be_two_stacks_away() {
    let mut outer = Fiber::<(), (), u32>::new(stack(), |s, ()| {
        let mut inner = Fiber::<(), (), u32>::new(stack(), |s, ()| {
            let n = on_parent_stack(|| on_parent_stack(|| [2_u8; 1 << 20][77]));
            s.suspend(());
            n.into()
        });
        assert!(matches!(inner.resume(()), Step::Suspended(())));
        s.suspend(());
        let Step::Finished(n) = inner.resume(()) else { panic!() };
        n
    });
    assert!(matches!(outer.resume(()), Step::Suspended(())));
    assert!(matches!(outer.resume(()), Step::Finished(2)));
}

#[test]
fn on_a_plain_stack_it_is_a_call() {
    assert_eq!(on_parent_stack(|| 5), 5);
    assert_eq!(raddle_fiber::foreign(|| 6), 6);
}

#[test]
fn fibers_run_elsewhere_too() {
    let mut fiber = Fiber::<(), (), u32>::new(stack(), |s, ()| {
        let sum = on_parent_stack(|| {
            let mut inner = Fiber::<u32, u32, u32>::new(stack(), |s, n| s.suspend(n + 1) + 1);
            let Step::Suspended(n) = inner.resume(1) else { panic!() };
            let Step::Finished(n) = inner.resume(n) else { panic!() };
            n
        });
        s.suspend(());
        sum
    });
    assert!(matches!(fiber.resume(()), Step::Suspended(())));
    assert!(matches!(fiber.resume(()), Step::Finished(3)));
}

thread_local! {
    /// A way to smuggle a suspender out, as crates with scoped thread-locals do.
    static SMUGGLED: Cell<*const Suspender<(), u32>> = const { Cell::new(ptr::null()) };
}

#[test]
fn a_suspender_used_outside_its_fiber_is_refused() {
    let mut fiber = Fiber::<(), u32, ()>::new(stack(), |s, ()| {
        SMUGGLED.set(s);
        s.suspend(1);
    });
    assert!(matches!(fiber.resume(()), Step::Suspended(1)));
    // SAFETY: the suspender lives as long as the fiber, which is suspended.
    let smuggled = unsafe { &*SMUGGLED.get() };
    assert_eq!(smuggled.try_suspend(2).unwrap_err().reason, Reason::NotRunning);
    let loud = panic::catch_unwind(AssertUnwindSafe(|| smuggled.suspend(3)));
    assert!(loud.is_err());
    assert!(matches!(fiber.resume(()), Step::Finished(())));
}

#[test]
fn an_outer_fiber_may_suspend_from_an_inner_one() {
    let mut outer = Fiber::<(), u32, u32>::new(stack(), |s, ()| {
        SMUGGLED.set(s);
        let mut inner = Fiber::<(), u32, u32>::new(stack(), |own, ()| {
            // SAFETY: the outer fiber waits for this one.
            let outer = unsafe { &*SMUGGLED.get() };
            outer.suspend(1);
            own.suspend(2);
            3
        });
        let Step::Suspended(two) = inner.resume(()) else { panic!() };
        let Step::Finished(three) = inner.resume(()) else { panic!() };
        two + three
    });
    assert!(matches!(outer.resume(()), Step::Suspended(1)));
    assert!(matches!(outer.resume(()), Step::Finished(5)));
}

/// The inner fiber leaves the outer one, as code of a scheduler does that knows the outer only.
fn left_by_inner(inner: fn(&dyn Fn())) -> Fiber<(), (), ()> {
    let mut outer = Fiber::<(), (), ()>::new(stack(), move |s, ()| {
        let outer = ptr::from_ref(s);
        let mut fiber = Fiber::<(), (), ()>::new(stack(), move |_, ()| {
            // SAFETY: the outer fiber waits below until this one has ended.
            inner(&|| unsafe { &*outer }.suspend(()));
        });
        let _ = fiber.resume(());
    });
    assert!(matches!(outer.resume(()), Step::Suspended(())));
    outer
}

#[test]
fn foreign_frames_of_an_inner_fiber_are_not_unwound() {
    assert!(matches!(left_by_inner(|leave| leave()).unwind(), Unwound::Killed));
    let mut outer = left_by_inner(|leave| foreign(leave));
    assert!(matches!(outer.unwind(), Unwound::Abandoned));
    let mut outer = left_by_inner(|leave| foreign(|| on_parent_stack(leave)));
    assert!(matches!(outer.unwind(), Unwound::Abandoned));
    // Over in time.
    let mut outer = left_by_inner(|leave| {
        foreign(|| on_parent_stack(|| ()));
        leave();
    });
    assert!(matches!(outer.unwind(), Unwound::Killed));
}

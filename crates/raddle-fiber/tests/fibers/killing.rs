//! The end by force: destructors run once, and nothing swallows the kill.

use raddle_fiber::is_forced_unwind;
use raddle_fiber::{Fiber, Reason, Stack, Stacks, Step, Suspender, Unwound, foreign};
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Counts its drops.
#[derive(Clone)]
struct Counts(Rc<Cell<u32>>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

fn counter() -> Rc<Cell<u32>> {
    Rc::new(Cell::new(0))
}

fn fiber<Ret: 'static>(
    f: impl FnOnce(&Suspender<(), u32>, ()) -> Ret + 'static,
) -> Fiber<(), u32, Ret> {
    Fiber::new(Stack::new().unwrap(), f)
}

#[test]
fn a_dropped_fiber_is_unwound() {
    let drops = counter();
    let on_stack = Counts(drops.clone());
    let mut suspended = fiber(move |s, ()| {
        let _second = on_stack.clone();
        s.suspend(1);
        unreachable!("it is never resumed");
    });
    assert!(matches!(suspended.resume(()), Step::Suspended(1)));
    assert_eq!(drops.get(), 0);
    drop(suspended);
    assert_eq!(drops.get(), 2);
    assert!(!thread::panicking());
}

#[test]
fn a_fiber_that_never_started_is_dropped() {
    let drops = counter();
    let captured = Counts(drops.clone());
    let mut unstarted = fiber(move |_, ()| drop(captured));
    assert!(matches!(unstarted.unwind(), Unwound::Killed));
    assert_eq!(drops.get(), 1);
    assert!(unstarted.is_done());
    assert!(matches!(unstarted.unwind(), Unwound::Done));
    drop(unstarted);
    assert_eq!(drops.get(), 1);
}

#[test]
fn a_thousand_suspended_fibers_run_each_destructor_once() {
    let drops = counter();
    let guards = Rc::new(RefCell::new(0_u32));
    let mut fibers = Vec::new();
    for n in 0..1000 {
        let (mine, guards) = (Counts(drops.clone()), guards.clone());
        let mut one = fiber(move |s, ()| {
            let outer = Vec::from([mine.clone(), mine.clone()]);
            let done = AtomicBool::new(false);
            // A scope of threads ends only when its threads have: it must be left by unwinding.
            thread::scope(|scope| {
                if n % 100 == 0 {
                    scope.spawn(|| done.store(true, Ordering::Relaxed));
                }
                let inner = mine.clone();
                s.suspend(outer.len() as u32);
                drop(inner);
            });
            *guards.borrow_mut() += 1;
        });
        assert!(matches!(one.resume(()), Step::Suspended(2)));
        fibers.push(one);
    }
    drop(fibers);
    assert_eq!(drops.get(), 4 * 1000);
    assert_eq!(*guards.borrow(), 0);
}

#[test]
fn the_kill_cannot_be_swallowed() {
    let caught = counter();
    let seen = caught.clone();
    let mut stubborn = fiber(move |s, ()| {
        for _ in 0..5 {
            let swallowed = panic::catch_unwind(AssertUnwindSafe(|| s.suspend(1)));
            assert!(is_forced_unwind(&*swallowed.unwrap_err()));
            assert!(s.is_unwinding());
            seen.set(seen.get() + 1);
        }
        "returned as if nothing had happened"
    });
    assert!(matches!(stubborn.resume(()), Step::Suspended(1)));
    assert!(matches!(stubborn.unwind(), Unwound::Killed));
    assert_eq!(caught.get(), 5);
    assert!(stubborn.into_stack().is_some());
}

#[test]
fn an_endless_loop_that_catches_everything_is_abandoned() {
    let stacks = Stacks::builder().usable(100 << 10).build().unwrap();
    let caught = counter();
    let seen = caught.clone();
    let mut endless = Fiber::<(), (), ()>::new(stacks.take().unwrap(), move |s, ()| {
        loop {
            let _ = panic::catch_unwind(AssertUnwindSafe(|| s.suspend(())));
            seen.set(seen.get() + 1);
        }
    });
    assert!(matches!(endless.resume(()), Step::Suspended(())));
    assert!(matches!(endless.unwind(), Unwound::Abandoned));
    assert_eq!(caught.get(), 1000);
    assert!(endless.is_done());
    assert_eq!(stacks.stats().abandoned, 1);
    assert!(endless.into_stack().is_none());
    assert_eq!(stacks.stats().out, 1, "its stack is never given out again");
}

#[test]
fn another_panic_in_place_of_the_kill_is_told() {
    let mut fiber = fiber(|s, ()| {
        let _ = panic::catch_unwind(AssertUnwindSafe(|| s.suspend(1)));
        panic::resume_unwind(Box::new("mine"));
    });
    let _: Step<u32, ()> = fiber.resume(());
    let Unwound::Panicked(payload) = fiber.unwind() else { panic!("the payload is lost") };
    assert_eq!(payload.downcast_ref(), Some(&"mine"));
}

/// What a destructor saw.
struct Looks<'s> {
    suspender: &'s Suspender<(), u32>,
    seen: Rc<RefCell<Vec<Reason>>>,
}

impl Drop for Looks<'_> {
    fn drop(&mut self) {
        self.seen.borrow_mut().extend(self.suspender.can_suspend().err());
        let refused = self.suspender.try_suspend(7).unwrap_err();
        assert_eq!(refused.value, 7);
        self.seen.borrow_mut().push(refused.reason);
        let loud = panic::catch_unwind(AssertUnwindSafe(|| self.suspender.suspend(8)));
        assert!(loud.is_err());
    }
}

#[test]
fn a_destructor_that_suspends_is_refused() {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let looks = seen.clone();
    let mut fiber = fiber(move |s, ()| {
        let _looks = Looks { suspender: s, seen: looks };
        s.suspend(1);
    });
    assert!(matches!(fiber.resume(()), Step::Suspended(1)));
    assert!(matches!(fiber.unwind(), Unwound::Killed));
    assert_eq!(*seen.borrow(), [Reason::Unwinding, Reason::Unwinding]);
}

#[test]
fn a_destructor_may_suspend_when_nothing_panics() {
    struct Waits<'s>(&'s Suspender<(), u32>);
    impl Drop for Waits<'_> {
        fn drop(&mut self) {
            self.0.suspend(2);
        }
    }
    let mut fiber = fiber(|s, ()| {
        let _waits = Waits(s);
        s.suspend(1);
    });
    assert!(matches!(fiber.resume(()), Step::Suspended(1)));
    assert!(matches!(fiber.resume(()), Step::Suspended(2)));
    assert!(matches!(fiber.resume(()), Step::Finished(())));
}

#[test]
fn a_fiber_is_killed_while_its_owner_panics() {
    let drops = counter();
    let mine = Counts(drops.clone());
    let unwound = panic::catch_unwind(AssertUnwindSafe(move || {
        let mut owned = fiber(move |s, ()| {
            let _mine = mine;
            s.suspend(1);
        });
        assert!(matches!(owned.resume(()), Step::Suspended(1)));
        panic::resume_unwind(Box::new("owner"));
    }));
    assert_eq!(unwound.unwrap_err().downcast_ref(), Some(&"owner"));
    assert_eq!(drops.get(), 1);
    assert!(!thread::panicking());
}

#[test]
fn a_fiber_resumed_while_its_resumer_panics_cannot_suspend() {
    struct Resumes(Fiber<(), u32, ()>, Rc<Cell<bool>>);
    impl Drop for Resumes {
        fn drop(&mut self) {
            self.1.set(matches!(self.0.resume(()), Step::Finished(())));
        }
    }
    let finished = Rc::new(Cell::new(false));
    let inner = fiber(|s, ()| assert_eq!(s.can_suspend(), Err(Reason::Panicking)));
    let resumes = Resumes(inner, finished.clone());
    let unwound = panic::catch_unwind(AssertUnwindSafe(move || {
        let _resumes = resumes;
        panic::resume_unwind(Box::new(()));
    }));
    assert!(unwound.is_err());
    assert!(finished.get());
}

#[test]
fn frames_of_foreign_code_are_never_unwound() {
    let stacks = Stacks::builder().usable(104 << 10).build().unwrap();
    let drops = counter();
    let (mine, kept) = (Counts(drops.clone()), drops.clone());
    let mut under = Fiber::<(), (), ()>::new(stacks.take().unwrap(), move |s, ()| {
        let _mine = mine;
        foreign(|| s.suspend(()));
        s.suspend(());
    });
    assert!(matches!(under.resume(()), Step::Suspended(())));
    assert!(matches!(under.unwind(), Unwound::Abandoned));
    assert_eq!(kept.get(), 0, "what lies there is kept, not dropped");
    assert_eq!(stacks.stats().abandoned, 1);

    // Out of the foreign frames again, it can be ended.
    let mine = Counts(drops.clone());
    let mut out = Fiber::<(), (), ()>::new(stacks.take().unwrap(), move |s, ()| {
        let _mine = mine;
        foreign(|| s.suspend(()));
        s.suspend(());
    });
    assert!(matches!(out.resume(()), Step::Suspended(())));
    assert!(matches!(out.resume(()), Step::Suspended(())));
    assert!(matches!(out.unwind(), Unwound::Killed));
    assert_eq!(drops.get(), 1);
    assert_eq!(stacks.stats().abandoned, 1);
}

#[test]
fn a_forgotten_fiber_is_a_leak_and_no_more() {
    let stacks = Stacks::builder().usable(108 << 10).build().unwrap();
    let mut forgotten = Fiber::<(), (), ()>::new(stacks.take().unwrap(), |s, ()| s.suspend(()));
    assert!(matches!(forgotten.resume(()), Step::Suspended(())));
    std::mem::forget(forgotten);
    stacks.shrink();
    assert_eq!((stacks.stats().out, stacks.stats().arenas), (1, 1));
}

//! The lazy cell: one initialiser, resumed by the next, poisoned by its own panic only.

use std::cell::Cell;
use std::future::{Ready, pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use crate::tests::support::{Polled, now, watchdog};
use crate::{LazyCell, Notify};

#[test]
fn the_value_is_computed_when_asked_for() {
    let runs = Cell::new(0);
    let mut lazy = LazyCell::new(|| {
        runs.set(runs.get() + 1);
        ready(1)
    });
    assert_eq!((lazy.get(), runs.get()), (None, 0));
    assert_eq!(now(lazy.force()), &1);
    assert_eq!(now(lazy.force()), &1);
    *now(lazy.force_mut()) += 1;
    assert_eq!((lazy.get(), runs.get()), (Some(&2), 1));
    *lazy.get_mut().unwrap() += 1;
    assert_eq!(format!("{lazy:?}"), "LazyCell(Some(3))");
    let of_future: LazyCell<_> = LazyCell::from_future(ready(4));
    assert_eq!(now(of_future.force()), &4);
    let of_value: LazyCell<Ready<u8>> = LazyCell::from_value(5);
    assert_eq!((of_value.get(), now(of_value.force())), (Some(&5), &5));
}

#[test]
fn the_next_one_resumes_the_same_future() {
    let gate = Notify::new();
    let starts = Cell::new(0);
    let lazy = pin!(LazyCell::new(|| async {
        starts.set(starts.get() + 1);
        gate.notified().await;
        starts.set(starts.get() + 10);
        gate.notified().await;
        starts.get()
    }));
    let lazy = lazy.as_ref();
    let first = Polled::pending(lazy.force_pin());
    let mut second = Polled::pending(lazy.force_pin());
    let mut third = Polled::pending(lazy.force_pin());
    drop(first);
    assert_eq!((second.wakes(), third.wakes()), (1, 0));
    assert!(second.poll().is_pending());
    gate.notify_one();
    assert!(second.poll().is_pending());
    drop(second);
    gate.notify_one();
    assert_eq!(third.ready(), &11, "started once, and each part ran once");
    assert_eq!(now(lazy.force_pin()), &11);
}

#[test]
fn all_wait_for_the_end_in_one_round() {
    let gate = Notify::new();
    let lazy = pin!(LazyCell::new(|| gate.notified()));
    let lazy = lazy.as_ref();
    let mut waits: Vec<_> = (0..9).map(|_| Polled::pending(lazy.force_pin())).collect();
    gate.notify_one();
    waits[0].ready();
    for wait in waits[1..].iter_mut().rev() {
        assert_eq!(wait.wakes(), 1);
        wait.ready();
    }
}

#[test]
fn its_own_panic_poisons_for_good() {
    let gate = Notify::new();
    let lazy = pin!(LazyCell::new(|| async {
        gate.notified().await;
        panic!("the initialiser fails")
    }));
    let lazy = lazy.as_ref();
    let panics =
        |wait: &mut Polled<_>| catch_unwind(AssertUnwindSafe(|| -> &() { wait.ready() })).is_err();
    let mut first = Polled::pending(lazy.force_pin());
    let mut second = Polled::pending(lazy.force_pin());
    gate.notify_one();
    assert!(panics(&mut first));
    assert!(lazy.is_poisoned());
    assert_eq!(second.wakes(), 1);
    assert!(panics(&mut second));
    assert!(panics(&mut Polled::new(lazy.force_pin())));
    assert_eq!(lazy.get(), None);
    let made = LazyCell::new(|| -> Ready<()> { panic!("the closure fails") });
    assert!(catch_unwind(AssertUnwindSafe(|| now(made.force()).to_owned())).is_err());
    assert!(made.is_poisoned());
}

#[test]
fn a_panic_elsewhere_does_not_poison() {
    struct Polls<F: FnMut()>(F);
    impl<F: FnMut()> Drop for Polls<F> {
        fn drop(&mut self) {
            assert!(std::thread::panicking());
            (self.0)();
        }
    }
    let gate = Notify::new();
    let lazy = pin!(LazyCell::new(|| gate.notified()));
    let lazy = lazy.as_ref();
    let result = catch_unwind(AssertUnwindSafe(|| {
        let _polls = Polls(|| drop(Polled::pending(lazy.force_pin())));
        panic!("something else");
    }));
    assert!(result.is_err());
    assert!(!lazy.is_poisoned());
    gate.notify_one();
    now(lazy.force_pin());
}

#[test]
fn a_destructor_that_panics_leaves_a_defined_cell() {
    struct Bites(bool);
    impl std::future::Future for Bites {
        type Output = u8;
        fn poll(self: Pin<&mut Self>, _: &mut std::task::Context<'_>) -> std::task::Poll<u8> {
            std::task::Poll::Ready(7)
        }
    }
    impl Drop for Bites {
        fn drop(&mut self) {
            assert!(!self.0, "the destructor bites");
        }
    }
    let lazy = LazyCell::new(|| Bites(true));
    assert!(catch_unwind(AssertUnwindSafe(|| now(lazy.force()).to_owned())).is_err());
    assert_eq!(lazy.get(), Some(&7), "the value was there");
    assert_eq!(now(lazy.force()), &7);
}

#[test]
fn dropped_at_every_stage() {
    for stage in 0..4 {
        let held = Arc::new(());
        {
            let inside = held.clone();
            let lazy = pin!(LazyCell::new(move || async move {
                let inside = inside;
                if stage < 3 {
                    pending::<()>().await;
                }
                inside
            }));
            let mut force = Polled::new(lazy.as_ref().force_pin());
            if stage >= 1 {
                assert_eq!(force.poll().is_ready(), stage == 3);
            }
            let other = (stage >= 2).then(|| {
                let mut other = Polled::new(lazy.as_ref().force_pin());
                let _ = other.poll();
                other
            });
            drop(force);
            drop(other);
        }
        assert_eq!(Arc::strong_count(&held), 1, "closure, future or value are dropped once");
    }
}

#[test]
fn threads_compute_it_once() {
    watchdog(|| {
        let lazy = Arc::pin(LazyCell::new(|| async { Box::new(3) }));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let lazy = lazy.clone();
                std::thread::spawn(move || **lazy.as_ref().blocking_force())
            })
            .collect();
        assert!(threads.into_iter().all(|thread| thread.join().unwrap() == 3));
        let never = pin!(LazyCell::new(pending::<()>));
        let limit = Duration::from_millis(1);
        assert_eq!(never.as_ref().blocking_force_timeout(limit), None);
        assert!(!never.is_poisoned());
    });
}

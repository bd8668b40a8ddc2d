//! Values of tasks: scopes, threads, panics, destructors; and the budget in user's hands.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};

use crate::park::ThreadDrivers;
use crate::task::{consume_budget, unconstrained, yield_now};
use crate::{Config, JoinSet, Runtime, spawn};

crate::task_local! {
    static NUMBER: usize;
    /// Another.
    pub(crate) static NAME: String
}

fn runtime(workers: usize) -> Runtime {
    Runtime::new(Config { workers, ..Config::default() }, Box::new(ThreadDrivers)).unwrap()
}

#[test]
fn each_task_sees_its_own_value_on_whichever_thread() {
    runtime(4).run(async {
        let mut set = JoinSet::new();
        for n in 0..50 {
            set.spawn(NUMBER.scope(n, async move {
                for _ in 0..50 {
                    assert_eq!(NUMBER.get(), n);
                    yield_now().await;
                }
                assert!(spawn(async { NUMBER.try_with(|_| ()) }).await.unwrap().is_err());
                NUMBER.with(|number| *number)
            }));
        }
        assert_eq!(set.join_all().await.into_iter().sum::<usize>(), 49 * 50 / 2);
        assert!(NUMBER.try_with(|_| ()).is_err());
    });
}

#[test]
fn scopes_nest_and_are_left_by_panics_too() {
    let text = || NAME.try_with(String::clone).ok();
    NAME.sync_scope("outer".to_owned(), || {
        assert_eq!(text().as_deref(), Some("outer"));
        let inner = catch_unwind(|| {
            NAME.sync_scope("inner".to_owned(), || {
                assert_eq!(text().as_deref(), Some("inner"));
                panic!("on purpose");
            })
        });
        assert!(inner.is_err());
        assert_eq!(text().as_deref(), Some("outer"));
        let mut cx = Context::from_waker(Waker::noop());
        let mut scoped = pin!(NAME.scope(
            "polled".to_owned(),
            poll_fn(|_| match text() {
                Some(text) if text == "polled" => panic!("on purpose"),
                _ => Poll::<()>::Pending,
            })
        ));
        assert!(catch_unwind(AssertUnwindSafe(|| scoped.as_mut().poll(&mut cx))).is_err());
        assert_eq!(text().as_deref(), Some("outer"));
    });
    assert_eq!(text(), None);
    let refused = catch_unwind(|| {
        NAME.sync_scope("a".to_owned(), || NAME.with(|_| NAME.sync_scope("b".to_owned(), || {})))
    });
    assert!(refused.is_err());
    assert_eq!(text(), None);
    assert!(catch_unwind(|| NAME.get()).is_err());
}

/// The future is dropped while its value is there, and the value after it.
#[test]
fn destructors_see_the_value() {
    struct Look(Arc<AtomicUsize>);
    impl Drop for Look {
        fn drop(&mut self) {
            self.0.store(NUMBER.try_with(|number| *number).unwrap_or(0), Relaxed);
        }
    }
    let seen = Arc::new(AtomicUsize::new(0));
    let look = Look(Arc::clone(&seen));
    let future = NUMBER.scope(7, async move {
        let _look = look;
        std::future::pending::<()>().await;
    });
    drop(future);
    assert_eq!(seen.load(Relaxed), 7);
}

/// Polls `future` as a task would, and counts how often it was pending.
fn pauses(future: impl Future) -> usize {
    let mut future = pin!(future);
    for pauses in 0..1_000 {
        raddle_base::context::begin_poll(Waker::noop().data());
        let polled = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        raddle_base::context::end_poll();
        if polled.is_ready() {
            return pauses;
        }
    }
    panic!("it never ends")
}

#[test]
fn a_spent_budget_gives_way_and_an_unconstrained_future_does_not() {
    let steps = Cell::new(0);
    let loops = || async {
        for _ in 0..1_000 {
            consume_budget().await;
            steps.set(steps.get() + 1);
        }
    };
    assert_eq!(pauses(loops()), 1_000 / 128);
    assert_eq!(pauses(unconstrained(loops())), 0);
    assert_eq!(steps.get(), 2_000);
    // What follows an unconstrained future has the budget it had.
    let mixed = async {
        unconstrained(loops()).await;
        loops().await;
    };
    assert_eq!(pauses(mixed), 1_000 / 128);
    // Outside of a task there is none.
    raddle_sync::block_on(loops());
}

#[test]
fn sets_spawn_on_other_runtimes() {
    let (a, b) = (runtime(1), runtime(1));
    let mut set = JoinSet::new();
    set.spawn_on(async { 1 }, b.handle());
    set.spawn_blocking_on(|| 2, b.handle());
    let mut outputs = a.block_on(set.join_all());
    outputs.sort_unstable();
    assert_eq!(outputs, [1, 2]);
}

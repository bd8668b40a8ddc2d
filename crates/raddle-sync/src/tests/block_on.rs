//! Blocking on futures: on plain threads, nested, with limits, and refused inside a poll.

use std::future::{pending, poll_fn, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use raddle_base::clock::Instant;
use raddle_base::context::{self, Place};

use crate::{Wait, block_on, try_block_on, wait_timeout};

const ADVICE: &str = "a blocking wait inside an async task would stop its worker";

#[test]
fn a_ready_future_gives_its_output() {
    assert_eq!(block_on(ready(7)), 7);
    assert_eq!(ready(8).wait(), 8);
    assert_eq!(wait_timeout(ready(9), Duration::ZERO), Some(9));
    assert_eq!(ready(1).wait_timeout(Duration::MAX), Some(1));
}

#[test]
fn a_wake_from_another_thread_ends_the_wait() {
    let flag = Arc::new(AtomicBool::new(false));
    let mut helper = None;
    block_on(poll_fn(|cx| {
        if flag.load(SeqCst) {
            return Poll::Ready(());
        }
        let (waker, flag) = (cx.waker().clone(), flag.clone());
        helper.get_or_insert_with(|| {
            thread::spawn(move || {
                flag.store(true, SeqCst);
                waker.wake();
            })
        });
        Poll::Pending
    }));
    helper.take().unwrap().join().unwrap();
}

#[test]
fn a_limit_ends_the_wait_and_drops_the_future() {
    let guard = Arc::new(());
    let held = guard.clone();
    let limit = Duration::from_millis(2);
    let start = Instant::now();
    let result = wait_timeout(
        async move {
            pending::<()>().await;
            drop(held);
        },
        limit,
    );
    assert_eq!(result, None);
    assert!(start.elapsed() >= limit, "never early");
    assert_eq!(Arc::strong_count(&guard), 1);
}

#[test]
fn a_future_that_always_wakes_itself_meets_its_limit() {
    let busy = poll_fn(|cx| {
        cx.waker().wake_by_ref();
        Poll::<()>::Pending
    });
    assert_eq!(wait_timeout(busy, Duration::from_millis(2)), None);
}

#[test]
fn inside_a_poll_it_is_refused_with_advice() {
    let message = block_on(async {
        assert_eq!(context::place(), Place::Task);
        let refused = ready(3).try_wait_on().expect_err("this is a poll");
        let text = refused.to_string();
        assert_eq!(refused.into_inner().await, 3, "the future comes back whole");
        text
    });
    assert!(message.starts_with(ADVICE), "{message}");
    let panic = thread::spawn(|| block_on(async { ready(3).wait() })).join().unwrap_err();
    assert!(panic.downcast_ref::<String>().unwrap().starts_with(ADVICE));
    let panic = thread::spawn(|| block_on(async { wait_timeout(ready(3), Duration::ZERO) }));
    assert!(panic.join().is_err());
    assert_eq!(context::place(), Place::Thread, "the place is restored");
}

#[test]
fn a_blocking_job_and_a_destructor_on_a_thread_may_wait() {
    let _place = context::enter(Place::Blocking);
    assert_eq!(try_block_on(ready(5)).unwrap(), 5);
    struct Waits;
    impl Drop for Waits {
        fn drop(&mut self) {
            assert_eq!(ready(6).wait(), 6);
        }
    }
    drop(Waits);
}

#[test]
fn std_park_tokens_are_left_alone() {
    thread::current().unpark();
    assert_eq!(wait_timeout(pending::<()>(), Duration::from_millis(1)), None);
    // Returns at once, because the token is still there.
    thread::park();
}

/// A wait on an actor's stack goes through what that actor's scheduler said.
#[test]
fn on_the_stack_of_an_actor_its_blocker_waits() {
    struct Counts(std::cell::Cell<u32>);
    impl context::Blocker for Counts {
        fn block_on(
            &self,
            deadline: Instant,
            step: &mut dyn FnMut(&mut std::task::Context<'_>) -> Poll<()>,
        ) -> bool {
            let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
            for _ in 0..3 {
                self.0.set(self.0.get() + 1);
                if context::polling(|| step(&mut cx)).is_ready() {
                    return true;
                }
            }
            assert!(!deadline.is_far_future());
            false
        }

        fn as_any(&self) -> &dyn std::any::Any {
            self
        }
    }
    let counts = Counts(std::cell::Cell::new(0));
    // SAFETY: the blocker outlives the guard.
    let entered = unsafe { context::enter_actor(&raw const counts) };
    let mut polls = 0;
    let future = poll_fn(|_| {
        polls += 1;
        assert_eq!(try_block_on(ready(1)).unwrap_err().to_string()[..ADVICE.len()], *ADVICE);
        if polls == 2 { Poll::Ready(5) } else { Poll::Pending }
    });
    assert_eq!(block_on(future), 5);
    assert_eq!(counts.0.get(), 2);
    assert_eq!(wait_timeout(pending::<()>(), Duration::from_secs(1)), None);
    assert_eq!(counts.0.get(), 5);
    drop(entered);
    assert_eq!(block_on(ready(2)), 2);
    assert_eq!(counts.0.get(), 5);
}

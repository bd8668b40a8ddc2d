//! The task tracker: tokens, closing and reopening, and what is asked of all that lets many go.

use std::future::ready;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::tests::crowds::{Case, check};
use crate::tests::support::{Polled, now, watchdog};
use crate::tracker::OwnedTaskTrackerWait;
use crate::{TaskTracker, TaskTrackerToken};

/// A tracker and its tokens.
struct Tracked(TaskTracker, Mutex<Vec<TaskTrackerToken>>);

#[derive(Default)]
struct Model {
    tokens: usize,
    closed: bool,
}

impl Model {
    fn is_over(&self) -> bool {
        self.closed && self.tokens == 0
    }

    fn change(&mut self, f: impl FnOnce(&mut Self)) -> bool {
        let before = self.is_over();
        f(self);
        !before && self.is_over()
    }
}

static CASE: Case<Tracked, Model, OwnedTaskTrackerWait> = Case {
    make: || (Arc::new(Tracked(TaskTracker::new(), Mutex::default())), Model::default()),
    wait: |tracked| tracked.0.clone().wait_owned(),
    end: |tracked| {
        let tokens = std::mem::take(&mut *tracked.1.lock().unwrap());
        drop(tokens);
        tracked.0.close();
    },
    is_over: Model::is_over,
    operations: &[
        |tracked, model| {
            tracked.1.lock().unwrap().push(tracked.0.token());
            model.change(|model| model.tokens += 1)
        },
        |tracked, model| {
            let token = tracked.1.lock().unwrap().pop();
            drop(token);
            model.change(|model| model.tokens = model.tokens.saturating_sub(1))
        },
        |tracked, model| {
            assert_eq!(tracked.0.close(), !model.closed);
            model.change(|model| model.closed = true)
        },
        |tracked, model| {
            assert_eq!(tracked.0.reopen(), model.closed);
            model.change(|model| model.closed = false)
        },
    ],
    compare: |tracked, model| {
        let tracker = &tracked.0;
        assert_eq!((tracker.len(), tracker.is_closed()), (model.tokens, model.closed));
        assert_eq!(tracker.is_empty(), model.tokens == 0);
    },
};

#[test]
fn a_tracker_lets_all_go() {
    // Operations inside wakers compare with a fresh model; what they return is not looked at.
    check(&CASE);
}

#[test]
fn tracked_futures_hold_tokens_until_they_are_dropped() {
    let tracker = TaskTracker::default();
    let mut future = Polled::new(tracker.track_future(ready(1)));
    assert!(TaskTracker::ptr_eq(&tracker, future.future.token().task_tracker()));
    tracker.close();
    let mut wait = Polled::pending(tracker.wait());
    assert_eq!(future.ready(), 1);
    assert!(wait.poll().is_pending());
    let token = future.future.token().clone();
    drop(future);
    assert_eq!(tracker.len(), 1);
    drop(token);
    assert_eq!(wait.wakes(), 1);
    tracker.reopen();
    wait.ready();
    assert!(Polled::new(tracker.wait()).poll().is_pending(), "open again");
}

#[test]
fn threads_are_waited_for() {
    watchdog(|| {
        let tracker = TaskTracker::new();
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let token = tracker.token();
                std::thread::spawn(move || drop(token.clone()))
            })
            .collect();
        assert!(!tracker.blocking_wait_timeout(Duration::ZERO), "not closed");
        tracker.close();
        tracker.blocking_wait();
        now(tracker.wait());
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

//! Tokens: the tree, waiting, futures that end with a token, hostile company, depth and width.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Poll, Waker};

use raddle_base::wait::WakeBatch;

use crate::tests::support::{Polled, hostile, now, refusing, watchdog};
use crate::{CancelExt, CancellationToken, Semaphore, Wait, oneshot};

const MANY: usize = 3 * WakeBatch::CAPACITY + 1;

#[test]
fn cancellation_flows_down_and_not_up() {
    let root = CancellationToken::new();
    let (left, right) = (root.child_token(), root.child_token());
    let leaf = left.child_token();
    left.clone().cancel();
    assert_eq!(
        [&root, &left, &right, &leaf].map(CancellationToken::is_cancelled),
        [false, true, false, true]
    );
    assert!(left.child_token().is_cancelled(), "a child of a cancelled token is born so");
    root.cancel();
    root.cancel();
    assert!(right.is_cancelled());
}

#[test]
fn a_leaf_is_reached_through_tokens_that_nobody_holds() {
    let root = CancellationToken::new();
    let leaf = root.child_token().child_token().child_token();
    let gone = root.child_token();
    drop(gone);
    let mut wait = Polled::pending(leaf.cancelled());
    root.cancel();
    assert_eq!(wait.wakes(), 1);
    wait.ready();
}

#[test]
fn a_leaf_outlives_the_tokens_above_it() {
    let root = CancellationToken::new();
    let leaf = root.child_token().child_token();
    drop(root);
    let mut wait = Polled::pending(leaf.clone().cancelled_owned());
    assert!(!leaf.is_cancelled());
    leaf.cancel();
    wait.ready();
}

#[test]
fn all_waits_end_also_many_and_late_ones() {
    let token = CancellationToken::new();
    let mut all: Vec<_> = (0..MANY).map(|_| Polled::pending(token.cancelled())).collect();
    drop(all.remove(1));
    token.cancel();
    for one in &mut all {
        assert_eq!(one.wakes(), 1);
        one.ready();
        one.ready();
    }
    now(token.cancelled());
    now(token.clone().cancelled_owned());
    token.cancelled().wait();
}

#[test]
fn a_token_cancelled_beforehand_leaves_the_future_untouched() {
    let token = CancellationToken::new();
    token.cancel();
    let polls = AtomicUsize::new(0);
    let counted = poll_fn(|_| {
        polls.fetch_add(1, SeqCst);
        Poll::Ready(1)
    });
    assert!(now(counted.cancel_on(&token)).is_err());
    assert_eq!(polls.load(SeqCst), 0);
    let semaphore = Semaphore::new(1);
    assert!(now(token.run_until_cancelled(semaphore.acquire())).is_none());
    assert_eq!(semaphore.available_permits(), 1);
}

#[test]
fn what_was_completed_first_counts() {
    let token = CancellationToken::new();
    let semaphore = Semaphore::new(0);
    let mut wait = Polled::pending(semaphore.acquire().cancel_on(&token));
    semaphore.add_permits(1);
    token.cancel();
    wait.ready().expect("the permit was granted before the token was cancelled").unwrap().forget();
    // The other way round: cancelled, and the permit that comes after is not consumed.
    let token = CancellationToken::new();
    let mut wait = Polled::pending(token.run_until_cancelled(semaphore.acquire()));
    token.cancel();
    assert!(wait.ready().is_none());
    drop(wait);
    semaphore.add_permits(1);
    assert_eq!(semaphore.available_permits(), 1);
    // A value sent is received although the token is cancelled too.
    let (tx, rx) = oneshot::channel();
    let token = CancellationToken::new();
    let mut wait = Polled::pending(rx.cancel_on(&token));
    token.cancel();
    tx.send(5).unwrap();
    assert_eq!(wait.ready(), Ok(Ok(5)));
}

#[test]
fn a_cancelled_wait_that_was_granted_passes_the_grant_on() {
    let token = CancellationToken::new();
    let semaphore = Semaphore::new(0);
    let first = Polled::pending(semaphore.acquire().cancel_on(&token));
    let mut second = Polled::pending(semaphore.acquire());
    semaphore.add_permits(1);
    token.cancel();
    drop(first);
    assert_eq!(second.wakes(), 1);
    second.ready().unwrap().forget();
}

#[test]
fn guards_cancel_unless_disarmed() {
    let token = CancellationToken::new();
    let guard = token.clone().drop_guard();
    assert!(!guard.disarm().is_cancelled());
    token.drop_guard_ref().disarm();
    assert!(!token.is_cancelled());
    drop(token.drop_guard_ref());
    assert!(token.is_cancelled());
    let token = CancellationToken::new();
    drop(token.clone().drop_guard());
    assert!(token.is_cancelled());
}

#[test]
fn deep_and_wide_trees_are_cancelled_and_freed() {
    const SIZE: usize = if cfg!(miri) { 500 } else { 100_000 };
    watchdog(|| {
        for cancel in [false, true] {
            let root = CancellationToken::new();
            let mut leaf = root.child_token();
            for _ in 0..SIZE {
                leaf = leaf.child_token();
            }
            let wide: Vec<_> = (0..SIZE).map(|_| root.child_token()).collect();
            if cancel {
                root.cancel();
                assert!(leaf.is_cancelled() && wide.iter().all(CancellationToken::is_cancelled));
            }
            drop(root);
            drop(leaf);
        }
    });
}

#[test]
fn hostile_wakers_may_do_anything() {
    watchdog(|| {
        for _ in 0..3 {
            let root = CancellationToken::new();
            let child = root.child_token();
            let make = |token: &CancellationToken| {
                let token = token.clone();
                hostile(move |_| {
                    let child = token.child_token();
                    let mut wait = Polled::new(child.cancelled());
                    let _ = wait.poll_with(Waker::noop());
                    token.cancel();
                    drop(wait);
                })
            };
            for token in [&root, &child] {
                let mut wait = Polled::new(token.clone().cancelled_owned());
                let _ = wait.poll_with(&make(&root));
                let _ = wait.poll_with(&make(&child));
                root.cancel();
            }
        }
    });
}

#[test]
fn a_panicking_waker_strands_nobody_in_the_tree() {
    let root = CancellationToken::new();
    let mut bad = Polled::new(root.cancelled());
    assert!(bad.poll_with(&refusing()).is_pending());
    let mut after = Polled::pending(root.cancelled());
    let children: Vec<_> = (0..MANY).map(|_| root.child_token().child_token()).collect();
    let mut worse = Polled::new(children[3].cancelled());
    assert!(worse.poll_with(&refusing()).is_pending());
    let mut waits: Vec<_> = children.iter().map(|c| Polled::pending(c.cancelled())).collect();
    assert!(catch_unwind(AssertUnwindSafe(|| root.cancel())).is_err());
    after.ready();
    for wait in &mut waits {
        assert_eq!(wait.wakes(), 1);
        wait.ready();
    }
    bad.ready();
    worse.ready();
}

#[test]
fn threads_make_drop_and_cancel_at_once() {
    const ROUNDS: usize = if cfg!(miri) { 10 } else { 300 };
    watchdog(|| {
        for _ in 0..ROUNDS {
            let root = CancellationToken::new();
            let waits: Vec<_> = (0..3)
                .map(|_| {
                    let root = root.clone();
                    std::thread::spawn(move || {
                        for _ in 0..20 {
                            drop(root.child_token().child_token());
                        }
                        root.child_token().cancelled().wait();
                    })
                })
                .collect();
            root.cancel();
            waits.into_iter().for_each(|wait| wait.join().unwrap());
        }
    });
}

#[test]
fn futures_are_send_and_sync() {
    fn send_sync<T: Send + Sync>(_: &T) {}
    fn future<F: Future>(_: &F) {}
    let token = Arc::new(CancellationToken::new());
    send_sync(&token.cancelled());
    send_sync(&token.run_until_cancelled(async {}));
    future(&(*token).clone().cancelled_owned());
}

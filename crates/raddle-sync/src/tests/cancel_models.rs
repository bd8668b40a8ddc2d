//! Tokens under the model checker, each model named after the race it hunts.

use std::sync::Arc;

use raddle_base::shim::{model, thread};

use crate::cancel::CancellationToken;
use crate::tests::model::{Plain, wait};

/// A wait registers while the token is cancelled: it ends, and sees what led to it.
#[test]
fn model_cancel_against_wait() {
    model::check(|| {
        let token = CancellationToken::new();
        let data = Arc::new(Plain::new());
        let thread = thread::spawn({
            let (token, data) = (token.clone(), data.clone());
            move || {
                data.add(1);
                token.cancel();
            }
        });
        wait(token.cancelled());
        assert_eq!(data.get(), 1);
        thread.join().unwrap();
    });
}

/// Asking without waiting publishes as well.
#[test]
fn model_cancel_against_look() {
    model::check(|| {
        let token = CancellationToken::new();
        let data = Arc::new(Plain::new());
        let thread = thread::spawn({
            let (token, data) = (token.clone(), data.clone());
            move || {
                data.add(1);
                token.cancel();
            }
        });
        if token.is_cancelled() {
            assert_eq!(data.get(), 1);
        }
        thread.join().unwrap();
    });
}

/// A child is made while its parent is cancelled: it is cancelled, by one side or the other.
#[test]
fn model_cancel_against_new_child() {
    model::check(|| {
        let token = CancellationToken::new();
        let thread = thread::spawn({
            let token = token.clone();
            move || token.cancel()
        });
        let child = token.child_token();
        thread.join().unwrap();
        assert!(child.is_cancelled());
    });
}

/// Children end while their parent is cancelled: each is freed once, the survivor is cancelled.
#[test]
fn model_cancel_against_end_of_child() {
    model::check(|| {
        let token = CancellationToken::new();
        let (first, second) = (token.child_token(), token.child_token());
        let thread = thread::spawn(move || token.cancel());
        drop(first);
        thread.join().unwrap();
        assert!(second.is_cancelled());
    });
}

/// The last reference of a token goes through two threads: it is freed after both.
#[test]
fn model_cancel_end_against_end() {
    model::check(|| {
        let token = CancellationToken::new();
        let child = token.child_token();
        let thread = thread::spawn({
            let child = child.clone();
            move || {
                child.is_cancelled();
                drop(child);
            }
        });
        drop(token);
        drop(child);
        thread.join().unwrap();
    });
}

/// Two ancestors are cancelled at once: the leaf below both is, when both are through.
#[test]
fn model_cancel_from_two_ancestors() {
    model::check(|| {
        let root = CancellationToken::new();
        let middle = root.child_token();
        let leaf = middle.child_token();
        let thread = thread::spawn(move || middle.cancel());
        root.cancel();
        thread.join().unwrap();
        assert!(leaf.is_cancelled());
    });
}

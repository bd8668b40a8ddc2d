//! The oneshot channel under the model checker, each model named after the race it hunts. The
//! value carries a plain number, so that every hand-over is checked for order.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use raddle_base::shim::{model, thread};

use crate::oneshot::{Receiver, Sender, channel};
use crate::tests::model::{Plain, poll_once, wait, wait_pinned};

fn value() -> Arc<Plain> {
    Arc::new(Plain::new())
}

fn sent(tx: Sender<Arc<Plain>>) -> thread::JoinHandle<bool> {
    thread::spawn(move || {
        let value = value();
        value.add(1);
        match tx.send(value) {
            Ok(()) => true,
            Err(back) => {
                back.add(1);
                false
            }
        }
    })
}

fn received(rx: impl FnOnce() -> Option<Arc<Plain>>) -> bool {
    rx().inspect(|value| value.add(1)).is_some()
}

/// Sending races waiting: the value arrives, and the allocation is freed by one side.
#[test]
fn model_oneshot_send_against_recv() {
    model::check(|| {
        let (tx, rx) = channel();
        let thread = sent(tx);
        assert!(received(|| wait(rx).ok()));
        assert!(thread.join().unwrap());
    });
}

/// Sending races closing: the value has one owner, and both sides agree on who.
#[test]
fn model_oneshot_send_against_close() {
    model::check(|| {
        let (tx, mut rx) = channel();
        let thread = sent(tx);
        rx.close();
        let got = received(|| rx.try_recv().ok());
        drop(rx);
        assert_eq!(thread.join().unwrap(), got);
    });
}

/// Sending races the receiver's drop, after it waited: wakers and value are dropped once.
#[test]
fn model_oneshot_send_against_drop() {
    model::check(|| {
        let (tx, rx) = channel();
        let mut rx = Box::pin(rx);
        assert!(poll_once(rx.as_mut()).is_pending());
        let thread = sent(tx);
        drop(rx);
        thread.join().unwrap();
    });
}

/// Both halves are dropped at once, each with a waker stored.
#[test]
fn model_oneshot_drop_against_drop() {
    model::check(|| {
        let (mut tx, rx): (Sender<u8>, Receiver<u8>) = channel();
        let mut rx = Box::pin(rx);
        assert!(poll_once(rx.as_mut()).is_pending());
        assert!(tx.poll_closed(&mut Context::from_waker(Waker::noop())).is_pending());
        let thread = thread::spawn(move || drop(tx));
        drop(rx);
        thread.join().unwrap();
    });
}

/// The receiver brings a new waker while the value is sent.
#[test]
fn model_oneshot_new_waker_against_send() {
    model::check(|| {
        let (tx, rx) = channel();
        let mut rx = pin!(rx);
        assert!(poll_once(rx.as_mut()).is_pending());
        let thread = sent(tx);
        assert!(received(|| wait_pinned(rx).ok()));
        assert!(thread.join().unwrap());
    });
}

/// The sender waits for the end while the receiver goes away, and sees what it did before.
#[test]
fn model_oneshot_closed_against_drop() {
    model::check(|| {
        let (mut tx, rx) = channel::<u8>();
        let data = value();
        let thread = thread::spawn({
            let data = data.clone();
            move || {
                data.add(1);
                drop(rx);
            }
        });
        wait(tx.closed());
        data.add(1);
        thread.join().unwrap();
    });
}

/// The sender brings a new waker while the receiver goes away.
#[test]
fn model_oneshot_new_waker_against_drop() {
    model::check(|| {
        let (mut tx, rx) = channel::<u8>();
        assert!(tx.poll_closed(&mut Context::from_waker(Waker::noop())).is_pending());
        let data = value();
        let thread = thread::spawn({
            let data = data.clone();
            move || {
                data.add(1);
                drop(rx);
            }
        });
        wait(tx.closed());
        data.add(1);
        drop(tx);
        thread.join().unwrap();
    });
}

/// Taking without waiting races sending.
#[test]
fn model_oneshot_send_against_try() {
    model::check(|| {
        let (tx, mut rx) = channel();
        let thread = sent(tx);
        let got = received(|| rx.try_recv().ok());
        drop(rx);
        let ok = thread.join().unwrap();
        assert!(ok || !got);
    });
}

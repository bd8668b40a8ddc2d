//! Watched values: the channel is one allocation, and no wait is any.

use std::pin::pin;

use raddle_sync::watch;

use super::{allocations, poll, ready};

#[test]
fn a_watched_value_is_one_allocation() {
    let count = allocations(|| {
        let (tx, mut rx) = watch::channel(1);
        let mut other = rx.clone();
        {
            let mut wait = pin!(rx.changed());
            assert!(poll(wait.as_mut()).is_pending());
            assert!(poll(pin!(other.wait_for(|value| *value == 3))).is_pending());
            tx.send(2).unwrap();
            ready(wait).unwrap();
        }
        let mut closed = pin!(tx.closed());
        assert!(poll(closed.as_mut()).is_pending());
        drop(other);
        tx.send_modify(|value| *value += 1);
        assert_eq!(*rx.borrow_and_update(), 3);
        tx.send(4).unwrap();
        assert_eq!(ready(rx.recv()), Ok(4));
        drop(rx);
        ready(closed);
    });
    assert_eq!(count, 1);
}

#[test]
fn a_thousand_who_wait_for_a_change() {
    let (tx, rx) = watch::channel(1);
    let mut receivers: Vec<_> = (0..1000).map(|_| rx.clone()).collect();
    let mut waits: Vec<_> = receivers.iter_mut().map(|rx| Box::pin(rx.changed())).collect();
    let count = allocations(|| {
        assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
        tx.send(2).unwrap();
        assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_ready()));
    });
    assert_eq!(count, 0);
}

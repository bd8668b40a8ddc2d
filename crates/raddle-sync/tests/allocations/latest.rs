//! Values for many: no wait, and no send, allocates; a watch channel is one allocation.

use std::pin::pin;

use raddle_sync::broadcast::{self, RecvError};
use raddle_sync::watch;

use super::{BYTES, allocations, poll, ready};

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

#[test]
fn broadcasts_and_their_waits_allocate_nothing() {
    let (tx, mut rx) = broadcast::channel(4);
    let mut other = tx.subscribe();
    let count = allocations(|| {
        for i in 0..100 {
            {
                let mut wait = pin!(rx.recv());
                assert!(poll(wait.as_mut()).is_pending());
                assert_eq!(tx.send(i), Ok(2));
                assert_eq!(ready(wait), Ok(i));
            }
            if i % 10 == 9 {
                assert_eq!(ready(other.recv()), Err(RecvError::Lagged(6)));
                while other.try_recv().is_ok() {}
            }
        }
    });
    assert_eq!(count, 0);
    assert_eq!(allocations(|| drop(tx.subscribe())), 1, "room for one value");
}

#[test]
fn lossless_broadcasts_and_their_waits_allocate_nothing() {
    let (tx, mut rx) = broadcast::lossless_channel(2);
    let count = allocations(|| {
        let mut slow = tx.subscribe();
        for i in 0..100 {
            ready(tx.send(i)).unwrap();
            ready(tx.reserve()).unwrap().send(i).unwrap();
            let mut wait = pin!(tx.send(i));
            assert!(poll(wait.as_mut()).is_pending());
            assert!(poll(pin!(tx.reserve())).is_pending());
            for rx in [&mut rx, &mut slow] {
                assert_eq!((ready(rx.recv()), rx.try_recv()), (Ok(i), Ok(i)));
            }
            assert_eq!(ready(wait), Ok(2));
            assert_eq!((ready(rx.recv()), ready(slow.recv())), (Ok(i), Ok(i)));
        }
    });
    assert_eq!(count, 0);
}

#[test]
fn what_receivers_brought_goes_with_them() {
    let (tx, _rx) = broadcast::channel::<[u64; 16]>(2);
    let before = BYTES.get();
    let receivers: Vec<_> = (0..1000).map(|_| tx.subscribe()).collect();
    assert!(BYTES.get() - before > 128_000);
    (0..5).for_each(|i| assert!(tx.send([i; 16]).is_ok()));
    drop(receivers);
    assert_eq!(BYTES.get(), before);
}

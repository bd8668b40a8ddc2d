//! The face for one sender: that each kind of channel does behind it what it does in `mpmc`.

use std::time::Duration;

use crate::spmc::{
    RecvError, SendError, SendTimeoutError, TryRecvError, TrySendError, bounded, overwriting,
    rendezvous, unbounded,
};
use crate::tests::support::{Polled, now, watchdog};

#[test]
fn each_kind_behind_its_face() {
    let (tx, rx) = bounded(1);
    now(tx.send(1)).unwrap();
    assert_eq!((tx.try_send(2), tx.len(), tx.is_full()), (Err(TrySendError::Full(2)), 1, true));
    assert_eq!(tx.try_reserve().unwrap_err(), TrySendError::Full(()));
    assert_eq!((tx.force_send(3), rx.try_recv(), tx.capacity()), (Ok(Some(1)), Ok(3), 1));
    now(tx.reserve()).unwrap().send(4);
    let limit = Duration::from_millis(1);
    assert_eq!(tx.blocking_send_timeout(5, limit), Err(SendTimeoutError::Timeout(5)));
    let limited = now(tx.send_timeout(5, std::future::ready(())));
    assert_eq!(limited, Err(SendTimeoutError::Timeout(5)));
    assert_eq!((rx.try_recv(), tx.is_empty()), (Ok(4), true));
    assert!(tx.close() && tx.is_closed() && rx.is_closed());
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));

    let (tx, rx) = unbounded();
    tx.send(1).unwrap();
    let shared = tx.into_shared();
    shared.clone().send(2).unwrap();
    drop(shared);
    assert_eq!((now(rx.recv()), now(rx.recv())), (Ok(1), Ok(2)));
    assert_eq!(now(rx.recv()), Err(RecvError::Disconnected));

    let (tx, rx) = rendezvous();
    let mut send = Polled::pending(tx.send(1));
    assert_eq!(rx.try_recv(), Ok(1));
    send.ready().unwrap();
    let mut closed = Polled::pending(tx.closed());
    drop(rx);
    closed.ready();
    assert_eq!((tx.blocking_send(2), tx.receiver_count()), (Err(SendError::Disconnected(2)), 0));

    let (tx, rx) = overwriting(1);
    assert_eq!((tx.send(1), tx.send(2), rx.try_recv()), (Ok(None), Ok(Some(1)), Ok(2)));
    assert_eq!((tx.capacity(), tx.is_full()), (1, false));
}

#[test]
fn workers_take_turns() {
    watchdog(|| {
        let (tx, rx) = bounded(4);
        let workers: Vec<_> = (0..4)
            .map(|_| {
                let rx = rx.clone();
                std::thread::spawn(move || {
                    let seen: Vec<usize> = std::iter::from_fn(|| rx.blocking_recv().ok()).collect();
                    assert!(seen.is_sorted(), "one receiver sees the order of the sender");
                    seen.len()
                })
            })
            .collect();
        (0..20_000).for_each(|i| tx.blocking_send(i).unwrap());
        drop(tx);
        assert_eq!(workers.into_iter().map(|one| one.join().unwrap()).sum::<usize>(), 20_000);
    });
}

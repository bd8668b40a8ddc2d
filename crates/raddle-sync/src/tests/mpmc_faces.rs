//! The channels of many receivers beside their core: time limits, tokens, streams, wakers that
//! panic in a receive, many threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::time::Duration;

use futures_core::Stream;
use futures_sink::Sink;

use crate::mpmc::{
    Receiver, RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, bounded,
    overwriting, rendezvous, unbounded,
};
use crate::tests::support::{Polled, now, refusing, watchdog};
use crate::{CancelExt, CancellationToken, Wait};

const MOMENT: Duration = Duration::from_millis(1);

#[test]
fn blocking_forms_end_by_their_limit_and_keep_the_value() {
    let (tx, rx) = bounded(1);
    assert_eq!(rx.blocking_recv_timeout(MOMENT), Err(RecvTimeoutError::Timeout));
    tx.blocking_send_timeout(1, Duration::ZERO).unwrap();
    assert_eq!(tx.blocking_send_timeout(2, MOMENT), Err(SendTimeoutError::Timeout(2)));
    assert_eq!(rx.blocking_recv_timeout(Duration::ZERO), Ok(1));
    assert!(rx.is_empty(), "the one that gave up left the line");
    drop(tx);
    assert_eq!(rx.blocking_recv_timeout(Duration::MAX), Err(RecvTimeoutError::Disconnected));
    let (tx, rx) = rendezvous();
    assert_eq!(tx.blocking_send_timeout(1, MOMENT), Err(SendTimeoutError::Timeout(1)));
    drop(rx);
    let error = tx.blocking_send_timeout(3, Duration::MAX).unwrap_err();
    assert_eq!((error, error.into_inner()), (SendTimeoutError::Disconnected(3), 3));
}

#[test]
fn a_send_until_time_is_up() {
    let (tx, rx) = bounded(1);
    now(tx.send_timeout(1, std::future::ready(()))).unwrap();
    let token = CancellationToken::new();
    let mut limited = Polled::pending(tx.send_timeout(2, token.cancelled()));
    token.cancel();
    assert_eq!(limited.ready(), Err(SendTimeoutError::Timeout(2)));
    let token = CancellationToken::new();
    let mut limited = Polled::pending(tx.send_timeout(4, token.cancelled()));
    assert_eq!(rx.try_recv(), Ok(1));
    token.cancel();
    limited.ready().unwrap();
    assert_eq!(rx.try_recv(), Ok(4));
    let token = CancellationToken::new();
    let mut recv = Polled::pending(rx.recv().cancel_on(&token));
    token.cancel();
    assert!(recv.ready().is_err());
    rx.close();
    let closed = now(tx.send_timeout(5, std::future::pending::<()>()));
    assert_eq!(closed, Err(SendTimeoutError::Closed(5)));
}

#[test]
fn receivers_are_streams() {
    let (tx, rx) = bounded(2);
    tx.try_send(1).unwrap();
    let mut stream = pin!(rx.clone().into_stream());
    let mut next = |expected| {
        let mut poll = Polled::new(std::future::poll_fn(|cx| stream.as_mut().poll_next(cx)));
        match expected {
            Some(expected) => assert_eq!(poll.ready(), expected),
            None => assert!(poll.poll().is_pending()),
        }
    };
    next(Some(Some(1)));
    next(None);
    tx.try_send(2).unwrap();
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty), "the stream waits for it");
    next(Some(Some(2)));
    drop(tx);
    next(Some(None));
    let (tx, rx) = bounded(1);
    let mut dropped = Box::pin(rx.clone().into_stream());
    assert!(
        Polled::new(std::future::poll_fn(|cx| dropped.as_mut().poll_next(cx))).poll().is_pending()
    );
    tx.try_send(3).unwrap();
    drop(dropped);
    assert_eq!((rx.try_recv(), rx.receiver_count()), (Ok(3), 1));
}

#[test]
fn a_panicking_waker_in_a_receive_loses_no_value() {
    type Receive = fn(&Receiver<u32>) -> Option<u32>;
    let receive: [Receive; 3] =
        [|rx| now(rx.recv()).ok(), |rx| rx.try_recv().ok(), |rx| rx.blocking_recv().ok()];
    for receive in receive {
        for filled in [1, 2, 3] {
            let (tx, rx) = bounded(filled);
            (0..filled as u32).for_each(|i| tx.try_send(i).unwrap());
            let mut bad = Polled::new(tx.send(filled as u32));
            assert!(bad.poll_with(&refusing()).is_pending());
            let mut worse = Polled::new(tx.reserve());
            assert!(worse.poll_with(&refusing()).is_pending());
            assert!(catch_unwind(AssertUnwindSafe(|| receive(&rx))).is_err());
            assert_eq!(bad.ready(), Ok(()), "its value is in");
            assert_eq!(rx.len(), filled + 1, "the value came back, with no room for it");
            assert!(tx.is_full() && tx.try_send(9).is_err());
            for i in 0..=filled as u32 {
                let got = catch_unwind(AssertUnwindSafe(|| receive(&rx)));
                let got = got.unwrap_or_else(|_| receive(&rx));
                assert_eq!(got, Some(i), "nothing is lost, and the order is kept");
            }
            worse.ready().unwrap().send(7);
            (1..filled as u32).for_each(|i| tx.try_send(i).unwrap());
            assert!(tx.is_full());
            assert_eq!(rx.try_recv(), Ok(7));
        }
    }
    // From the hands of a sender.
    let (tx, rx) = rendezvous();
    let mut bad = Polled::new(tx.send(1));
    assert!(bad.poll_with(&refusing()).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| rx.try_recv())).is_err());
    bad.ready().unwrap();
    assert_eq!((rx.len(), rx.try_recv()), (1, Ok(1)));
}

#[test]
fn threads_send_and_receive() {
    const EACH: usize = 5_000;
    watchdog(|| {
        let (btx, brx) = bounded(3);
        let (utx, urx) = unbounded();
        let (rtx, rrx) = rendezvous();
        let mut threads: Vec<_> = (0..3)
            .map(|id| {
                let (btx, utx, rtx) = (btx.clone(), utx.clone(), rtx.clone());
                std::thread::spawn(move || {
                    for i in 0..EACH {
                        btx.send((id, i)).wait().unwrap();
                        utx.send((id, i)).unwrap();
                        rtx.blocking_send((id, i)).unwrap();
                    }
                    0
                })
            })
            .collect();
        drop((btx, utx, rtx));
        threads.extend((0..6).map(|id| {
            let (brx, urx, rrx) = (brx.clone(), urx.clone(), rrx.clone());
            std::thread::spawn(move || match id % 3 {
                0 => all(|| brx.blocking_recv()),
                1 => all(|| urx.blocking_recv()),
                _ => all(|| rrx.blocking_recv()),
            })
        }));
        let received: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!(received, 3 * 3 * EACH);
    });
    fn all(mut next: impl FnMut() -> Result<(usize, usize), RecvError>) -> usize {
        let (mut last, mut count) = ([0; 3], 0);
        while let Ok((id, i)) = next() {
            assert!(i >= last[id], "one receiver sees the values of one sender in order");
            (last[id], count) = (i, count + 1);
        }
        count
    }
}

#[test]
fn senders_that_never_wait_are_sinks() {
    fn feed<S: Sink<u8> + Unpin>(mut sink: S) -> Result<(), S::Error> {
        now(std::future::poll_fn(|cx| Pin::new(&mut sink).poll_ready(cx)))?;
        Pin::new(&mut sink).start_send(7)?;
        now(std::future::poll_fn(|cx| Pin::new(&mut sink).poll_flush(cx)))?;
        now(std::future::poll_fn(|cx| Pin::new(&mut sink).poll_close(cx)))
    }
    let ((tx, rx), (otx, orx)) = (unbounded(), overwriting(1));
    feed(tx.clone()).unwrap();
    (0..2).for_each(|_| feed(otx.clone()).unwrap());
    assert_eq!((rx.try_recv(), orx.try_recv(), orx.len()), (Ok(7), Ok(7), 0));
    rx.close();
    drop(orx);
    assert_eq!(feed(tx), Err(SendError::Closed(())));
    assert_eq!(feed(otx), Err(SendError::Disconnected(())));
}

#[test]
fn ends_of_both_sides_are_counted() {
    let (tx, rx) = bounded::<u8>(1);
    let (weak, other) = (rx.downgrade(), rx.clone());
    let second = weak.clone();
    assert_eq!((rx.strong_count(), rx.weak_count(), tx.receiver_count()), (2, 2, 2));
    drop((second, other));
    assert_eq!((weak.strong_count(), weak.weak_count()), (1, 1));
    assert_eq!((tx.strong_count(), tx.weak_count(), rx.sender_count()), (1, 0, 1));
    assert!(!rx.blocking_closed_timeout(MOMENT));
    drop((rx, tx));
    assert_eq!((weak.strong_count(), weak.upgrade().is_none()), (0, true));
    let (tx, rx) = bounded::<u8>(1);
    tx.close();
    rx.blocking_closed();
}

//! The channels beside their core: time limits, stream and sink, wakers that panic in a receive,
//! blocks that come and go, many threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_core::Stream;
use futures_sink::Sink;

use crate::mpsc::{
    Receiver, RecvTimeoutError, SendError, SendTimeoutError, Sender, SenderSink, TryRecvError,
    UnboundedReceiver, UnboundedSender, channel, unbounded_channel,
};
use crate::tests::support::{Polled, now, refusing, watchdog};
use crate::{CancelExt, CancellationToken, Wait};

const MOMENT: Duration = Duration::from_millis(1);

#[test]
fn a_panicking_waker_in_a_receive_loses_no_value() {
    type Receive = fn(&mut Receiver<u32>) -> Option<u32>;
    let receive: [Receive; 4] = [
        |rx| now(rx.recv()),
        |rx| rx.try_recv().ok(),
        |rx| rx.blocking_recv(),
        |rx| match rx.poll_recv(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => value,
            Poll::Pending => None,
        },
    ];
    for receive in receive {
        let (tx, mut rx) = channel(2);
        tx.try_send(0).unwrap();
        tx.try_send(1).unwrap();
        let mut bad = Polled::new(tx.send(2));
        assert!(bad.poll_with(&refusing()).is_pending());
        assert!(catch_unwind(AssertUnwindSafe(|| receive(&mut rx))).is_err());
        assert_eq!(bad.ready(), Ok(()), "the place was given to it");
        for i in 0..3 {
            assert_eq!(receive(&mut rx), Some(i), "nothing is lost, and the order is kept");
        }
        assert_eq!(tx.capacity(), 2, "no place was given back twice");
    }
}

#[test]
fn a_panicking_waker_in_a_batch_receive_loses_no_value() {
    let (tx, mut rx) = channel(2);
    tx.try_send(0).unwrap();
    tx.try_send(1).unwrap();
    let mut bad = Polled::new(tx.send(2));
    assert!(bad.poll_with(&refusing()).is_pending());
    let mut buffer = Vec::new();
    let batch = catch_unwind(AssertUnwindSafe(|| now(rx.recv_many(&mut buffer, 9))));
    assert!(batch.is_err());
    assert_eq!(buffer, [0, 1], "they are with the caller");
    bad.ready().unwrap();
    // Once before a batch: its place is back already.
    let mut bad = Polled::new(tx.reserve_many(2));
    assert!(bad.poll_with(&refusing()).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| rx.try_recv())).is_err());
    drop(bad);
    assert_eq!(now(rx.recv_many(&mut buffer, 9)), 1);
    assert_eq!((buffer.len(), tx.capacity()), (3, 2));
}

#[test]
fn blocking_forms_end_by_their_limit_and_keep_the_value() {
    let (tx, mut rx) = channel(1);
    assert_eq!(rx.blocking_recv_timeout(MOMENT), Err(RecvTimeoutError::Timeout));
    tx.blocking_send_timeout(1, Duration::ZERO).unwrap();
    assert_eq!(tx.blocking_send_timeout(2, MOMENT), Err(SendTimeoutError::Timeout(2)));
    assert_eq!(rx.blocking_recv_timeout(Duration::ZERO), Ok(1));
    assert_eq!(tx.capacity(), 1, "the one that gave up left the queue");
    drop(tx);
    assert_eq!(rx.blocking_recv_timeout(Duration::MAX), Err(RecvTimeoutError::Disconnected));
    let (tx, rx) = channel(1);
    drop(rx);
    let error = tx.blocking_send_timeout(3, Duration::MAX).unwrap_err();
    assert_eq!((error, error.into_inner()), (SendTimeoutError::Closed(3), 3));
    assert_eq!(error.to_string(), "the channel is closed");
    let (tx, mut rx) = unbounded_channel::<u8>();
    assert_eq!(rx.blocking_recv_timeout(MOMENT), Err(RecvTimeoutError::Timeout));
    tx.send(4).unwrap();
    assert_eq!(rx.blocking_recv_timeout(MOMENT), Ok(4));
}

#[test]
fn a_send_until_time_is_up() {
    let (tx, mut rx) = channel(1);
    now(tx.send_timeout(1, std::future::ready(()))).unwrap();
    let token = CancellationToken::new();
    let mut limited = Polled::pending(tx.send_timeout(2, token.cancelled()));
    let mut behind = Polled::pending(tx.send(3));
    token.cancel();
    assert_eq!(limited.wakes(), 1);
    assert_eq!(limited.ready(), Err(SendTimeoutError::Timeout(2)));
    drop(limited);
    // Granted and out of time: the send comes first.
    assert_eq!(rx.try_recv(), Ok(1));
    behind.ready().unwrap();
    let token = CancellationToken::new();
    let mut limited = Polled::pending(tx.send_timeout(4, token.cancelled()));
    assert_eq!(rx.try_recv(), Ok(3));
    token.cancel();
    limited.ready().unwrap();
    assert_eq!(rx.try_recv(), Ok(4));
    rx.close();
    let closed = now(tx.send_timeout(5, std::future::pending::<()>()));
    assert_eq!(closed, Err(SendTimeoutError::Closed(5)));
}

#[test]
fn receivers_are_streams() {
    let (tx, rx) = channel(2);
    let (utx, urx) = unbounded_channel();
    tx.try_send(1).unwrap();
    utx.send(1).unwrap();
    drop((tx, utx));
    fn all<S: Stream<Item = i32> + Unpin>(mut stream: S) -> Vec<i32> {
        let mut values = Vec::new();
        assert_eq!(stream.size_hint(), (1, None));
        while let Some(value) = now(std::future::poll_fn(|cx| Pin::new(&mut stream).poll_next(cx)))
        {
            values.push(value);
        }
        values
    }
    assert_eq!(all(rx), [1]);
    assert_eq!(all(urx), [1]);
}

#[test]
fn senders_are_sinks() {
    let (tx, mut rx) = channel(1);
    let mut sink = pin!(SenderSink::new(tx.clone()));
    assert_eq!(sink.as_mut().start_send(0), Err(SendError(())), "not asked for room");
    now(std::future::poll_fn(|cx| sink.as_mut().poll_ready(cx))).unwrap();
    sink.as_mut().start_send(1).unwrap();
    {
        let mut room = Polled::pending(std::future::poll_fn(|cx| sink.as_mut().poll_ready(cx)));
        assert_eq!(rx.try_recv(), Ok(1));
        assert_eq!(room.wakes(), 1);
        room.ready().unwrap();
    }
    now(std::future::poll_fn(|cx| sink.as_mut().poll_flush(cx))).unwrap();
    now(std::future::poll_fn(|cx| sink.as_mut().poll_close(cx))).unwrap();
    assert!(now(std::future::poll_fn(|cx| sink.as_mut().poll_ready(cx))).is_err());
    assert_eq!((tx.capacity(), tx.strong_count()), (1, 1), "place and sender are back");
    let (mut tx, mut rx) = unbounded_channel();
    now(std::future::poll_fn(|cx| Pin::new(&mut tx).poll_ready(cx))).unwrap();
    Sink::start_send(Pin::new(&mut tx), 2).unwrap();
    assert_eq!(rx.try_recv(), Ok(2));
    rx.close();
    assert!(now(std::future::poll_fn(|cx| Pin::new(&mut tx).poll_ready(cx))).is_err());
    assert_eq!(Sink::start_send(Pin::new(&mut tx), 3), Err(SendError(())));
}

#[test]
fn a_receive_can_be_cancelled_by_a_token() {
    let (tx, mut rx) = unbounded_channel();
    let token = CancellationToken::new();
    {
        let mut recv = Polled::pending(rx.recv().cancel_on(&token));
        token.cancel();
        assert!(recv.ready().is_err());
    }
    tx.send(1).unwrap();
    assert_eq!(rx.try_recv(), Ok(1));
}

#[test]
fn values_of_any_size_cross_any_number_of_blocks() {
    fn cross<T: Clone + PartialEq + std::fmt::Debug + Send + 'static>(make: fn(usize) -> T) {
        let (tx, mut rx) = unbounded_channel();
        for burst in [1, 31, 32, 33, 64, 65, 500] {
            (0..burst).for_each(|i| tx.send(make(i)).unwrap());
            assert_eq!(rx.len(), burst);
            (0..burst).for_each(|i| assert_eq!(rx.try_recv(), Ok(make(i))));
            assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        }
        (0..70).for_each(|i| tx.send(make(i)).unwrap());
    }
    cross(|_| ());
    cross(|i| i as u8);
    cross(|i| format!("value {i}"));
    cross(|i| [i; 1000]);
}

#[test]
fn what_is_not_received_is_dropped_once() {
    let value = Arc::new(());
    for count in [0, 1, 31, 32, 33, 100] {
        let (tx, mut rx) = unbounded_channel();
        (0..count).for_each(|_| tx.send(value.clone()).unwrap());
        drop(rx.try_recv());
        assert_eq!(Arc::strong_count(&value), count.max(1));
        drop(rx);
        assert_eq!(Arc::strong_count(&value), 1);
        assert!(tx.send(value.clone()).is_err());
        assert_eq!(Arc::strong_count(&value), 1);
    }
    // A destructor that panics does not keep the others.
    struct Bomb(#[expect(dead_code, reason = "held for its count")] Arc<()>);
    impl Drop for Bomb {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                panic!("the destructor refuses");
            }
        }
    }
    let (tx, rx) = unbounded_channel();
    (0..50).for_each(|_| assert!(tx.send(Bomb(value.clone())).is_ok()));
    assert!(catch_unwind(AssertUnwindSafe(|| drop(rx))).is_err());
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn a_channel_wakes_only_a_receiver_that_sleeps() {
    let (tx, mut rx) = channel(8);
    for round in 0..3 {
        let mut recv = Polled::pending(rx.recv());
        tx.try_send(round).unwrap();
        tx.try_send(9).unwrap();
        assert_eq!(recv.wakes(), 1);
        assert_eq!(recv.ready(), Some(round));
        drop(recv);
        assert_eq!(rx.try_recv(), Ok(9));
    }
    // A receive that was given up leaves one wake at most.
    let given_up = Polled::pending(rx.recv());
    let counter = given_up.counter.clone();
    drop(given_up);
    tx.try_send(1).unwrap();
    tx.try_send(2).unwrap();
    assert!(counter.count() <= 1);
}

/// From four threads, with a bound and without: all arrive, in the order of each sender.
#[test]
fn threads_send_and_one_receives() {
    const EACH: usize = 20_000;
    fn receive(mut next: impl FnMut() -> Option<(usize, usize)>) {
        let mut seen = [0; 4];
        while let Some((id, i)) = next() {
            assert_eq!(seen[id], i, "values of one sender keep their order");
            seen[id] += 1;
        }
        assert_eq!(seen, [EACH; 4]);
    }
    watchdog(|| {
        let (tx, mut rx): (UnboundedSender<_>, UnboundedReceiver<_>) = unbounded_channel();
        let (btx, mut brx): (Sender<_>, Receiver<_>) = channel(3);
        let threads: Vec<_> = (0..4)
            .map(|id| {
                let (tx, btx) = (tx.clone(), btx.clone());
                std::thread::spawn(move || {
                    (0..EACH).for_each(|i| tx.send((id, i)).unwrap());
                    drop(tx);
                    (0..EACH).for_each(|i| btx.send((id, i)).wait().unwrap());
                })
            })
            .collect();
        drop((tx, btx));
        receive(|| rx.blocking_recv());
        receive(|| brx.blocking_recv());
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

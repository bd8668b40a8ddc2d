//! The broadcast channel that loses nothing: who waits for room, and who gets it. And both kinds
//! against their models, and on many threads.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Barrier, Mutex};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use futures_sink::Sink;
use raddle_base::random::Rng;

use super::{
    Lossless, Receiver, RecvError, SendError, SendTimeoutError, Sender, SenderSink, TryRecvError,
    TrySendError, channel, lossless_channel,
};
use crate::tests::crowds::{self, Case};
use crate::tests::sequences::every_sequence;
use crate::tests::support::{Polled, now, refusing, watchdog};

const SHORT: Duration = Duration::from_millis(1);

/// A full channel whose only receiver can go.
struct Full {
    sender: Sender<u32, Lossless>,
    receiver: Mutex<Option<Receiver<u32, Lossless>>>,
}

type Wait = Pin<Box<dyn Future<Output = Result<usize, SendError<u32>>>>>;

impl Full {
    fn make() -> (Arc<Self>, bool) {
        let (sender, receiver) = lossless_channel(1);
        sender.try_send(0).unwrap();
        (Arc::new(Full { sender, receiver: Mutex::new(Some(receiver)) }), false)
    }

    fn close(&self) -> bool {
        let receiver = self.receiver.lock().unwrap().take();
        receiver.is_some()
    }

    fn wait(&self) -> Wait {
        let sender = self.sender.clone();
        let mut wait = Box::pin(async move { sender.send(1).await });
        let mut result = None;
        // Good for polls after the end, as the primitives' own futures are.
        Box::pin(std::future::poll_fn(move |cx| {
            if result.is_none() {
                result = Some(ready!(wait.as_mut().poll(cx)));
            }
            Poll::Ready(result.unwrap())
        }))
    }
}

static CASE: Case<Full, bool, Wait> = Case {
    make: Full::make,
    wait: |full| full.wait(),
    end: |full| {
        full.close();
    },
    is_over: |closed| *closed,
    operations: &[
        |full, closed| {
            *closed = true;
            full.close()
        },
        |full, _| full.sender.try_send(7).is_ok(),
        |full, _| full.sender.try_reserve().is_ok(),
    ],
    compare: |full, closed| assert_eq!(full.sender.is_closed(), *closed),
};

#[test]
fn the_last_receiver_lets_all_senders_go() {
    crowds::check(&CASE);
}

#[test]
fn senders_wait_for_the_slowest_receiver_first_come_first_served() {
    let (tx, mut rx) = lossless_channel(2);
    let mut slow = tx.subscribe();
    assert_eq!((now(tx.send(1)), tx.try_send(2)), (Ok(2), Ok(2)));
    assert_eq!(
        (tx.try_send(3), tx.capacity(), tx.max_capacity()),
        (Err(TrySendError::Full(3)), 0, 2)
    );
    let mut waits: Vec<_> = (3..7).map(|value| Polled::pending(tx.send(value))).collect();
    assert_eq!([rx.try_recv(), rx.try_recv()], [Ok(1), Ok(2)]);
    assert!(waits.iter().all(|wait| wait.wakes() == 0));
    assert_eq!(slow.try_recv(), Ok(1));
    let wakes: Vec<_> = waits.iter().map(|wait| wait.wakes()).collect();
    assert_eq!(wakes, [1, 0, 0, 0]);
    assert_eq!(tx.try_send(9), Err(TrySendError::Full(9)), "granted room is not stolen");
    // One that was granted room and goes, and one that waits and goes.
    drop(waits.remove(0));
    drop(waits.remove(1));
    let wakes: Vec<_> = waits.iter().map(|wait| wait.wakes()).collect();
    assert_eq!(wakes, [1, 0]);
    assert_eq!(waits[0].ready(), Ok(2));
    assert_eq!(slow.try_recv(), Ok(2));
    assert_eq!(waits[1].ready(), Ok(2));
    assert_eq!([rx.try_recv(), rx.try_recv()], [Ok(4), Ok(6)]);
    assert_eq!([slow.try_recv(), slow.try_recv()], [Ok(4), Ok(6)]);
    assert_eq!((slow.try_recv(), tx.capacity()), (Err(TryRecvError::Empty), 2));
}

#[test]
fn a_slow_receiver_that_goes_makes_room_and_the_last_one_ends_waits() {
    let (tx, rx) = lossless_channel(2);
    let mut other = tx.subscribe();
    (0..2).for_each(|i| assert_eq!(tx.try_send(i), Ok(2)));
    let mut waits: Vec<_> = (2..6).map(|i| Polled::pending(tx.send(i))).collect();
    assert_eq!(other.try_recv(), Ok(0));
    assert_eq!(waits[0].wakes(), 0);
    drop(rx);
    assert_eq!((waits[0].wakes(), waits[1].wakes()), (1, 0));
    drop(other);
    for (i, wait) in (2..).zip(&mut waits) {
        assert_eq!((wait.wakes(), wait.ready()), (1, Err(SendError(i))));
    }
    assert_eq!(tx.try_send(9), Err(TrySendError::Closed(9)));
    assert_eq!((now(tx.send(9)), tx.capacity()), (Err(SendError(9)), 2));
    let mut rx = tx.subscribe();
    assert_eq!((tx.try_send(9), rx.try_recv()), (Ok(1), Ok(9)));
}

#[test]
fn room_can_be_reserved() {
    let (tx, mut rx) = lossless_channel(2);
    let permit = now(tx.reserve()).unwrap();
    let owned = tx.clone().try_reserve_owned().unwrap();
    assert_eq!(
        (tx.try_reserve().unwrap_err(), tx.capacity(), tx.len()),
        (TrySendError::Full(()), 0, 0)
    );
    assert!(matches!(tx.clone().try_reserve_owned(), Err(TrySendError::Full(_))));
    let mut wait = Polled::pending(tx.reserve());
    let mut late = Polled::pending(tx.clone().reserve_owned());
    drop(permit);
    let permit = wait.ready().unwrap();
    assert_eq!((permit.send(1), rx.try_recv()), (Ok(1), Ok(1)));
    let tx = owned.release();
    let owned = late.ready().unwrap();
    let tx2 = owned.send(2).unwrap();
    assert!(tx2.same_channel(&tx) && tx.capacity() == 1);
    let permit = tx.try_reserve().unwrap();
    drop(rx);
    assert_eq!(permit.send(3), Err(SendError(3)));
    assert_eq!(now(tx.reserve()).unwrap_err(), SendError(()));
    assert_eq!(tx.try_reserve().unwrap_err(), TrySendError::Closed(()));
}

#[test]
fn a_waker_that_panics_takes_no_value_along() {
    let (tx, mut rx) = lossless_channel(1);
    let mut other = tx.subscribe();
    for first in [true, false] {
        tx.try_send(1).unwrap();
        let mut bad = Polled::new(tx.send(2));
        assert!(bad.poll_with(&refusing()).is_pending());
        // The last one moves the value out, or clones it and drops what it was cloned from.
        let (one, last) = if first { (&mut rx, &mut other) } else { (&mut other, &mut rx) };
        assert_eq!(one.try_recv(), Ok(1));
        assert!(catch_unwind(AssertUnwindSafe(|| last.try_recv().is_ok())).is_err());
        assert_eq!((last.len(), last.try_recv()), (1, Ok(1)), "kept for the next receive");
        assert_eq!(bad.ready(), Ok(2));
        assert_eq!([rx.try_recv(), other.try_recv()], [Ok(2), Ok(2)]);
    }
    // The receiver that leaves goes all the same.
    tx.try_send(1).unwrap();
    let mut bad = Polled::new(tx.reserve());
    assert!(bad.poll_with(&refusing()).is_pending());
    drop(rx);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(other))).is_err());
    assert!(bad.ready().is_err() && tx.is_closed() && tx.is_empty());
}

#[test]
fn a_sink_waits_for_room() {
    let (tx, mut rx) = lossless_channel(1);
    let mut sink = Box::pin(SenderSink::new(tx.clone()));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(sink.as_mut().start_send(0).is_err(), "nothing reserved");
    assert!(sink.as_mut().poll_ready(&mut cx).is_ready());
    sink.as_mut().start_send(1).unwrap();
    assert!(sink.as_mut().poll_ready(&mut cx).is_pending());
    assert_eq!(rx.try_recv(), Ok(1));
    assert!(sink.as_mut().poll_ready(&mut cx).is_ready());
    assert!(sink.as_mut().poll_flush(&mut cx).is_ready() && sink.sender().is_some());
    assert!(sink.as_mut().poll_close(&mut cx).is_ready());
    assert_eq!((tx.strong_count(), tx.capacity()), (1, 1));
    assert!(matches!(sink.as_mut().poll_ready(&mut cx), Poll::Ready(Err(_))));
}

#[test]
fn blocking_and_timed() {
    let (tx, mut rx) = lossless_channel(1);
    assert_eq!(tx.blocking_send(1), Ok(1));
    assert_eq!(tx.blocking_send_timeout(2, SHORT), Err(SendTimeoutError::Timeout(2)));
    assert!(tx.blocking_reserve_timeout(SHORT).is_none());
    let late = now(tx.send_timeout(2, std::future::ready(())));
    assert_eq!(late, Err(SendTimeoutError::Timeout(2)));
    let mut wait = Polled::pending(tx.send_timeout(2, std::future::pending::<()>()));
    assert_eq!((rx.try_recv(), wait.ready()), (Ok(1), Ok(1)));
    drop(wait);
    let thread = std::thread::spawn(move || {
        assert_eq!(tx.blocking_send(3), Ok(1));
        assert_eq!(tx.blocking_reserve().unwrap().send(4), Ok(1));
        tx.blocking_closed();
        assert_eq!(tx.blocking_send_timeout(5, SHORT), Err(SendTimeoutError::Closed(5)));
    });
    assert_eq!([rx.blocking_recv(), rx.blocking_recv(), rx.blocking_recv()], [Ok(2), Ok(3), Ok(4)]);
    drop(rx);
    thread.join().unwrap();
}

/// The model: everything that was sent, and where each receiver is.
struct Model {
    capacity: usize,
    overwrites: bool,
    sent: Vec<usize>,
    next: [Option<usize>; 2],
    ended: bool,
}

impl Model {
    fn oldest(&self) -> usize {
        let slowest = self.next.iter().flatten().min().copied().unwrap_or(self.sent.len());
        match self.overwrites {
            true => slowest.max(self.sent.len().saturating_sub(self.capacity)),
            false => slowest,
        }
    }

    fn len(&self) -> usize {
        self.sent.len() - self.oldest()
    }

    fn send(&mut self, value: usize) -> Result<usize, TrySendError<usize>> {
        match self.next.iter().flatten().count() {
            0 => Err(TrySendError::Closed(value)),
            _ if !self.overwrites && self.len() == self.capacity => Err(TrySendError::Full(value)),
            receivers => {
                self.sent.push(value);
                Ok(receivers)
            }
        }
    }

    fn receive(&mut self, who: usize) -> Option<Result<usize, TryRecvError>> {
        let (len, oldest) = (self.sent.len(), self.oldest());
        let next = self.next[who].as_mut()?;
        if *next < oldest {
            let missed = oldest - std::mem::replace(next, oldest);
            return Some(Err(TryRecvError::Lagged(missed as u64)));
        }
        if *next == len {
            let end = if self.ended { TryRecvError::Closed } else { TryRecvError::Empty };
            return Some(Err(end));
        }
        *next += 1;
        Some(Ok(self.sent[*next - 1]))
    }
}

type Send<M> = fn(&Sender<usize, M>, usize) -> Result<usize, TrySendError<usize>>;

/// Runs a sequence of sends, receives of two receivers, which come and go, and the end.
fn as_its_model<M: super::Mode>(
    sequence: &[usize],
    mut model: Model,
    (tx, rx): (Sender<usize, M>, Receiver<usize, M>),
    send: Send<M>,
) {
    let mut tx = Some(tx);
    let mut receivers = [Some(rx), None];
    for (value, step) in sequence.iter().enumerate() {
        let who = step % 2;
        match step {
            0 => {
                let Some(tx) = &tx else { continue };
                assert_eq!(send(tx, value), model.send(value), "{sequence:?}");
                assert_eq!(tx.len(), model.len(), "{sequence:?}");
            }
            1 => {
                tx = None;
                model.ended = true;
            }
            2 | 3 => {
                let received = receivers[who].as_mut().map(Receiver::try_recv);
                assert_eq!(received, model.receive(who), "{sequence:?}");
            }
            _ if receivers[who].is_some() => {
                receivers[who] = None;
                model.next[who] = None;
            }
            _ => {
                let Some(tx) = &tx else { continue };
                receivers[who] = Some(tx.subscribe());
                model.next[who] = Some(model.sent.len());
            }
        }
        if let Some(tx) = &tx {
            assert_eq!(tx.receiver_count(), receivers.iter().flatten().count());
        }
        for (rx, next) in receivers.iter().zip(model.next) {
            let expected = next.map(|next| (model.sent.len() - next) as u64);
            assert_eq!(rx.as_ref().map(Receiver::len), expected, "{sequence:?}");
        }
    }
}

#[test]
fn as_their_models() {
    let model = |overwrites| Model {
        capacity: 2,
        overwrites,
        sent: vec![],
        next: [Some(0), None],
        ended: false,
    };
    every_sequence(6, 7, |sequence| {
        as_its_model(sequence, model(true), channel(2), |tx, value| {
            tx.send(value).map_err(TrySendError::from)
        });
        as_its_model(sequence, model(false), lossless_channel(2), Sender::try_send);
    });
}

/// Waits of senders against a model: a line of those who wait, whom room is given in their order.
#[test]
fn the_line_of_senders_as_its_model() {
    every_sequence(6, 6, |sequence| {
        let (tx, mut rx) = lossless_channel::<usize>(1);
        let mut waits: [Option<Polled<_>>; 2] = [None, None];
        // What is in the channel, who was granted room, and who waits.
        let (mut inside, mut granted, mut line) = (VecDeque::new(), None, VecDeque::new());
        for step in sequence {
            let who = step % 2;
            let mut gives_room = false;
            match step {
                0 | 1 if waits[who].is_none() => {
                    let mut wait = Polled::new(tx.send(who));
                    match wait.poll() {
                        Poll::Ready(result) => {
                            assert!(result == Ok(1) && inside.is_empty() && granted.is_none());
                            inside.push_back(who);
                        }
                        Poll::Pending => {
                            assert!(!inside.is_empty() || granted.is_some(), "{sequence:?}");
                            line.push_back(who);
                            waits[who] = Some(wait);
                        }
                    }
                }
                0 | 1 => {
                    let done = waits[who].as_mut().unwrap().poll().is_ready();
                    assert_eq!(done, granted == Some(who), "{sequence:?}");
                    if done {
                        granted = None;
                        inside.push_back(who);
                        waits[who] = None;
                    }
                }
                2 | 3 => {
                    waits[who] = None;
                    line.retain(|waiter| *waiter != who);
                    gives_room = granted == Some(who);
                }
                _ => {
                    assert_eq!(rx.try_recv().ok(), inside.front().copied(), "{sequence:?}");
                    gives_room = inside.pop_front().is_some();
                }
            }
            if gives_room {
                granted = line.pop_front();
            }
            for (who, wait) in waits.iter().enumerate() {
                let wakes = wait.as_ref().map_or(0, Polled::wakes);
                assert_eq!(wakes, usize::from(granted == Some(who)), "{sequence:?}");
            }
        }
    });
}

#[test]
fn threads_that_send_receive_come_and_go_lose_nothing() {
    const EACH: usize = 300;
    watchdog(|| {
        let count = Arc::new(());
        let (tx, rx) = lossless_channel(3);
        let mut receivers: Vec<_> = (0..2).map(|_| tx.subscribe()).collect();
        receivers.push(rx);
        let start = Barrier::new(5);
        let orders = std::thread::scope(|scope| {
            for sender in 0..2 {
                let (tx, start, count) = (tx.clone(), &start, count.clone());
                scope.spawn(move || {
                    let mut rng = Rng::new(sender as u64);
                    start.wait();
                    for i in 0..EACH {
                        // Some waits are given up, some receivers come and leave things behind.
                        let limit = Duration::from_nanos(rng.below(2000).into());
                        drop(tx.blocking_reserve_timeout(limit));
                        let visitor = (rng.below(8) == 0).then(|| tx.subscribe());
                        tx.blocking_send((sender, i, count.clone())).ok().unwrap();
                        drop(visitor);
                    }
                });
            }
            drop(tx);
            let threads: Vec<_> = receivers
                .into_iter()
                .map(|mut rx| {
                    let start = &start;
                    scope.spawn(move || {
                        start.wait();
                        let mut order = vec![];
                        while let Ok((sender, i, _)) = rx.blocking_recv() {
                            order.push((sender, i));
                        }
                        order
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(orders[0].len(), 2 * EACH);
        assert!(orders.iter().all(|order| *order == orders[0]), "one order for all");
        for sender in 0..2 {
            let own = orders[0].iter().filter(|(from, _)| *from == sender).map(|(_, i)| *i);
            assert!(own.eq(0..EACH));
        }
        assert_eq!(Arc::strong_count(&count), 1, "every value and every clone was dropped");
    });
}

#[test]
fn threads_that_overwrite_what_others_clone() {
    watchdog(|| {
        let count = Arc::new(());
        let (tx, rx) = channel(2);
        let receivers = [rx.resubscribe(), rx.resubscribe(), rx];
        std::thread::scope(|scope| {
            for mut rx in receivers {
                scope.spawn(move || {
                    let (mut next, mut missed) = (0, 0);
                    loop {
                        match rx.blocking_recv() {
                            Ok((value, _)) => {
                                assert_eq!(value, next);
                                next += 1;
                            }
                            Err(RecvError::Lagged(more)) => {
                                next += more;
                                missed += more;
                            }
                            Err(RecvError::Closed) => {
                                return assert!(next == 3000 && missed < 3000);
                            }
                        }
                    }
                });
            }
            let count = &count;
            scope.spawn(move || {
                (0..3000_u64).for_each(|value| drop(tx.send((value, count.clone()))));
            });
        });
        assert_eq!(Arc::strong_count(&count), 1, "every value and every clone was dropped");
    });
}

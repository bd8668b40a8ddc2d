//! The channels of many receivers in company: against a model of a few lines under every sequence
//! of operations, under random operations with cancels, in crowds, with wakers that bite.

use std::collections::{HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use raddle_base::random::Rng;
use raddle_base::wait::WakeBatch;

use crate::mpmc::{
    Bounded, Receiver, Recv, Rendezvous, SendError, Sender, Sending, TryRecvError, TrySendError,
    Waits, bounded, overwriting, rendezvous, unbounded,
};
use crate::tests::sequences::every_sequence;
use crate::tests::support::{Event, Polled, hostile, refusing, watchdog};

const MANY: usize = 3 * WakeBatch::CAPACITY + 1;

/// What the channel is to a single thread: a queue, and two lines.
#[derive(Default)]
struct Model {
    capacity: usize,
    values: VecDeque<u32>,
    /// Senders that wait, with their values.
    senders: VecDeque<u32>,
    /// Receivers that wait, by number, without those that were promised something.
    receivers: VecDeque<usize>,
    promised: HashSet<usize>,
    closed: bool,
}

impl Model {
    fn free(&self) -> usize {
        let offers = if self.capacity == 0 { self.senders.len() } else { 0 };
        (self.values.len() + offers).saturating_sub(self.promised.len())
    }

    /// Of the rendezvous: whether there are more receivers than values.
    fn is_wanted(&self) -> bool {
        let values = self.values.len() + self.senders.len();
        !self.receivers.is_empty() || self.promised.len() > values
    }

    fn settle(&mut self) {
        while self.values.len() < self.capacity
            && let Some(value) = self.senders.pop_front()
        {
            self.values.push_back(value);
        }
        while self.free() > 0
            && let Some(first) = self.receivers.pop_front()
        {
            self.promised.insert(first);
        }
    }

    fn pop(&mut self) -> Option<u32> {
        let value = self.values.pop_front();
        let offered = || if self.capacity == 0 { self.senders.pop_front() } else { None };
        let value = value.or_else(offered);
        self.settle();
        value
    }
}

/// A channel, the waits in it, and its model.
struct World<'a, K: Waits> {
    tx: &'a Sender<u32, K>,
    rx: &'a Receiver<u32, K>,
    sends: VecDeque<(u32, Polled<Sending<'a, u32>>)>,
    recvs: VecDeque<(usize, Polled<Recv<'a, u32>>)>,
    model: Model,
    next: u32,
}

const OPERATIONS: usize = 8;

impl<K: Waits> World<'_, K> {
    fn step(&mut self, operation: usize) {
        self.next += 1;
        match operation {
            0 => self.try_send(),
            1 => self.send(),
            2 => self.try_recv(),
            3 => self.recv(),
            4 => self.poll_receiver(),
            5 => self.drop_receiver(),
            6 => self.take_back(),
            _ => self.close(),
        }
        assert_eq!(self.rx.len(), self.model.values.len());
    }

    fn try_send(&mut self) {
        let model = &mut self.model;
        let expected = if model.closed {
            Err(TrySendError::Closed(self.next))
        } else if model.values.len() < model.capacity || (model.capacity == 0 && model.is_wanted())
        {
            Ok(())
        } else {
            Err(TrySendError::Full(self.next))
        };
        assert_eq!(self.tx.try_send(self.next), expected);
        if expected.is_ok() {
            model.values.push_back(self.next);
            model.settle();
        }
    }

    fn send(&mut self) {
        let mut send = Polled::new(self.tx.send(self.next));
        let model = &mut self.model;
        if model.closed {
            return assert_eq!(send.ready(), Err(SendError::Closed(self.next)));
        }
        if model.values.len() < model.capacity {
            model.values.push_back(self.next);
            model.settle();
            return assert_eq!(send.ready(), Ok(()));
        }
        assert!(send.poll().is_pending());
        model.senders.push_back(self.next);
        model.settle();
        self.sends.push_back((self.next, send));
    }

    fn try_recv(&mut self) {
        let expected = if self.model.free() > 0 {
            self.model.pop().ok_or(TryRecvError::Empty)
        } else {
            Err(self.nothing())
        };
        assert_eq!(self.rx.try_recv(), expected);
    }

    fn nothing(&self) -> TryRecvError {
        let at_end = self.model.closed && self.model.values.is_empty();
        if at_end { TryRecvError::Closed } else { TryRecvError::Empty }
    }

    fn recv(&mut self) {
        let mut recv = Polled::new(self.rx.recv());
        if self.model.free() > 0 {
            return assert_eq!(recv.ready().ok(), self.model.pop());
        }
        if self.nothing() == TryRecvError::Closed {
            return assert!(recv.ready().is_err());
        }
        assert!(recv.poll().is_pending());
        self.model.receivers.push_back(self.next as usize);
        self.recvs.push_back((self.next as usize, recv));
    }

    /// Polls the receiver that has waited longest, and compares what it finds.
    fn poll_receiver(&mut self) {
        let Some((number, mut recv)) = self.recvs.pop_front() else { return };
        let polled = recv.poll();
        if !self.model.promised.remove(&number) {
            if self.nothing() == TryRecvError::Closed {
                self.model.receivers.retain(|other| *other != number);
                return assert!(matches!(polled, Poll::Ready(Err(_))));
            }
            assert!(polled.is_pending());
            return self.recvs.push_front((number, recv));
        }
        match self.model.pop() {
            Some(value) => assert_eq!(polled, Poll::Ready(Ok(value))),
            None if self.model.closed => assert!(matches!(polled, Poll::Ready(Err(_)))),
            None => {
                // It was woken for a value that was taken back.
                assert!(polled.is_pending());
                self.model.receivers.push_front(number);
                self.recvs.push_front((number, recv));
            }
        }
    }

    fn drop_receiver(&mut self) {
        let Some((number, recv)) = self.recvs.pop_back() else { return };
        drop(recv);
        self.model.promised.remove(&number);
        self.model.receivers.retain(|other| *other != number);
        self.model.settle();
    }

    fn take_back(&mut self) {
        let Some((value, mut send)) = self.sends.pop_back() else { return };
        let waits = self.model.senders.iter().any(|other| *other == value);
        let refused = self.model.closed && send.future.as_mut().take_back() == Some(value);
        if !refused && !self.model.closed {
            assert_eq!(send.future.as_mut().take_back().is_some(), waits);
        }
        self.model.senders.retain(|other| *other != value);
    }

    fn close(&mut self) {
        assert_eq!(self.tx.close(), !self.model.closed);
        self.model.closed = true;
        self.model.senders.clear();
    }
}

fn as_its_model<K: Waits>(
    ends: (Sender<u32, K>, Receiver<u32, K>),
    capacity: usize,
    all: &[usize],
) {
    let (tx, rx) = ends;
    let model = Model { capacity, ..Model::default() };
    let mut world =
        World { tx: &tx, rx: &rx, sends: VecDeque::new(), recvs: VecDeque::new(), model, next: 0 };
    all.iter().for_each(|operation| world.step(*operation));
}

#[test]
fn every_sequence_as_the_model() {
    watchdog(|| {
        every_sequence(OPERATIONS, 5, |all| {
            as_its_model::<Bounded>(bounded(1), 1, all);
            as_its_model::<Rendezvous>(rendezvous(), 0, all);
        });
        every_sequence(OPERATIONS, 4, |all| as_its_model::<Bounded>(bounded(2), 2, all));
        for seed in 0..300 {
            let mut rng = Rng::new(seed);
            let mut all: Vec<_> = (0..60).map(|_| rng.below(7) as usize).collect();
            all.push(7);
            all.extend((0..10).map(|_| rng.below(7) as usize));
            as_its_model::<Bounded>(bounded(1 + seed as usize % 4), 1 + seed as usize % 4, &all);
            as_its_model::<Rendezvous>(rendezvous(), 0, &all);
        }
    });
}

#[test]
fn ten_thousand_wait_and_are_served_in_order() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let waker = |number: usize| {
        let order = order.clone();
        hostile(move |event| {
            if event == Event::Wake {
                order.lock().unwrap().push(number);
            }
        })
    };
    let (tx, rx) = bounded(10_000);
    let mut waits: Vec<_> = (0..10_000).map(|_| Polled::new(rx.recv())).collect();
    for (number, wait) in waits.iter_mut().enumerate() {
        assert!(wait.poll_with(&waker(number)).is_pending());
    }
    (0..10_000).for_each(|i| tx.try_send(i).unwrap());
    assert!(order.lock().unwrap().iter().copied().eq(0..10_000));
    assert!(waits.iter_mut().map(Polled::ready).map(Result::unwrap).eq(0..10_000));
    order.lock().unwrap().clear();
    (0..10_000).for_each(|i| tx.try_send(i).unwrap());
    let mut sends: Vec<_> = (0..10_000).map(|i| Polled::new(tx.send(i))).collect();
    for (number, send) in sends.iter_mut().enumerate() {
        assert!(send.poll_with(&waker(number)).is_pending());
    }
    let mut buffer = Vec::new();
    assert_eq!(rx.try_recv_many(&mut buffer, usize::MAX), Ok(10_000));
    assert!(order.lock().unwrap().iter().copied().eq(0..10_000));
    order.lock().unwrap().clear();
    drop(sends);
    // All at once by the end, with some gone before.
    let (tx, rx) = unbounded::<u8>();
    let mut waits: Vec<_> = (0..10_000).map(|_| Polled::new(rx.recv())).collect();
    for (number, wait) in waits.iter_mut().enumerate() {
        assert!(wait.poll_with(&waker(number)).is_pending());
    }
    let mut number = 0;
    waits.retain(|_| {
        number += 1;
        number % 7 != 1
    });
    drop(tx);
    assert!(order.lock().unwrap().iter().copied().eq((0..10_000).filter(|i| i % 7 != 0)));
    assert!(waits.iter_mut().rev().all(|wait| wait.ready().is_err()));
}

#[test]
fn hostile_wakers_may_do_anything() {
    watchdog(|| {
        for kind in 0..2 {
            let (tx, rx) = bounded::<u32>(1);
            let (rtx, rrx) = rendezvous::<u32>();
            let weak = (tx.downgrade(), rx.downgrade(), rtx.downgrade(), rrx.downgrade());
            let act = Arc::new(move || {
                if let (Some(tx), Some(rx)) = (weak.0.upgrade(), weak.1.upgrade()) {
                    let _ = (tx.try_send(1), tx.force_send(2), Polled::new(tx.send(3)).poll());
                    let _ = (tx.try_reserve(), Polled::new(tx.reserve()).poll());
                    let _ = (rx.try_recv(), Polled::new(rx.recv()).poll());
                }
                if let (Some(tx), Some(rx)) = (weak.2.upgrade(), weak.3.upgrade()) {
                    let _ = (tx.try_send(1), Polled::new(tx.send(3)).poll());
                    let _ = (rx.try_recv_many(&mut Vec::new(), 3), Polled::new(rx.recv()).poll());
                }
            });
            let waker = || {
                let act = act.clone();
                hostile(move |_| act())
            };
            for _ in 0..3 {
                let mut sends: Vec<_> = (0..3).map(|i| Polled::new(tx.send(i))).collect();
                sends.extend((0..3).map(|i| Polled::new(rtx.send(i))));
                let mut recvs: Vec<_> = (0..3).map(|_| Polled::new(rx.recv())).collect();
                recvs.extend((0..3).map(|_| Polled::new(rrx.recv())));
                for _ in 0..2 {
                    sends.retain_mut(|one| one.poll_with(&waker()).is_pending());
                    recvs.retain_mut(|one| one.poll_with(&waker()).is_pending());
                }
                let _ = (tx.try_send(7), rx.try_recv(), rtx.try_send(7), rrx.try_recv());
            }
            let mut last = Polled::new(rx.recv());
            let _ = last.poll_with(&waker());
            if kind == 0 {
                tx.close();
                rtx.close();
            }
            drop((last, tx, rtx));
        }
    });
}

#[test]
fn a_panicking_waker_strands_nobody() {
    let (tx, rx) = bounded(1);
    tx.try_send(0).unwrap();
    let mut before = Polled::pending(tx.send(1));
    let mut bad = Polled::new(tx.send(2));
    assert!(bad.poll_with(&refusing()).is_pending());
    let mut after: Vec<_> = (0..MANY).map(|i| Polled::pending(tx.send(i))).collect();
    let mut closed = Polled::new(tx.closed());
    assert!(closed.poll_with(&refusing()).is_pending());
    let mut also = Polled::pending(tx.closed());
    assert!(catch_unwind(AssertUnwindSafe(|| drop(rx))).is_err());
    assert!(before.ready().is_err() && bad.ready().is_err());
    assert!(after.iter_mut().all(|one| one.wakes() == 1 && one.ready().is_err()));
    assert_eq!(also.wakes(), 1, "the second group is told although the first one failed");
    also.ready();
    let (tx, rx) = unbounded::<u8>();
    let mut bad = Polled::new(rx.recv());
    assert!(bad.poll_with(&refusing()).is_pending());
    let mut after: Vec<_> = (0..MANY).map(|_| Polled::pending(rx.recv())).collect();
    let mut closed = Polled::pending(rx.closed());
    assert!(catch_unwind(AssertUnwindSafe(|| tx.close())).is_err());
    assert!(after.iter_mut().all(|one| one.wakes() == 1 && one.ready().is_err()));
    assert!(bad.ready().is_err());
    assert_eq!((closed.wakes(), rx.is_closed()), (1, true));
    closed.ready();
}

#[test]
fn values_that_use_the_channel_in_their_destructor() {
    struct Echo(Sender<Option<Box<Echo>>>);
    impl Drop for Echo {
        fn drop(&mut self) {
            let _ = (self.0.try_send(None), self.0.len());
            assert!(self.0.is_closed());
        }
    }
    watchdog(|| {
        let (tx, rx) = bounded(2);
        assert!(tx.try_send(Some(Box::new(Echo(tx.clone())))).is_ok());
        drop(rx);
        assert!(tx.is_closed());
    });
}

#[test]
fn what_is_not_received_is_dropped_once() {
    struct Bomb(#[expect(dead_code, reason = "held for its count")] Arc<()>);
    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(std::thread::panicking(), "the destructor refuses");
        }
    }
    let value = Arc::new(());
    for count in [0, 1, 31, 32, 33, 100] {
        let (tx, rx) = unbounded();
        let (btx, brx) = bounded(128);
        (0..count).for_each(|_| tx.send(value.clone()).unwrap());
        (0..count).for_each(|_| btx.try_send(value.clone()).unwrap());
        drop((rx.try_recv(), brx.try_recv()));
        assert_eq!(Arc::strong_count(&value), 2 * count.max(1) - 1);
        drop((rx, brx));
        assert_eq!(Arc::strong_count(&value), 1);
        assert!(tx.send(value.clone()).is_err());
    }
    let (tx, rx) = unbounded();
    (0..50).for_each(|_| assert!(tx.send(Bomb(value.clone())).is_ok()));
    assert!(catch_unwind(AssertUnwindSafe(|| drop(rx))).is_err());
    assert_eq!(Arc::strong_count(&value), 1);
    // Pushed out, and in an unread channel of the overwriting kind.
    let (tx, rx) = overwriting(3);
    (0..10).for_each(|_| drop(tx.send(value.clone())));
    assert_eq!(Arc::strong_count(&value), 4);
    drop((tx, rx));
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn values_of_any_size_cross_any_number_of_blocks() {
    fn cross<T: Clone + PartialEq + std::fmt::Debug + Send + 'static>(make: fn(usize) -> T) {
        let (tx, rx) = unbounded();
        let (btx, brx) = bounded(70);
        for burst in [1, 31, 32, 33, 64, 65, 500] {
            (0..burst).for_each(|i| tx.send(make(i)).unwrap());
            assert_eq!(rx.len(), burst);
            (0..burst).for_each(|i| assert_eq!(rx.try_recv(), Ok(make(i))));
            assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
            (0..burst.min(40)).for_each(|i| btx.try_send(make(i)).unwrap());
            (0..burst.min(40) - 1).for_each(|i| assert_eq!(brx.try_recv(), Ok(make(i))));
            let mut rest = Vec::new();
            assert_eq!(brx.try_recv_many(&mut rest, 9), Ok(1));
        }
        (0..70).for_each(|i| tx.send(make(i)).unwrap());
        // Never empty: across the end of the ring, again and again.
        (0..50).for_each(|i| btx.try_send(make(i)).unwrap());
        for i in 0..500 {
            btx.try_send(make(i + 50)).unwrap();
            assert_eq!(brx.try_recv(), Ok(make(i)));
        }
    }
    cross(|_| ());
    cross(|i| i as u8);
    cross(|i| format!("value {i}"));
    cross(|i| [i; 100]);
}

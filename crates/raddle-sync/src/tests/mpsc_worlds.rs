//! The channels of one receiver in company: against a model of a few lines under every sequence of
//! operations, with ten thousand that wait, and where positions wrap around.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use crate::mpsc::bounded::channel_at;
use crate::mpsc::{
    Receiver, SendError, Sender, Sending, TryRecvError, TrySendError, channel, unbounded_channel,
};
use crate::tests::sequences::every_sequence;
use crate::tests::support::{Event, Polled, hostile, now, watchdog};

/// What a channel with a bound is to a single thread.
struct World<'a> {
    tx: &'a Sender<u32>,
    rx: Receiver<u32>,
    sends: VecDeque<(u32, Polled<Sending<'a, u32>>)>,
    /// The model: values, the senders that wait, those that were given a place, room, the end.
    values: VecDeque<u32>,
    waiting: VecDeque<u32>,
    granted: Vec<u32>,
    capacity: usize,
    closed: bool,
    next: u32,
}

const OPERATIONS: usize = 7;

impl World<'_> {
    fn room(&self) -> usize {
        self.capacity - self.values.len() - self.granted.len()
    }

    /// Places that came back go to those who wait.
    fn settle(&mut self) {
        while self.room() > 0
            && let Some(first) = self.waiting.pop_front()
        {
            self.granted.push(first);
        }
    }

    fn step(&mut self, operation: usize) {
        self.next += 1;
        match operation {
            0 => self.try_send(),
            1 => self.send(),
            2 => self.try_recv(),
            3 => self.recv(),
            4 => self.poll_sender(),
            5 => self.drop_sender(),
            _ => self.close(),
        }
        assert_eq!(self.rx.len(), self.values.len());
        assert_eq!(self.tx.capacity(), self.room());
    }

    fn try_send(&mut self) {
        let expected = match (self.closed, self.room()) {
            (true, _) => Err(TrySendError::Closed(self.next)),
            (false, 0) => Err(TrySendError::Full(self.next)),
            _ => Ok(()),
        };
        assert_eq!(self.tx.try_send(self.next), expected);
        self.values.extend(expected.is_ok().then_some(self.next));
    }

    fn send(&mut self) {
        let mut send = Polled::new(self.tx.send(self.next));
        if self.closed {
            return assert_eq!(send.ready(), Err(SendError(self.next)));
        }
        if self.room() > 0 {
            self.values.push_back(self.next);
            return assert_eq!(send.ready(), Ok(()));
        }
        assert!(send.poll().is_pending());
        self.waiting.push_back(self.next);
        self.sends.push_back((self.next, send));
    }

    fn poll_sender(&mut self) {
        let Some((value, mut send)) = self.sends.pop_front() else { return };
        if let Some(i) = self.granted.iter().position(|other| *other == value) {
            self.granted.remove(i);
            self.values.push_back(value);
            return assert_eq!(send.ready(), Ok(()), "a place is still good after a close");
        }
        if self.closed {
            return assert_eq!(send.ready(), Err(SendError(value)));
        }
        assert!(send.poll().is_pending());
        self.sends.push_front((value, send));
    }

    fn drop_sender(&mut self) {
        let Some((value, send)) = self.sends.pop_back() else { return };
        drop(send);
        self.waiting.retain(|other| *other != value);
        self.granted.retain(|other| *other != value);
        self.settle();
    }

    fn nothing(&self) -> TryRecvError {
        let over = self.closed && self.granted.is_empty();
        if over { TryRecvError::Disconnected } else { TryRecvError::Empty }
    }

    fn try_recv(&mut self) {
        let expected = self.values.pop_front().ok_or(self.nothing());
        assert_eq!(self.rx.try_recv(), expected);
        self.settle();
    }

    fn recv(&mut self) {
        let expected = match self.values.pop_front().ok_or(self.nothing()) {
            Ok(value) => Poll::Ready(Some(value)),
            Err(TryRecvError::Disconnected) => Poll::Ready(None),
            Err(TryRecvError::Empty) => Poll::Pending,
        };
        assert_eq!(Polled::new(self.rx.recv()).poll(), expected);
        self.settle();
    }

    fn close(&mut self) {
        self.rx.close();
        self.closed = true;
        self.waiting.clear();
    }
}

#[test]
fn every_sequence_as_the_model() {
    watchdog(|| {
        for (capacity, length) in [(1, 5), (2, 5)] {
            every_sequence(OPERATIONS, length, |all| {
                let (tx, rx) = channel(capacity);
                let (values, waiting) = (VecDeque::new(), VecDeque::new());
                let (sends, granted, closed) = (VecDeque::new(), Vec::new(), false);
                let mut world = World {
                    tx: &tx,
                    rx,
                    sends,
                    values,
                    waiting,
                    granted,
                    capacity,
                    closed,
                    next: 0,
                };
                all.iter().for_each(|operation| world.step(*operation));
            });
        }
        // Without a bound: two senders, weak or strong, and the end.
        every_sequence(6, 5, |all| {
            let (tx, mut rx) = unbounded_channel();
            let (mut senders, mut values, mut closed) = (vec![tx], VecDeque::new(), false);
            for (i, operation) in all.iter().enumerate() {
                match operation {
                    0 if !senders.is_empty() => {
                        let expected = if closed { Err(SendError(i)) } else { Ok(()) };
                        assert_eq!(senders[0].send(i), expected);
                        values.extend(expected.is_ok().then_some(i));
                    }
                    1 => {
                        senders.extend(senders.first().map(|tx| tx.downgrade().upgrade().unwrap()))
                    }
                    2 => drop(senders.pop()),
                    3 => {
                        rx.close();
                        closed = true;
                    }
                    _ => {
                        let over = closed || senders.is_empty();
                        let none =
                            if over { TryRecvError::Disconnected } else { TryRecvError::Empty };
                        assert_eq!(rx.try_recv(), values.pop_front().ok_or(none));
                    }
                }
                assert_eq!(rx.len(), values.len());
                assert_eq!(rx.is_closed(), closed || senders.is_empty());
            }
        });
    });
}

#[test]
fn ten_thousand_senders_wait_and_are_served_in_order() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let (tx, mut rx) = channel(1);
    tx.try_send(usize::MAX).unwrap();
    let mut sends: Vec<_> = (0..10_000).map(|i| (i, Polled::new(tx.send(i)))).collect();
    for (number, send) in &mut sends {
        let (order, number) = (order.clone(), *number);
        let waker = hostile(move |event| {
            if event == Event::Wake {
                order.lock().unwrap().push(number);
            }
        });
        assert!(send.poll_with(&waker).is_pending());
    }
    sends.retain(|(number, _)| number % 7 != 3);
    assert_eq!(rx.try_recv(), Ok(usize::MAX));
    let (served, refused) = sends.split_at_mut(5_000);
    for (number, send) in served {
        assert_eq!(order.lock().unwrap().last(), Some(&*number));
        send.ready().unwrap();
        assert_eq!(rx.try_recv(), Ok(*number));
    }
    rx.close();
    // The first of the rest had been given the place.
    assert!(refused[0].1.ready().is_ok());
    assert!(refused[1..].iter_mut().rev().all(|(_, send)| send.ready().is_err()));
    let expected: Vec<_> = (0..10_000).filter(|number| number % 7 != 3).collect();
    assert_eq!(*order.lock().unwrap(), expected);
}

/// The tail of a channel with a bound has 32 bits less than a word, and wraps around in its life.
#[test]
fn positions_wrap_around() {
    for blocks in 1..6_u32 {
        let (tx, mut rx) = channel_at(70, (u32::MAX - 32 * blocks + 1) as usize);
        let (mut sent, mut received) = (0, 0);
        for burst in [3, 64, 1, 70, 33, 70, 70, 32] {
            (0..burst).for_each(|i| tx.try_send(sent + i).unwrap());
            sent += burst;
            assert_eq!((rx.len(), tx.capacity()), (burst, 70 - burst));
            let mut waiting = (burst == 70).then(|| Polled::pending(tx.send(sent)));
            for _ in 0..burst {
                assert_eq!(rx.try_recv(), Ok(received));
                received += 1;
            }
            if let Some(waiting) = &mut waiting {
                waiting.ready().unwrap();
                assert_eq!(now(rx.recv()), Some(sent));
                (sent, received) = (sent + 1, received + 1);
            }
            assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        }
        (0..50).for_each(|i| tx.try_send(i).unwrap());
    }
}

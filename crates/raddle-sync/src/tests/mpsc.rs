//! The channels: order, room, the end, what comes back, memory, hostile company, conservation.

use std::collections::{HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use raddle_base::random::Rng;
use raddle_base::wait::WakeBatch;

use crate::mpsc::{
    Receiver, SendError, Sender, Sending, TryRecvError, TrySendError, channel, unbounded_channel,
};
use crate::tests::support::{Polled, hostile, now, refusing, watchdog};
use crate::{Wait, block_on};

const MANY: usize = 3 * WakeBatch::CAPACITY + 1;

#[test]
fn values_arrive_in_order_and_then_the_end() {
    let (tx, mut rx) = channel(1000);
    let (utx, mut urx) = unbounded_channel();
    for i in 0..1000 {
        now(tx.send(i)).unwrap();
        utx.send(i).unwrap();
    }
    assert_eq!((rx.len(), urx.len()), (1000, 1000));
    drop((tx, utx));
    for i in 0..1000 {
        assert_eq!(now(rx.recv()), Some(i));
        assert_eq!(urx.try_recv(), Ok(i));
    }
    assert_eq!((now(rx.recv()), now(urx.recv())), (None, None));
    assert_eq!(urx.try_recv(), Err(TryRecvError::Disconnected));
    assert!(rx.is_closed() && urx.is_closed() && rx.is_empty() && urx.is_empty());
}

#[test]
fn a_waiting_receiver_is_woken_once_by_the_first_value() {
    let (tx, mut rx) = unbounded_channel();
    {
        let mut recv = Polled::pending(rx.recv());
        assert!(recv.poll().is_pending());
        tx.send(1).unwrap();
        tx.send(2).unwrap();
        assert_eq!(recv.wakes(), 1);
        assert_eq!(recv.ready(), Some(1));
    }
    assert_eq!(rx.try_recv(), Ok(2));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    let mut recv = Polled::pending(rx.recv());
    drop(tx);
    assert_eq!(recv.wakes(), 1);
    assert_eq!(recv.ready(), None);
}

#[test]
fn senders_wait_for_room_first_come_first_served() {
    let (tx, mut rx) = channel(1);
    tx.try_send(0).unwrap();
    assert_eq!(tx.try_send(9), Err(TrySendError::Full(9)));
    let mut all: Vec<_> = (1..=3).map(|i| Polled::pending(tx.send(i))).collect();
    for i in 0..=3 {
        assert_eq!(rx.try_recv(), Ok(i));
        if let Some(next) = all.get_mut(i) {
            assert_eq!(next.wakes(), 1);
            assert_eq!(tx.try_send(9), Err(TrySendError::Full(9)), "the room is the waiter's");
            next.ready().unwrap();
        }
    }
    assert_eq!((tx.capacity(), tx.max_capacity()), (1, 1));
}

#[test]
fn a_send_that_is_dropped_was_not_sent() {
    let (tx, mut rx) = channel(1);
    tx.try_send(0).unwrap();
    let value = Arc::new(());
    let waiting = Polled::pending(tx.send(1));
    let mut behind = Polled::pending(tx.send(2));
    drop(waiting);
    assert_eq!(rx.try_recv(), Ok(0));
    behind.ready().unwrap();
    // Granted, then dropped: the room goes to the next, the value with the future.
    let granted = Polled::pending(tx.send(3));
    let mut next = Polled::pending(tx.send(4));
    assert_eq!(rx.try_recv(), Ok(2));
    assert_eq!(granted.wakes(), 1);
    drop(granted);
    assert_eq!(next.wakes(), 1);
    next.ready().unwrap();
    assert_eq!(rx.try_recv(), Ok(4));
    let (tx, _rx) = channel(1);
    drop(tx.send(value.clone()));
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn places_are_reserved_used_and_given_back() {
    let (tx, mut rx) = channel(3);
    let one = now(tx.reserve()).unwrap();
    let owned = now(tx.clone().reserve_owned()).unwrap();
    let last = tx.try_reserve().unwrap();
    assert!(owned.same_channel_as_sender(&tx));
    assert_eq!(tx.capacity(), 0);
    assert_eq!(tx.try_reserve().unwrap_err(), TrySendError::Full(()));
    drop(last);
    one.send("one");
    let back = owned.send("owned");
    assert!(back.same_channel(&tx));
    assert_eq!(tx.capacity(), 1);
    assert_eq!((rx.try_recv(), rx.try_recv()), (Ok("one"), Ok("owned")));
    let sender = back.try_reserve_owned().unwrap().release();
    assert_eq!(sender.capacity(), 3);
    let mut many = now(tx.reserve_many(3)).unwrap();
    assert_eq!(many.len(), 3);
    many.next().unwrap().send("a");
    drop(many);
    assert_eq!(tx.capacity(), 2);
    assert_eq!(now(tx.reserve_many(4)).unwrap_err(), SendError(()));
    assert_eq!(tx.try_reserve_many(3).unwrap_err(), TrySendError::Full(()));
    let mut heavy = Polled::pending(tx.reserve_many(3));
    assert_eq!(rx.try_recv(), Ok("a"));
    assert_eq!(heavy.ready().unwrap().len(), 3);
}

#[test]
fn closing_drains_what_was_accepted_and_refuses_the_rest() {
    let (tx, mut rx) = channel(2);
    tx.try_send(1).unwrap();
    let place = tx.try_reserve().unwrap();
    let mut waiting: Vec<_> = (0..MANY).map(|i| Polled::pending(tx.send(10 + i))).collect();
    rx.close();
    assert!(tx.is_closed() && rx.is_closed());
    for (i, one) in waiting.iter_mut().enumerate() {
        assert_eq!(one.wakes(), 1);
        assert_eq!(one.ready(), Err(SendError(10 + i)), "the value comes back");
    }
    assert_eq!(tx.try_send(2), Err(TrySendError::Closed(2)));
    assert_eq!(now(tx.send(3)).unwrap_err().into_inner(), 3);
    assert!(now(tx.clone().reserve_owned()).is_err());
    assert_eq!(now(rx.recv()), Some(1));
    {
        let mut recv = Polled::pending(rx.recv());
        place.send(4);
        assert_eq!(recv.ready(), Some(4), "a reserved place is still good");
    }
    assert_eq!(now(rx.recv()), None);
    let (utx, mut urx) = unbounded_channel();
    utx.send(1).unwrap();
    urx.close();
    assert_eq!(utx.send(2), Err(SendError(2)));
    assert_eq!((now(urx.recv()), now(urx.recv())), (Some(1), None));
}

#[test]
fn the_end_waits_for_the_last_reserved_place() {
    let (tx, mut rx) = channel::<u8>(2);
    let (one, two) = (tx.try_reserve().unwrap(), now(tx.clone().reserve_owned()).unwrap());
    rx.close();
    let mut recv = Polled::pending(rx.recv());
    drop(one);
    assert!(recv.poll().is_pending());
    drop(two);
    assert!(recv.wakes() >= 1);
    assert_eq!(recv.ready(), None);
    // A granted wait for room counts as a place, until it is dropped.
    let (tx, mut rx) = channel(1);
    tx.try_send(1).unwrap();
    let granted = Polled::pending(tx.reserve());
    assert_eq!(rx.try_recv(), Ok(1));
    rx.close();
    let mut recv = Polled::pending(rx.recv());
    drop(granted);
    assert_eq!(recv.wakes(), 1);
    assert_eq!(recv.ready(), None);
}

#[test]
fn a_dropped_receiver_wakes_and_refuses_and_drops_once() {
    let value = Arc::new(());
    let (tx, rx) = channel(1);
    tx.try_send(value.clone()).unwrap();
    let mut waiting = Polled::pending(tx.send(value.clone()));
    let mut closed = Polled::pending(tx.closed());
    drop(rx);
    assert_eq!((waiting.wakes(), closed.wakes()), (1, 1));
    closed.ready();
    now(tx.closed());
    assert_eq!(Arc::strong_count(&value), 2, "the queued one is gone");
    drop(waiting.ready().unwrap_err());
    assert_eq!(Arc::strong_count(&value), 1);
    // A place reserved before: the value has nowhere to go, and is dropped.
    let (tx, rx) = channel(1);
    let place = tx.try_reserve().unwrap();
    drop(rx);
    place.send(value.clone());
    assert_eq!(Arc::strong_count(&value), 1);
    assert_eq!(tx.capacity(), 1);
}

#[test]
fn values_that_use_the_channel_in_their_destructor() {
    struct Echo(Sender<Option<Box<Echo>>>);
    impl Drop for Echo {
        fn drop(&mut self) {
            let _ = self.0.try_send(None);
            assert!(self.0.is_closed());
        }
    }
    watchdog(|| {
        let (tx, rx) = channel(2);
        assert!(tx.try_send(Some(Box::new(Echo(tx.clone())))).is_ok());
        drop(rx);
        assert!(tx.is_closed());
    });
}

#[test]
fn weak_senders_do_not_keep_the_channel_open() {
    let (tx, mut rx) = channel::<u8>(1);
    let weak = tx.downgrade();
    let other = weak.clone();
    assert_eq!((tx.strong_count(), tx.weak_count()), (1, 2));
    let second = weak.upgrade().unwrap();
    assert_eq!(rx.sender_strong_count(), 2);
    drop((tx, second));
    assert_eq!(now(rx.recv()), None);
    assert!(weak.upgrade().is_none());
    drop(other);
    assert_eq!(rx.sender_weak_count(), 1);
    let (tx, mut rx) = unbounded_channel::<u8>();
    let weak = tx.downgrade();
    drop(tx);
    assert!(weak.upgrade().is_none());
    assert_eq!(now(rx.recv()), None);
}

#[test]
fn many_at_once() {
    let (tx, mut rx) = channel(200);
    for i in 0..150 {
        tx.try_send(i).unwrap();
    }
    let mut buffer = Vec::new();
    assert_eq!(now(rx.recv_many(&mut buffer, 0)), 0);
    assert_eq!(now(rx.recv_many(&mut buffer, 100)), 100);
    assert_eq!(tx.capacity(), 150);
    assert_eq!(now(rx.recv_many(&mut buffer, 100)), 50);
    assert_eq!(buffer, (0..150).collect::<Vec<_>>());
    {
        let mut more = Polled::pending(rx.recv_many(&mut buffer, 10));
        tx.try_send(150).unwrap();
        assert_eq!(more.ready(), 1);
    }
    drop(tx);
    assert_eq!(rx.blocking_recv_many(&mut buffer, 10), 0);
}

#[test]
fn blocking_forms_between_threads() {
    watchdog(|| {
        let (tx, mut rx) = channel(2);
        let threads: Vec<_> = (0..4)
            .map(|id| {
                let tx = tx.clone();
                std::thread::spawn(move || {
                    (0..1000).for_each(|i| tx.blocking_send((id, i)).unwrap())
                })
            })
            .collect();
        drop(tx);
        let mut next = [0; 4];
        while let Some((id, i)) = rx.blocking_recv() {
            assert_eq!(next[id], i, "values of one sender keep their order");
            next[id] += 1;
        }
        assert_eq!(next, [1000; 4]);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn hostile_wakers_may_do_anything() {
    watchdog(|| {
        let (tx, rx) = channel::<u32>(1);
        let rx = Arc::new(Mutex::new(Some(rx)));
        let act = {
            let (tx, rx) = (tx.clone(), Arc::downgrade(&rx));
            move || {
                let _ = tx.try_send(1);
                let _ = Polled::new(tx.send(2)).poll();
                drop(Polled::new(tx.reserve()).poll_with(Waker::noop()));
                let Some(shared) = rx.upgrade() else { return };
                // Out of the lock while it is used: the wakers below come back here.
                let taken = shared.try_lock().ok().and_then(|mut guard| guard.take());
                if let Some(mut rx) = taken {
                    let _ = rx.try_recv();
                    let _ = rx.poll_recv(&mut std::task::Context::from_waker(Waker::noop()));
                    if let Ok(mut guard) = shared.try_lock() {
                        *guard = Some(rx);
                    }
                }
            }
        };
        let act = Arc::new(act);
        let make = || {
            let act = act.clone();
            hostile(move |_| act())
        };
        for _ in 0..3 {
            let mut sends: Vec<_> = (0..3).map(|i| Polled::new(tx.send(i))).collect();
            for one in &mut sends {
                if one.poll_with(&make()).is_pending() {
                    let _ = one.poll_with(&make());
                }
            }
            let taken = rx.lock().unwrap().take();
            if let Some(mut own) = taken {
                let _ = own.poll_recv(&mut std::task::Context::from_waker(&make()));
                let _ = own.poll_recv(&mut std::task::Context::from_waker(&make()));
                let _ = tx.try_send(7);
                *rx.lock().unwrap() = Some(own);
            }
            drop(sends);
        }
        let own = rx.lock().unwrap().take();
        let mut last = Polled::new(tx.send(8));
        let _ = last.poll_with(&make());
        drop(own);
    });
}

#[test]
fn a_panicking_waker_strands_nobody() {
    let (tx, rx) = channel(1);
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
    for one in &mut after {
        assert_eq!(one.wakes(), 1);
        assert!(one.ready().is_err());
    }
    assert_eq!(also.wakes(), 1, "the second group is told although the first one failed");
    also.ready();
}

/// Random operations with cancels: what was sent is received, in order, once; never more than the
/// bound; nobody waits for free room.
#[test]
fn values_are_conserved() {
    for capacity in [1, 2, 8] {
        for seed in 0..40 {
            conserve(capacity, &mut Rng::new(seed));
        }
    }
}

struct World<'a> {
    rx: Receiver<u32>,
    sends: Vec<(u32, Polled<Sending<'a, u32>>)>,
    accepted: VecDeque<u32>,
    refused: HashSet<u32>,
}

fn conserve(capacity: usize, rng: &mut Rng) {
    let (tx, rx) = channel::<u32>(capacity);
    let mut world =
        World { rx, sends: Vec::new(), accepted: VecDeque::new(), refused: HashSet::new() };
    let mut received = HashSet::new();
    let close_at = rng.below(400);
    for step in 0..400 {
        world.step(&tx, step, rng, &mut received);
        assert!(world.rx.len() <= capacity);
        assert!(world.rx.len() + tx.capacity() <= capacity);
        if step == close_at {
            world.rx.close();
        }
    }
    for (value, _) in world.sends.drain(..) {
        world.refused.insert(value);
    }
    while let Ok(value) = world.rx.try_recv() {
        assert_eq!(world.accepted.pop_front(), Some(value));
        assert!(received.insert(value));
    }
    assert_eq!(world.accepted.len(), 0, "all that was accepted arrived");
    assert!(received.is_disjoint(&world.refused));
    assert_eq!(world.rx.try_recv(), Err(TryRecvError::Disconnected));
    assert_eq!(tx.capacity(), capacity, "no room was lost");
}

impl<'a> World<'a> {
    fn step(&mut self, tx: &'a Sender<u32>, id: u32, rng: &mut Rng, received: &mut HashSet<u32>) {
        match rng.below(6) {
            0 => self.sends.push((id, Polled::new(tx.send(id)))),
            1 => match tx.try_send(id) {
                Ok(()) => self.accepted.push_back(id),
                Err(error) => assert!(self.refused.insert(error.into_inner())),
            },
            2 | 3 if !self.sends.is_empty() => {
                let i = rng.below(self.sends.len() as u32) as usize;
                if let Poll::Ready(result) = self.sends[i].1.poll() {
                    let (value, _) = self.sends.swap_remove(i);
                    match result {
                        Ok(()) => self.accepted.push_back(value),
                        Err(SendError(back)) => assert!(self.refused.insert(back)),
                    }
                }
            }
            4 if !self.sends.is_empty() => {
                let i = rng.below(self.sends.len() as u32) as usize;
                let (value, send) = self.sends.swap_remove(i);
                drop(send);
                self.refused.insert(value);
            }
            _ => {
                if let Ok(value) = self.rx.try_recv() {
                    assert_eq!(self.accepted.pop_front(), Some(value), "order is kept");
                    assert!(received.insert(value));
                }
            }
        }
    }
}

#[test]
fn ends_are_send_sync_and_unpin() {
    fn all<T: Send + Sync + Unpin>(_: &T) {}
    fn future<T: Send + Sync>(_: &T) {}
    let (tx, mut rx) = channel::<std::cell::Cell<u8>>(1);
    all(&tx);
    all(&rx);
    all(&rx.recv());
    future(&tx.reserve());
    future(&tx.send(std::cell::Cell::new(1)));
    future(&tx.clone().reserve_owned());
    assert_eq!(block_on(async { tx.send(std::cell::Cell::new(2)).await }), Ok(()));
    assert_eq!(rx.recv().wait(), Some(std::cell::Cell::new(2)));
}

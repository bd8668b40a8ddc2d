//! The channels of many receivers: order, room, promises, the end, what comes back.

use std::sync::Arc;

use raddle_base::wait::WakeBatch;

use crate::mpmc::{
    RecvError, SendError, TryRecvError, TrySendError, bounded, overwriting, rendezvous, unbounded,
};
use crate::tests::support::{Polled, now};

const MANY: usize = 3 * WakeBatch::CAPACITY + 1;

#[test]
fn values_arrive_in_order_and_then_the_end() {
    let (tx, rx) = bounded(1000);
    let (utx, urx) = unbounded();
    for i in 0..1000 {
        now(tx.send(i)).unwrap();
        utx.send(i).unwrap();
    }
    assert_eq!((rx.len(), urx.len(), tx.len(), tx.is_full()), (1000, 1000, 1000, true));
    drop((tx, utx));
    let other = rx.clone();
    for i in 0..1000 {
        assert_eq!(now(if i % 2 == 0 { rx.recv() } else { other.recv() }), Ok(i));
        assert_eq!(urx.try_recv(), Ok(i));
    }
    assert_eq!(now(rx.recv()), Err(RecvError::Disconnected));
    assert_eq!(urx.try_recv(), Err(TryRecvError::Disconnected));
    assert!(rx.is_closed() && urx.is_closed() && rx.is_empty() && urx.is_empty());
}

#[test]
fn receivers_wait_first_come_first_served_and_cannot_be_robbed() {
    let (tx, rx) = bounded(4);
    let mut waits: Vec<_> = (0..3).map(|_| Polled::pending(rx.recv())).collect();
    for i in 0..3 {
        tx.try_send(i).unwrap();
        assert_eq!(waits.iter().map(Polled::wakes).sum::<usize>(), i + 1);
        assert_eq!(waits[i].wakes(), 1);
    }
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty), "all values are promised");
    let mut late = Polled::pending(rx.recv());
    // The order in which they come is the order of the values.
    assert_eq!(waits[2].ready(), Ok(0));
    assert_eq!(waits[0].ready(), Ok(1));
    tx.try_send(3).unwrap();
    assert_eq!(waits[1].ready(), Ok(2));
    assert_eq!(late.ready(), Ok(3));
}

#[test]
fn a_promise_passes_on_and_the_order_stays() {
    let (tx, rx) = bounded(4);
    let first = Polled::pending(rx.recv());
    let mut second = Polled::pending(rx.recv());
    let mut third = Polled::pending(rx.recv());
    tx.try_send(1).unwrap();
    tx.try_send(2).unwrap();
    assert_eq!((first.wakes(), second.wakes(), third.wakes()), (1, 1, 0));
    drop(first);
    assert_eq!(third.wakes(), 1);
    assert_eq!((second.ready(), third.ready()), (Ok(1), Ok(2)));
    // With nobody else in line it is anybody's, still in its place.
    let only = Polled::pending(rx.recv());
    tx.try_send(3).unwrap();
    tx.try_send(4).unwrap();
    drop(only);
    assert_eq!((rx.try_recv(), rx.try_recv()), (Ok(3), Ok(4)));
}

#[test]
fn senders_wait_for_room_first_come_first_served() {
    let (tx, rx) = bounded(1);
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
    assert!(rx.is_empty() && !tx.is_full());
    assert_eq!((tx.capacity(), rx.capacity()), (1, 1));
}

#[test]
fn a_send_that_is_dropped_has_one_outcome() {
    let (tx, rx) = bounded(1);
    let value = Arc::new(1);
    tx.try_send(Arc::new(0)).unwrap();
    let waiting = Polled::pending(tx.send(value.clone()));
    drop(waiting);
    assert_eq!(Arc::strong_count(&value), 1, "dropped with the future");
    let mut back = Polled::pending(tx.send(value.clone()));
    assert_eq!(back.future.as_mut().take_back(), Some(value.clone()));
    let mut taken = Polled::pending(tx.send(value.clone()));
    assert_eq!(rx.try_recv(), Ok(Arc::new(0)));
    assert_eq!(taken.future.as_mut().take_back(), None, "it was sent");
    drop(taken);
    drop(Polled::pending(tx.send(Arc::new(2))));
    assert_eq!(rx.try_recv(), Ok(value.clone()));
    assert!(rx.is_empty());
    drop(tx.send(value.clone()));
    assert_eq!(Arc::strong_count(&value), 1, "never polled, never sent");
}

#[test]
fn a_rendezvous_is_over_when_the_value_is_taken() {
    let (tx, rx) = rendezvous();
    assert_eq!(tx.try_send(0), Err(TrySendError::Full(0)));
    let mut send = Polled::pending(tx.send(1));
    assert_eq!((rx.len(), rx.try_recv()), (0, Ok(1)));
    assert_eq!(send.wakes(), 1);
    send.ready().unwrap();
    let mut recv = Polled::pending(rx.recv());
    let mut send = Polled::pending(tx.send(2));
    assert_eq!(recv.wakes(), 1);
    assert!(send.poll().is_pending(), "promised is not taken");
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty), "it is promised");
    assert_eq!(recv.ready(), Ok(2));
    send.ready().unwrap();
    // Taken back after it was promised: the receiver is the next again.
    let mut recv = Polled::pending(rx.recv());
    let behind = Polled::pending(rx.recv());
    let mut send = Polled::pending(tx.send(3));
    assert_eq!(send.future.as_mut().take_back(), Some(3));
    assert_eq!(recv.wakes(), 1);
    assert!(recv.poll().is_pending());
    tx.try_send(4).unwrap();
    assert_eq!((recv.wakes(), behind.wakes()), (2, 0));
    assert_eq!(recv.ready(), Ok(4));
    // Handed to a receiver that goes: the next one gets it.
    tx.try_send(5).unwrap();
    assert_eq!(behind.wakes(), 1);
    let mut next = Polled::pending(rx.recv());
    drop(behind);
    assert_eq!(next.ready(), Ok(5));
    assert_eq!(tx.try_send(6), Err(TrySendError::Full(6)));
}

#[test]
fn a_rendezvous_takes_any_number_of_values_for_receivers_that_wait() {
    let (tx, rx) = rendezvous();
    let mut waits: Vec<_> = (0..100).map(|_| Polled::pending(rx.recv())).collect();
    (0..100).for_each(|i| tx.try_send(i).unwrap());
    assert_eq!(tx.try_send(100), Err(TrySendError::Full(100)));
    for (i, wait) in waits.iter_mut().enumerate() {
        assert_eq!(wait.ready(), Ok(i));
    }
    let mut sends: Vec<_> = (0..MANY).map(|i| Polled::pending(tx.send(i))).collect();
    let mut buffer = Vec::new();
    while buffer.len() < MANY {
        assert!(rx.try_recv_many(&mut buffer, MANY).unwrap() > 0);
    }
    assert_eq!(buffer, (0..MANY).collect::<Vec<_>>());
    sends.iter_mut().for_each(|send| send.ready().unwrap());
}

#[test]
fn the_oldest_is_pushed_out() {
    let (tx, rx) = overwriting(2);
    assert_eq!((tx.send(1), tx.send(2)), (Ok(None), Ok(None)));
    assert!(tx.is_full());
    assert_eq!((tx.send(3), tx.send(4)), (Ok(Some(1)), Ok(Some(2))));
    assert_eq!(rx.try_recv(), Ok(3));
    let mut buffer = Vec::new();
    assert_eq!((now(rx.recv_many(&mut buffer, 9)), &buffer[..]), (Ok(1), &[4][..]));
    // A promised value may be pushed out as well: the newer one is taken instead.
    let mut wait = Polled::pending(rx.recv());
    (5..9).for_each(|i| assert!(tx.send(i).is_ok()));
    assert_eq!((wait.wakes(), wait.ready()), (1, Ok(7)));
    tx.close();
    assert_eq!(tx.send(9), Err(SendError::Closed(9)));
    assert_eq!((rx.try_recv(), rx.try_recv()), (Ok(8), Err(TryRecvError::Closed)));
    let (tx, rx) = bounded(2);
    let place = tx.try_reserve().unwrap();
    assert_eq!((tx.force_send(1), tx.force_send(2)), (Ok(None), Ok(Some(1))));
    let second = {
        assert_eq!(rx.try_recv(), Ok(2));
        tx.try_reserve().unwrap()
    };
    assert_eq!(tx.force_send(3), Err(TrySendError::Full(3)), "all places are reserved");
    place.send(4);
    let mut waiting = Polled::pending(tx.send(5));
    assert_eq!(tx.force_send(6), Ok(Some(4)));
    drop(second);
    waiting.ready().unwrap();
    assert_eq!((rx.try_recv(), rx.try_recv()), (Ok(6), Ok(5)));
}

#[test]
fn places_are_reserved_used_and_given_back() {
    let (tx, rx) = bounded(3);
    let one = now(tx.reserve()).unwrap();
    let owned = now(tx.clone().reserve_owned()).unwrap();
    let last = tx.try_reserve().unwrap();
    assert!(owned.same_channel_as_sender(&tx) && tx.is_full());
    assert_eq!(tx.try_reserve().unwrap_err(), TrySendError::Full(()));
    assert!(matches!(tx.clone().try_reserve_owned(), Err(TrySendError::Full(_))));
    let mut waiting = Polled::pending(tx.reserve());
    let mut behind = Polled::pending(tx.send("sent"));
    drop(last);
    assert_eq!((waiting.wakes(), behind.wakes()), (1, 0));
    let last = waiting.ready().unwrap();
    one.send("one");
    let back = owned.send("owned");
    assert!(back.same_channel(&tx));
    drop(last);
    behind.ready().unwrap();
    assert_eq!((rx.try_recv(), rx.try_recv(), rx.try_recv()), (Ok("one"), Ok("owned"), Ok("sent")));
    let sender = back.try_reserve_owned().unwrap().release();
    assert_eq!((sender.sender_count(), tx.is_empty()), (2, true));
    // Granted, then dropped: the place goes to the next.
    let places: Vec<_> = (0..3).map(|_| tx.try_reserve().unwrap()).collect();
    let granted = Polled::pending(tx.reserve());
    let mut next = Polled::pending(tx.clone().reserve_owned());
    drop(places);
    drop(granted);
    drop(next.ready().unwrap());
    assert!((0..3).map(|_| tx.try_reserve()).collect::<Vec<_>>().iter().all(Result::is_ok));
}

#[test]
fn closing_drains_what_was_accepted_and_refuses_the_rest() {
    for by_sender in [true, false] {
        let (tx, rx) = bounded(2);
        tx.try_send(1).unwrap();
        let place = tx.try_reserve().unwrap();
        let mut waiting: Vec<_> = (0..MANY).map(|i| Polled::pending(tx.send(10 + i))).collect();
        let (mut tx_closed, mut rx_closed) =
            (Polled::pending(tx.closed()), Polled::pending(rx.closed()));
        assert!(if by_sender { tx.close() } else { rx.close() });
        assert!(!tx.close() && !rx.close() && tx.is_closed() && rx.is_closed());
        tx_closed.ready();
        rx_closed.ready();
        for (i, one) in waiting.iter_mut().enumerate() {
            assert_eq!(one.wakes(), 1);
            assert_eq!(one.ready(), Err(SendError::Closed(10 + i)), "the value comes back");
        }
        assert_eq!(tx.try_send(2), Err(TrySendError::Closed(2)));
        assert_eq!(tx.force_send(2), Err(TrySendError::Closed(2)));
        assert_eq!(now(tx.send(3)).unwrap_err().into_inner(), 3);
        assert_eq!(now(tx.reserve()).unwrap_err(), SendError::Closed(()));
        assert!(now(tx.clone().reserve_owned()).is_err());
        assert_eq!(now(rx.recv()), Ok(1));
        let mut recv = Polled::pending(rx.recv());
        let mut all: Vec<_> = (0..MANY).map(|_| Polled::pending(rx.recv())).collect();
        place.send(4);
        assert_eq!(recv.ready(), Ok(4), "a reserved place is still good");
        for one in &mut all {
            assert_eq!((one.wakes(), one.ready()), (1, Err(RecvError::Closed)));
        }
        assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
    }
    let (tx, rx) = unbounded();
    tx.send(1).unwrap();
    rx.close();
    assert_eq!(tx.send(2), Err(SendError::Closed(2)));
    assert_eq!((now(rx.recv()), now(rx.recv())), (Ok(1), Err(RecvError::Closed)));
    let (tx, rx) = rendezvous();
    let mut recv = Polled::pending(rx.recv());
    let mut send = Polled::pending(tx.send(1));
    tx.close();
    assert_eq!(send.ready(), Err(SendError::Closed(1)));
    assert_eq!(recv.ready(), Err(RecvError::Closed), "what it was promised went back");
}

#[test]
fn the_end_waits_for_the_last_reserved_place_and_the_last_promise() {
    let (tx, rx) = bounded::<u8>(2);
    let (one, two) = (tx.try_reserve().unwrap(), now(tx.clone().reserve_owned()).unwrap());
    tx.close();
    let mut recv = Polled::pending(rx.recv());
    drop(one);
    assert!(recv.poll().is_pending());
    drop(two);
    assert_eq!((recv.wakes(), recv.ready()), (1, Err(RecvError::Closed)));
    let (tx, rx) = bounded(2);
    let promised = Polled::pending(rx.recv());
    let mut behind = Polled::pending(rx.recv());
    let mut last = Polled::pending(rx.recv());
    tx.try_send(1).unwrap();
    drop(tx);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty), "not the end: the value may come free");
    drop(promised);
    assert_eq!(behind.ready(), Ok(1));
    assert_eq!((last.wakes(), last.ready()), (1, Err(RecvError::Disconnected)));
}

#[test]
fn the_last_receiver_wakes_and_refuses_and_drops_once() {
    let value = Arc::new(());
    let (tx, rx) = bounded(1);
    let other = rx.clone();
    assert_eq!((tx.receiver_count(), rx.sender_count()), (2, 1));
    tx.try_send(value.clone()).unwrap();
    let mut waiting = Polled::pending(tx.send(value.clone()));
    let mut closed = Polled::pending(tx.closed());
    let place = {
        let (tx, rx) = bounded(1);
        let place = tx.clone().try_reserve_owned().unwrap();
        drop(rx);
        place
    };
    drop(rx);
    assert!(!tx.is_closed());
    drop(other);
    assert_eq!((waiting.wakes(), closed.wakes(), tx.is_closed()), (1, 1, true));
    closed.ready();
    assert_eq!(Arc::strong_count(&value), 2, "the queued one is gone");
    assert!(matches!(waiting.ready(), Err(SendError::Disconnected(_))));
    assert!(matches!(tx.try_send(value.clone()), Err(TrySendError::Disconnected(_))));
    // A place reserved before: the value has nowhere to go, and is dropped.
    drop(place.send(value.clone()));
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn weak_ends_do_not_keep_the_channel_open() {
    let (tx, rx) = bounded::<u8>(1);
    let (weak_tx, weak_rx) = (tx.downgrade(), rx.downgrade());
    let second = weak_tx.clone().upgrade().unwrap();
    assert!(second.same_channel(&tx) && weak_rx.upgrade().unwrap().same_channel(&rx));
    drop((tx, second));
    assert!(weak_tx.upgrade().is_none());
    assert_eq!(now(rx.recv()), Err(RecvError::Disconnected));
    drop(rx);
    assert!(weak_rx.clone().upgrade().is_none());
}

#[test]
fn many_at_once() {
    let (tx, rx) = bounded(200);
    (0..150).for_each(|i| tx.try_send(i).unwrap());
    let mut buffer = Vec::new();
    assert_eq!(
        (now(rx.recv_many(&mut buffer, 0)), rx.try_recv_many(&mut buffer, 0)),
        (Ok(0), Ok(0))
    );
    assert_eq!(now(rx.recv_many(&mut buffer, 100)), Ok(100));
    assert_eq!(rx.try_recv_many(&mut buffer, 100), Ok(50));
    assert_eq!(buffer, (0..150).collect::<Vec<_>>());
    {
        let mut more = Polled::pending(rx.recv_many(&mut buffer, 10));
        (150..153).for_each(|i| tx.try_send(i).unwrap());
        assert_eq!((more.wakes(), more.ready()), (1, Ok(3)));
    }
    drop(tx);
    assert_eq!(rx.try_recv_many(&mut buffer, 10), Err(TryRecvError::Disconnected));
    assert_eq!(rx.blocking_recv_many(&mut buffer, 10), Err(RecvError::Disconnected));
    // Room that a batch makes goes to those who wait.
    let (tx, rx) = bounded(MANY);
    (0..MANY).for_each(|i| tx.try_send(i).unwrap());
    let mut waiting: Vec<_> = (0..MANY).map(|i| Polled::pending(tx.send(i))).collect();
    buffer.clear();
    assert_eq!(rx.try_recv_many(&mut buffer, MANY), Ok(MANY));
    assert!(waiting.iter_mut().all(|one| one.wakes() == 1 && one.poll().is_ready()));
    assert_eq!(rx.len(), MANY);
}

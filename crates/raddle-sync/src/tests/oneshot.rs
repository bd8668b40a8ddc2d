//! The oneshot channel: every order of events on one thread, hostile wakers, and threads.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use crate::oneshot::{Receiver, RecvError, Sender, TryRecvError, channel};
use crate::tests::support::{Counter, Event, Polled, hostile, refusing, watchdog};
use crate::{Wait, block_on};

/// A value whose drops are counted.
struct Tracked(Arc<()>);

fn tracked() -> (Tracked, Arc<()>) {
    let count = Arc::new(());
    (Tracked(count.clone()), count)
}

#[test]
fn sends_before_and_after_the_wait() {
    let (tx, rx) = channel();
    tx.send(7).unwrap();
    assert_eq!(block_on(rx), Ok(7));
    let (tx, rx) = channel();
    let mut rx = Polled::pending(rx);
    tx.send(8).unwrap();
    assert_eq!(rx.wakes(), 1);
    assert_eq!(rx.ready(), Ok(8));
    let (tx, mut rx) = channel();
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    assert!(rx.is_empty());
    tx.send(9).unwrap();
    assert!(!rx.is_empty());
    assert_eq!(rx.try_recv(), Ok(9));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
    assert!(rx.is_terminated());
}

#[test]
fn a_dropped_sender_is_told() {
    let (tx, rx) = channel::<u8>();
    let mut rx = Polled::pending(rx);
    drop(tx);
    assert_eq!(rx.wakes(), 1);
    let error: RecvError = rx.ready().unwrap_err();
    assert_eq!(error.to_string(), "the sender was dropped without sending");
    let (tx, mut rx) = channel::<u8>();
    drop(tx);
    assert!(rx.is_empty());
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
}

#[test]
fn a_dropped_receiver_gives_the_value_back() {
    let (tx, rx) = channel();
    drop(rx);
    assert!(tx.is_closed());
    let (value, count) = tracked();
    let value = tx.send(value).map_err(|value| value.0).unwrap_err();
    assert_eq!(Arc::strong_count(&count), 2);
    drop(value);
    // Sent, never taken: dropped with the receiver, once.
    let (tx, rx) = channel();
    let (value, count) = tracked();
    tx.send(value).map_err(|_| ()).unwrap();
    assert_eq!(Arc::strong_count(&count), 2);
    drop(rx);
    assert_eq!(Arc::strong_count(&count), 1);
}

#[test]
fn closing_lets_a_sent_value_through_and_no_later_one() {
    let (tx, mut rx) = channel();
    tx.send(1).unwrap();
    rx.close();
    rx.close();
    assert_eq!(rx.try_recv(), Ok(1));
    let (tx, mut rx) = channel();
    rx.close();
    assert_eq!(tx.send(2), Err(2));
    assert!(rx.is_empty());
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
    let (tx, mut rx) = channel::<u8>();
    rx.close();
    assert!(Polled::new(rx).ready().is_err(), "a closed receiver does not wait");
    drop(tx);
}

#[test]
fn the_sender_can_wait_for_the_end() {
    for close in [false, true] {
        let (mut tx, mut rx) = channel::<u8>();
        let counter = Counter::new();
        let waker = Waker::from(counter.clone());
        let mut cx = Context::from_waker(&waker);
        assert!(tx.poll_closed(&mut cx).is_pending());
        assert!(tx.poll_closed(&mut cx).is_pending());
        assert!(tx.poll_closed(&mut Context::from_waker(Waker::noop())).is_pending());
        assert!(tx.poll_closed(&mut cx).is_pending());
        if close {
            rx.close();
        } else {
            drop(rx);
        }
        assert_eq!(counter.count(), 1);
        tx.closed().wait();
        drop(tx);
        drop(waker);
        assert_eq!(Arc::strong_count(&counter), 1);
    }
}

#[test]
fn wakers_are_replaced_and_released() {
    let (mut tx, rx) = channel::<u8>();
    let mut rx = Polled::pending(rx);
    let other = Counter::new();
    assert!(rx.poll_with(&Waker::from(other.clone())).is_pending());
    assert_eq!(Arc::strong_count(&rx.counter), 1, "the old waker is gone");
    let sender = Counter::new();
    let waker = Waker::from(sender.clone());
    assert!(tx.poll_closed(&mut Context::from_waker(&waker)).is_pending());
    drop(waker);
    tx.send(1).unwrap();
    assert_eq!((rx.wakes(), other.count()), (0, 1));
    assert_eq!(Arc::strong_count(&sender), 1, "the sender's waker went with it");
    assert_eq!(rx.ready(), Ok(1));
    let (tx, rx) = channel::<u8>();
    let rx = Polled::pending(rx);
    let counter = rx.counter.clone();
    drop(rx);
    assert_eq!((counter.count(), Arc::strong_count(&counter)), (0, 1));
    drop(tx);
}

#[test]
#[should_panic(expected = "after its outcome")]
fn polling_after_the_outcome_panics() {
    let (tx, rx) = channel();
    tx.send(1).unwrap();
    let mut rx = Polled::new(rx);
    rx.ready().unwrap();
    let _ = rx.poll();
}

type Halves = Arc<Mutex<(Option<Sender<u8>>, Option<Pin<Box<Receiver<u8>>>>)>>;

/// Takes one half out of the shared pair, so that no lock is held while it is used.
fn act(halves: &Halves, event: Event) {
    let Ok(mut guard) = halves.try_lock() else { return };
    let (tx, rx) = (guard.0.take(), guard.1.take());
    drop(guard);
    if let Some(tx) = tx {
        let _ = tx.send(event as u8);
    }
    if let Some(mut rx) = rx {
        rx.close();
        let _ = rx.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    }
}

#[test]
fn hostile_wakers_may_do_anything() {
    watchdog(|| {
        for trigger in [Event::Clone, Event::Wake, Event::Drop] {
            for side in 0..2 {
                let halves: Halves = Arc::default();
                let waker = hostile({
                    let halves = halves.clone();
                    move |event| {
                        if event == trigger {
                            act(&halves, event);
                        }
                    }
                });
                let (mut tx, rx) = channel();
                let mut rx = Box::pin(rx);
                if side == 0 {
                    *halves.lock().unwrap() = (Some(tx), None);
                    let polled = rx.as_mut().poll(&mut Context::from_waker(&waker));
                    if polled.is_pending() {
                        let _ = rx.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                    }
                    act(&halves, Event::Wake);
                } else {
                    *halves.lock().unwrap() = (None, Some(rx));
                    let _ = tx.poll_closed(&mut Context::from_waker(&waker));
                    let _ = tx.poll_closed(&mut Context::from_waker(Waker::noop()));
                    act(&halves, Event::Wake);
                }
            }
        }
    });
}

#[test]
fn both_halves_work_from_inside_a_wake() {
    let (tx, rx) = channel();
    let halves: Halves = Arc::new(Mutex::new((None, None)));
    let mut rx = Box::pin(rx);
    let waker = hostile({
        let halves = halves.clone();
        move |event| {
            if event == Event::Wake {
                act(&halves, event);
            }
        }
    });
    assert!(rx.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    halves.lock().unwrap().1 = Some(rx);
    tx.send(3).unwrap();
    assert!(halves.lock().unwrap().1.is_none(), "the waker received and dropped the receiver");
}

#[test]
fn a_panicking_waker_leaves_both_halves_whole() {
    let (tx, rx) = channel();
    let mut rx = Polled::new(rx);
    assert!(rx.poll_with(&refusing()).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| tx.send(1))).is_err());
    assert_eq!(rx.ready(), Ok(1), "the value had been handed over");
    for close in [false, true] {
        let (mut tx, rx) = channel::<u8>();
        assert!(tx.poll_closed(&mut Context::from_waker(&refusing())).is_pending());
        let mut slot = Some(rx);
        let panicked = catch_unwind(AssertUnwindSafe(|| match close {
            true => slot.as_mut().unwrap().close(),
            false => drop(slot.take()),
        }));
        assert!(panicked.is_err());
        if let Some(mut rx) = slot {
            assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
        }
        assert_eq!(tx.send(2), Err(2));
    }
}

#[test]
fn threads_exchange_values() {
    const ROUNDS: u32 = if cfg!(miri) { 50 } else { 3_000 };
    watchdog(|| {
        for round in 0..ROUNDS {
            let (tx, rx) = channel();
            let (back_tx, back_rx) = channel();
            let thread = std::thread::spawn(move || {
                let value: u32 = rx.blocking_recv().unwrap();
                back_tx.send(value + 1).unwrap();
            });
            tx.send(round).unwrap();
            assert_eq!(back_rx.wait(), Ok(round + 1));
            thread.join().unwrap();
        }
    });
}

#[test]
fn racing_ends_drop_the_value_once() {
    const ROUNDS: u32 = if cfg!(miri) { 50 } else { 2_000 };
    watchdog(|| {
        for round in 0..ROUNDS {
            let (tx, rx) = channel();
            let (value, count) = tracked();
            let thread = std::thread::spawn(move || drop(tx.send(value)));
            match round % 3 {
                0 => drop(rx),
                1 => drop(rx.wait()),
                _ => {
                    let mut rx = rx;
                    rx.close();
                    drop(rx.try_recv());
                }
            }
            thread.join().unwrap();
            assert_eq!(Arc::strong_count(&count), 1);
        }
    });
}

#[test]
fn handles_are_send_sync_and_unpin() {
    fn all<T: Send + Sync + Unpin>() {}
    all::<Sender<std::cell::Cell<u8>>>();
    all::<Receiver<std::cell::Cell<u8>>>();
    assert_eq!(size_of::<Sender<u8>>(), size_of::<usize>());
    let _: fn(&mut Context<'_>) -> Poll<()> = |_| Poll::Pending;
}

#[test]
fn threads_wait_for_a_while() {
    let moment = std::time::Duration::from_millis(1);
    let (mut tx, mut rx) = channel();
    assert_eq!(rx.blocking_recv_timeout(moment), Err(TryRecvError::Empty));
    assert!(!tx.blocking_closed_timeout(moment));
    tx.send(1).unwrap();
    assert_eq!(rx.blocking_recv_timeout(std::time::Duration::ZERO), Ok(1));
    let (tx, mut rx) = channel::<u8>();
    drop(tx);
    assert_eq!(rx.blocking_recv_timeout(std::time::Duration::MAX), Err(TryRecvError::Closed));
    let (mut tx, rx) = channel::<u8>();
    drop(rx);
    assert!(tx.blocking_closed_timeout(moment));
    tx.blocking_closed();
}

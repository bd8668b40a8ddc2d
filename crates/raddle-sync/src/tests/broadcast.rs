//! The broadcast channel that overwrites, and what both kinds have in common: what is received
//! when, and what foreign code may do.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use futures_core::Stream;
use futures_sink::Sink;

use super::{
    Lagged, Lagging, Lossless, Receiver, RecvError, RecvTimeoutError, Sender, TryRecvError,
    channel, lossless_channel,
};
use crate::tests::crowds::{self, Case};
use crate::tests::support::{Polled, now, watchdog};

const SHORT: Duration = Duration::from_millis(1);

/// A channel whose last sender can go.
struct Topic {
    sender: Mutex<Option<Sender<u32>>>,
    receiver: Receiver<u32>,
}

type Wait = Pin<Box<dyn Future<Output = Result<u32, RecvError>>>>;

impl Topic {
    fn make() -> (Arc<Self>, bool) {
        let (tx, receiver) = channel(2);
        (Arc::new(Topic { sender: Mutex::new(Some(tx)), receiver }), false)
    }

    fn send(&self) -> bool {
        // Not under the mutex: wakers may come here.
        let sender = self.sender.lock().unwrap().clone();
        sender.is_some_and(|tx| tx.send(1).is_ok())
    }

    fn close(&self) -> bool {
        let sender = self.sender.lock().unwrap().take();
        sender.is_some()
    }

    fn wait(&self) -> Wait {
        let mut receiver = self.receiver.resubscribe();
        let mut wait = Box::pin(async move { receiver.recv().await });
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

static CASE: Case<Topic, bool, Wait> = Case {
    make: Topic::make,
    wait: |topic| topic.wait(),
    end: |topic| {
        topic.send();
    },
    is_over: |closed| *closed,
    operations: &[
        |topic, _| topic.send(),
        |topic, closed| {
            *closed = true;
            topic.close()
        },
    ],
    compare: |topic, closed| assert_eq!(topic.receiver.is_closed(), *closed),
};

#[test]
fn a_value_lets_everybody_go() {
    crowds::check(&CASE);
}

#[test]
fn all_receive_all_in_order_and_are_told_what_they_missed() {
    let (tx, mut rx) = channel(3);
    let mut other = tx.subscribe();
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    assert!((0..3).all(|i| tx.send(i) == Ok(2)));
    assert_eq!((rx.len(), tx.len(), rx.is_empty(), tx.is_empty()), (3, 3, false, false));
    assert_eq!((now(rx.recv()), rx.try_recv()), (Ok(0), Ok(1)));
    assert_eq!(tx.len(), 3, "the other one has them yet to receive");
    let mut late = rx.resubscribe();
    tx.send(3).unwrap();
    tx.send(4).unwrap();
    assert_eq!((other.len(), now(other.recv())), (5, Err(RecvError::Lagged(2))));
    assert_eq!((other.len(), other.try_recv()), (3, Ok(2)));
    tx.send(5).unwrap();
    tx.send(6).unwrap();
    assert_eq!((rx.try_recv(), rx.try_recv()), (Err(TryRecvError::Lagged(2)), Ok(4)));
    assert_eq!(late.try_recv(), Err(TryRecvError::Lagged(1)));
    assert_eq!(other.try_recv(), Err(TryRecvError::Lagged(1)));
    let weak = tx.downgrade();
    assert_eq!((weak.strong_count(), weak.weak_count(), tx.weak_count()), (1, 1, 1));
    assert_eq!((rx.sender_strong_count(), rx.sender_weak_count()), (1, 1));
    assert!(weak.upgrade().unwrap().same_channel(&tx) && rx.same_channel(&other));
    drop(tx);
    assert!(weak.clone().upgrade().is_none() && rx.is_closed());
    for rx in [&mut late, &mut other] {
        assert_eq!([(); 3].map(|()| now(rx.recv())), [Ok(4), Ok(5), Ok(6)]);
        assert_eq!(now(rx.recv()), Err(RecvError::Closed));
        assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
    }
    assert_eq!([now(rx.recv()), now(rx.recv())], [Ok(5), Ok(6)]);
    assert_eq!(now(rx.resubscribe().recv()), Err(RecvError::Closed));
}

#[test]
fn without_a_receiver_a_value_comes_back() {
    let (tx, rx) = channel(1);
    let mut closed = Polled::pending(tx.closed());
    let second = rx.resubscribe();
    drop(rx);
    assert_eq!((closed.wakes(), tx.is_closed(), tx.receiver_count()), (0, false, 1));
    drop(second);
    assert_eq!((closed.wakes(), tx.is_closed()), (1, true));
    assert_eq!(tx.send(1).unwrap_err().into_inner(), 1);
    let mut rx = tx.subscribe();
    closed.ready();
    assert_eq!((tx.send(2), rx.try_recv()), (Ok(1), Ok(2)));
    let none = Sender::<u8>::new(1);
    assert!(none.send(1).is_err() && none.blocking_closed_timeout(SHORT));
    assert!(!tx.blocking_closed_timeout(SHORT));
    assert!(catch_unwind(|| channel::<u8>(0)).is_err());
    assert!(catch_unwind(|| lossless_channel::<u8>(0)).is_err());
}

/// Values that are counted: how many there are, how many were cloned.
#[derive(Default)]
struct Count(Arc<()>, Arc<()>);

impl Count {
    fn value(&self) -> Counted {
        Counted { alive: self.0.clone(), clones: self.1.clone(), is_clone: false }
    }

    fn alive(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }
}

struct Counted {
    alive: Arc<()>,
    clones: Arc<()>,
    is_clone: bool,
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        // The clones can be told from the values that were sent.
        Counted { alive: self.clones.clone(), clones: self.clones.clone(), is_clone: true }
    }
}

fn values_go_with_the_last_receiver<M: super::Mode>(
    tx: &Sender<Counted, M>,
    send: impl Fn(Counted),
) {
    let count = Count::default();
    let mut receivers: Vec<_> = (0..3).map(|_| tx.subscribe()).collect();
    (0..2).for_each(|_| send(count.value()));
    for (i, rx) in receivers.iter_mut().enumerate() {
        let got = rx.try_recv().ok().unwrap();
        assert_eq!(got.is_clone, i != 2, "the last one gets the value itself");
        assert!(Arc::strong_count(&got.alive) > 1);
        assert_eq!(count.alive(), 2, "with the last one, or in the channel");
    }
    assert_eq!((count.alive(), tx.len()), (1, 1));
    // One leaves, one receives, and the last one leaves.
    drop(receivers.pop());
    drop(receivers[0].try_recv());
    assert_eq!((count.alive(), tx.len()), (1, 1));
    drop(receivers.pop());
    assert_eq!((count.alive(), tx.len()), (0, 0));
    send(count.value());
    send(count.value());
    assert_eq!(count.alive(), 2);
    drop(receivers);
    assert_eq!((count.alive(), tx.len()), (0, 0));
}

#[test]
fn values_go_as_soon_as_the_last_receiver_has_seen_them() {
    let (tx, rx) = channel(2);
    drop(rx);
    values_go_with_the_last_receiver(&tx, |value| assert!(tx.send(value).is_ok()));
    let (tx, rx) = lossless_channel(2);
    drop(rx);
    values_go_with_the_last_receiver(&tx, |value| assert!(tx.try_send(value).is_ok()));
    // Overwritten, with the receiver still there.
    let (tx, _rx) = channel(1);
    let count = Count::default();
    for _ in 0..5 {
        tx.send(count.value()).ok().unwrap();
        assert_eq!(count.alive(), 1);
    }
}

type Act = Arc<dyn Fn() + Send + Sync>;

/// Runs closures when it is cloned and dropped.
struct Actor {
    cloned: Option<Act>,
    dropped: Option<Act>,
}

impl Actor {
    fn cloned(act: impl Fn() + Send + Sync + 'static) -> Self {
        Actor { cloned: Some(Arc::new(act)), dropped: None }
    }

    fn dropped(act: impl Fn() + Send + Sync + 'static) -> Self {
        Actor { cloned: None, dropped: Some(Arc::new(act)) }
    }
}

impl Clone for Actor {
    fn clone(&self) -> Self {
        self.cloned.iter().for_each(|act| act());
        Actor { cloned: None, dropped: None }
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        self.dropped.iter().for_each(|act| act());
    }
}

#[test]
fn a_value_that_is_overwritten_while_it_is_cloned_lives_on_until_then() {
    watchdog(|| {
        let (tx, mut rx) = channel(1);
        let mut second = tx.subscribe();
        let alive = Arc::new(());
        let (sender, guard) = (tx.clone(), alive.clone());
        let mut third = tx.subscribe();
        let value = Actor::cloned(move || {
            // Overwritten by this, and looked at after.
            for _ in 0..3 {
                sender.send(Actor { cloned: None, dropped: None }).ok().unwrap();
            }
            let _look = &guard;
            assert!(matches!(sender.subscribe().try_recv(), Err(TryRecvError::Empty)));
        });
        tx.send(value).ok().unwrap();
        assert!(rx.try_recv().is_ok());
        assert_eq!(Arc::strong_count(&alive), 1, "dropped with the last who had to do with it");
        for rx in [&mut second, &mut third] {
            assert!(matches!(rx.try_recv(), Err(TryRecvError::Lagged(3))));
            assert!(rx.try_recv().is_ok());
        }
        assert!(matches!(rx.try_recv(), Err(TryRecvError::Lagged(2))));
    });
}

#[test]
fn a_clone_that_panics_loses_nothing_for_others() {
    let (tx, mut rx) = channel(2);
    let mut other = tx.subscribe();
    tx.send(Actor::cloned(|| panic!("not to be cloned"))).ok().unwrap();
    tx.send(Actor::cloned(|| ())).ok().unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| drop(rx.try_recv()))).is_err());
    assert!(other.try_recv().is_ok_and(|value| value.cloned.is_some()), "the value itself");
    assert_eq!((rx.len(), other.len(), tx.len()), (1, 1, 1), "passed by, for the one");
    assert!(now(rx.recv()).is_ok() && now(other.recv()).is_ok());
}

#[test]
fn destructors_may_come_back_and_panic() {
    watchdog(|| {
        let (tx, mut rx) = channel(1);
        let sender = tx.clone();
        let come_back = move || {
            let mut rx = sender.subscribe();
            let _ = sender.send(Actor { cloned: None, dropped: None });
            drop(rx.try_recv());
        };
        tx.send(Actor::dropped(come_back.clone())).ok().unwrap();
        tx.send(Actor::dropped(come_back)).ok().unwrap();
        drop(rx.try_recv());
        // One that panics when it is overwritten: the new one is there, and who waits was woken.
        while rx.try_recv().is_ok() {}
        tx.send(Actor::dropped(|| panic!("overwritten"))).ok().unwrap();
        let mut late = tx.subscribe();
        let mut wait = Polled::pending(late.recv());
        let send = || drop(tx.send(Actor { cloned: None, dropped: None }));
        assert!(catch_unwind(AssertUnwindSafe(send)).is_err());
        assert_eq!((wait.wakes(), wait.ready().is_ok()), (1, true));
    });
}

#[test]
fn a_receiver_leaves_everything_even_if_a_value_panics() {
    let (tx, rx) = channel(4);
    let count = Arc::new(());
    for i in 0..4 {
        let counted = count.clone();
        let dropped = move || {
            let _counted = &counted;
            assert!(i != 1, "the second one");
        };
        tx.send(Actor::dropped(dropped)).ok().unwrap();
    }
    assert!(catch_unwind(AssertUnwindSafe(|| drop(rx))).is_err());
    assert_eq!((Arc::strong_count(&count), tx.len(), tx.receiver_count()), (1, 0, 0));
}

#[test]
fn several_at_once_with_what_was_missed_between_them() {
    let (tx, mut rx) = channel(4);
    let mut buffer = vec![];
    assert_eq!(now(rx.recv_many(&mut buffer, 0)), Ok(0));
    let mut wait = Polled::pending(rx.recv_many(&mut buffer, 3));
    (0..5).for_each(|i| assert!(tx.send(i).is_ok()));
    assert_eq!(wait.ready(), Err(RecvError::Lagged(1)));
    drop(wait);
    assert_eq!(rx.blocking_recv_many(&mut buffer, 3), Ok(3));
    assert_eq!(now(rx.recv_many(&mut buffer, 3)), Ok(1));
    assert_eq!(buffer, [1, 2, 3, 4]);
    drop(tx);
    assert_eq!(now(rx.recv_many(&mut buffer, 3)), Err(RecvError::Closed));
    // Overwritten in between, by the clone of the first.
    let (tx, mut rx) = channel(2);
    let _other = tx.subscribe();
    let sender = tx.clone();
    let overwrite = move || (0..3).for_each(|_| drop(sender.send(Actor::cloned(|| ()))));
    tx.send(Actor::cloned(overwrite)).ok().unwrap();
    let mut buffer = vec![];
    assert_eq!(now(rx.recv_many(&mut buffer, 9)), Ok(1));
    assert!(matches!(rx.try_recv(), Err(TryRecvError::Lagged(1))));
    assert_eq!(now(rx.recv_many(&mut buffer, 9)), Ok(2));
}

#[test]
fn values_as_a_stream_and_a_sink() {
    let (tx, rx) = channel(1);
    let mut values = Box::pin(rx.into_stream());
    let counter = crate::tests::support::Counter::new();
    let waker = Waker::from(counter.clone());
    let mut cx = Context::from_waker(&waker);
    assert!(values.as_mut().poll_next(&mut cx).is_pending());
    let mut sink = Box::pin(tx);
    assert_eq!(sink.as_mut().poll_ready(&mut cx), Poll::Ready(Ok(())));
    sink.as_mut().start_send(1).unwrap();
    assert_eq!(counter.count(), 1);
    sink.as_mut().start_send(2).unwrap();
    assert_eq!(values.as_mut().poll_next(&mut cx), Poll::Ready(Some(Err(Lagged(1)))));
    assert_eq!(values.as_mut().poll_next(&mut cx), Poll::Ready(Some(Ok(2))));
    assert!(values.as_mut().poll_next(&mut cx).is_pending());
    assert_eq!(values.receiver().len(), 0);
    assert!(sink.as_mut().poll_flush(&mut cx).is_ready());
    let mut twin = sink.clone();
    drop(sink);
    drop(values);
    drop(waker);
    assert_eq!(Arc::strong_count(&counter), 1, "no waker stays behind");
    let mut cx = Context::from_waker(Waker::noop());
    assert!(matches!(twin.as_mut().poll_ready(&mut cx), Poll::Ready(Err(_))));
    assert!(twin.as_mut().start_send(1).is_err());
    let (tx, rx) = channel::<u8>(1);
    let mut values = Box::pin(rx.into_stream());
    drop(tx);
    assert_eq!(values.as_mut().poll_next(&mut cx), Poll::Ready(None));
}

#[test]
fn blocking_and_timed() {
    let (tx, mut rx) = channel(8);
    assert_eq!(rx.blocking_recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
    tx.send(1).unwrap();
    assert_eq!(rx.blocking_recv_timeout(Duration::ZERO), Ok(1));
    let thread = std::thread::spawn(move || {
        (2..12).for_each(|value| assert!(tx.send(value).is_ok()));
        tx.blocking_closed();
    });
    let mut last = 1;
    while last < 11 {
        match rx.blocking_recv() {
            Ok(value) => last = value,
            Err(error) => assert!(matches!(error, RecvError::Lagged(_))),
        }
    }
    drop(rx);
    thread.join().unwrap();
    let (tx, mut rx) = channel(1);
    (0..3).for_each(|i| assert!(tx.send(i).is_ok()));
    assert_eq!(rx.blocking_recv_timeout(SHORT), Err(RecvTimeoutError::Lagged(2)));
    assert_eq!(rx.blocking_recv(), Ok(2));
    drop(tx);
    assert_eq!(rx.blocking_recv_timeout(SHORT), Err(RecvTimeoutError::Closed));
}

#[test]
fn what_crosses_threads() {
    fn send_sync<T: Send + Sync>() {}
    fn unpin<T: Unpin>() {}
    send_sync::<(Sender<u8>, Receiver<u8>, super::WeakSender<u8>, super::BroadcastStream<u8>)>();
    send_sync::<(Sender<u8, Lossless>, Receiver<u8, Lossless>, super::SenderSink<u8>)>();
    send_sync::<(super::Recv<'_, u8>, super::RecvMany<'_, u8>, super::Sending<'_, u8>)>();
    send_sync::<(super::Reserve<'_, u8>, super::ReserveOwned<u8>)>();
    send_sync::<(super::Permit<'_, u8>, super::OwnedPermit<u8>)>();
    unpin::<Receiver<std::marker::PhantomPinned, Lagging>>();
    unpin::<Sender<std::marker::PhantomPinned, Lossless>>();
}

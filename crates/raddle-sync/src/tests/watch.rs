//! The watched value: what is seen when, what blocks whom, and what foreign code may do.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use futures_core::Stream;

use super::error::{RecvError, RecvTimeoutError};
use super::{Receiver, Sender, WatchStream, channel};
use crate::tests::crowds::{self, Case};
use crate::tests::sequences::every_sequence;
use crate::tests::support::{Event, Polled, hostile, now, watchdog};

const SHORT: Duration = Duration::from_millis(1);

/// A channel whose last sender can go.
struct Topic {
    sender: Mutex<Option<Sender<u32>>>,
    receiver: Receiver<u32>,
}

impl Topic {
    fn new() -> (Arc<Self>, bool) {
        let (tx, receiver) = channel(0);
        (Arc::new(Topic { sender: Mutex::new(Some(tx)), receiver }), false)
    }

    fn with<R>(&self, f: impl FnOnce(&Sender<u32>) -> R) -> Option<R> {
        // Not under the mutex: wakers may come here.
        let sender = self.sender.lock().unwrap().clone();
        sender.as_ref().map(f)
    }

    fn close(&self) -> bool {
        let sender = self.sender.lock().unwrap().take();
        sender.is_some()
    }

    fn wait(&self) -> Wait {
        let mut receiver = self.receiver.clone();
        receiver.mark_unchanged();
        let mut wait = Box::pin(async move { receiver.changed().await });
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

type Wait = Pin<Box<dyn Future<Output = Result<(), RecvError>>>>;

static CASE: Case<Topic, bool, Wait> = Case {
    make: Topic::new,
    wait: |topic| topic.wait(),
    end: |topic| {
        topic.with(|tx| tx.send_modify(|value| *value += 1));
    },
    is_over: |closed| *closed,
    operations: &[
        |topic, _| topic.with(|tx| tx.send(7).is_ok()) == Some(true),
        |topic, _| topic.with(|tx| tx.send_if_modified(|_| false)) == Some(true),
        |topic, closed| {
            let closes = topic.close();
            *closed |= closes;
            closes
        },
    ],
    compare: |topic, closed| assert_eq!(topic.receiver.is_closed(), *closed),
};

#[test]
fn changes_let_everybody_go() {
    crowds::check(&CASE);
}

#[test]
fn the_latest_value_is_seen_once() {
    let (tx, mut rx) = channel(1);
    assert_eq!(rx.has_changed(), Ok(false), "the first value counts as seen");
    assert!(Polled::new(rx.changed()).poll().is_pending());
    tx.send(2).unwrap();
    tx.send(3).unwrap();
    assert_eq!(rx.has_changed(), Ok(true));
    assert_eq!((*rx.borrow(), rx.borrow().has_changed()), (3, true));
    assert_eq!(now(rx.changed()), Ok(()));
    assert!(!rx.borrow().has_changed());
    assert!(Polled::new(rx.changed()).poll().is_pending());
    tx.send(4).unwrap();
    let mut clone = rx.clone();
    assert!(rx.borrow_and_update().has_changed());
    assert!(!rx.borrow_and_update().has_changed());
    assert_eq!(clone.has_changed(), Ok(true), "a clone has seen what the first had");
    assert_eq!(now(clone.recv()), Ok(4));
    clone.mark_changed();
    assert_eq!((now(clone.recv()), clone.get()), (Ok(4), 4));
    tx.send(5).unwrap();
    clone.mark_unchanged();
    assert_eq!(clone.has_changed(), Ok(false));
    assert!(clone.same_channel(&rx) && !clone.same_channel(&channel(1).1));
    assert!(tx.same_channel(&tx.clone()) && !tx.same_channel(&Sender::default()));
    assert_eq!((tx.sender_count(), tx.receiver_count(), *tx.borrow()), (1, 2, 5));
}

#[test]
fn the_last_value_comes_before_the_end() {
    let (tx, mut rx) = channel(1);
    let other = tx.clone();
    drop(tx);
    assert!(!rx.is_closed());
    let mut wait = Polled::pending(rx.changed());
    other.send(2).unwrap();
    drop(other);
    assert_eq!((wait.wakes(), wait.ready()), (1, Ok(())));
    drop(wait);
    assert!(rx.is_closed());
    assert_eq!((now(rx.changed()), rx.has_changed()), (Err(RecvError), Err(RecvError)));
    assert_eq!(*rx.borrow_and_update(), 2);
    rx.mark_changed();
    assert_eq!(
        (rx.has_changed(), now(rx.recv()), now(rx.recv())),
        (Ok(true), Ok(2), Err(RecvError))
    );
}

#[test]
fn without_a_receiver_a_value_comes_back() {
    let (tx, rx) = channel(1);
    let mut closed = Polled::pending(tx.closed());
    let second = rx.clone();
    drop(rx);
    assert_eq!((closed.wakes(), tx.is_closed()), (0, false));
    drop(second);
    assert_eq!((closed.wakes(), tx.is_closed()), (1, true));
    let error = tx.send(2).unwrap_err();
    assert_eq!((error.into_inner(), *tx.borrow()), (2, 1));
    assert_eq!(tx.send_replace(3), 1);
    let mut rx = tx.subscribe();
    closed.ready();
    assert_eq!((rx.has_changed(), *rx.borrow()), (Ok(false), 3), "subscribing is seeing");
    assert!(Polled::new(tx.closed()).poll().is_pending());
    tx.send_modify(|value| *value += 1);
    assert!(tx.send_if_modified(|value| std::mem::replace(value, 5) == 4));
    assert_eq!(now(rx.recv()), Ok(5));
    assert!(!tx.send_if_modified(|value| std::mem::replace(value, 6) == 6));
    assert_eq!((rx.has_changed(), rx.get()), (Ok(false), 6), "changed, and nobody told");
}

#[test]
fn a_condition_is_waited_for() {
    let (tx, mut rx) = channel(1);
    assert_eq!(*now(rx.wait_for(|value| *value == 1)).unwrap(), 1, "the present one counts");
    let mut wait = Polled::pending(rx.wait_for(|value| *value >= 3));
    tx.send(2).unwrap();
    assert!(wait.poll().is_pending());
    tx.send(3).unwrap();
    assert_eq!(wait.wakes(), 2);
    let found = wait.ready().unwrap();
    assert!(found.has_changed() && *found == 3);
    drop(found);
    drop(wait);
    assert_eq!(rx.has_changed(), Ok(false));
    let mut wait = Polled::pending(rx.wait_for(|value| *value == 4));
    tx.send(4).unwrap();
    drop(tx);
    assert_eq!(*wait.ready().unwrap(), 4, "the last value");
    drop(wait);
    let result = now(rx.wait_for(|value| *value == 5)).map(|value| *value);
    assert_eq!(result, Err(RecvError));
}

#[test]
fn a_closure_that_panics_tells_nobody_and_leaves_the_lock_free() {
    let (tx, mut rx) = channel(1);
    let wait = Polled::pending(rx.changed());
    let result = catch_unwind(AssertUnwindSafe(|| {
        tx.send_modify(|value| {
            *value = 2;
            panic!("in the middle")
        });
    }));
    assert!(result.is_err());
    assert_eq!((wait.wakes(), *tx.borrow()), (0, 2));
    drop(wait);
    let result = catch_unwind(AssertUnwindSafe(|| drop(now(rx.wait_for(|_| panic!("again"))))));
    assert!(result.is_err());
    tx.send(3).unwrap();
    assert_eq!(now(rx.recv()), Ok(3));
}

/// Runs its closure when dropped; panics when cloned, if told so.
struct Bomb(Option<Box<dyn FnOnce() + Send + Sync>>);

impl Drop for Bomb {
    fn drop(&mut self) {
        if let Some(act) = self.0.take() {
            act();
        }
    }
}

impl Clone for Bomb {
    fn clone(&self) -> Self {
        panic!("not to be cloned");
    }
}

#[test]
fn old_values_are_dropped_with_nothing_locked() {
    watchdog(|| {
        let (tx, mut rx) = channel(Bomb(None));
        let (again, look) = (tx.clone(), rx.clone());
        tx.send(Bomb(Some(Box::new(move || {
            drop(look.borrow());
            again.send(Bomb(None)).unwrap();
            let mut late = look;
            assert!(now(late.changed()).is_ok());
        }))))
        .unwrap();
        rx.mark_unchanged();
        tx.send(Bomb(None)).unwrap();
        assert_eq!(rx.has_changed(), Ok(true));
        // One that panics as it goes: who waits has been woken by then.
        tx.send(Bomb(Some(Box::new(|| panic!("an old value"))))).unwrap();
        rx.mark_unchanged();
        let mut wait = Polled::pending(rx.changed());
        assert!(catch_unwind(AssertUnwindSafe(|| tx.send(Bomb(None)))).is_err());
        assert_eq!((wait.wakes(), wait.ready()), (1, Ok(())));
    });
}

#[test]
fn a_clone_that_panics_has_seen_nothing() {
    let (tx, mut rx) = channel(Bomb(None));
    tx.send(Bomb(None)).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| drop(now(rx.recv())))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| drop(rx.get()))).is_err());
    assert_eq!(rx.has_changed(), Ok(true));
    assert_eq!(now(rx.changed()), Ok(()));
    tx.send(Bomb(None)).unwrap();
    let mut values = Box::pin(WatchStream::new(rx));
    let mut cx = Context::from_waker(Waker::noop());
    let poll = AssertUnwindSafe(|| drop(values.as_mut().poll_next(&mut cx)));
    assert!(catch_unwind(poll).is_err());
    tx.send(Bomb(None)).unwrap();
}

#[test]
fn values_as_a_stream() {
    let (tx, rx) = channel(1);
    let mut all = Box::pin(WatchStream::new(rx.clone()));
    let mut changes = Box::pin(rx.into_stream());
    let counter = crate::tests::support::Counter::new();
    let waker = Waker::from(counter.clone());
    let mut cx = Context::from_waker(&waker);
    assert_eq!(all.as_mut().poll_next(&mut cx), Poll::Ready(Some(1)));
    assert!(all.as_mut().poll_next(&mut cx).is_pending());
    assert!(changes.as_mut().poll_next(&mut cx).is_pending());
    tx.send(2).unwrap();
    assert_eq!(counter.count(), 2);
    assert_eq!(all.as_mut().poll_next(&mut cx), Poll::Ready(Some(2)));
    assert_eq!(changes.as_mut().poll_next(&mut cx), Poll::Ready(Some(2)));
    assert!(all.as_mut().poll_next(&mut cx).is_pending());
    drop((tx, changes));
    assert_eq!(all.as_mut().poll_next(&mut cx), Poll::Ready(None));
    assert_eq!(all.receiver().get(), 2);
    drop(all);
    drop(waker);
    assert_eq!(Arc::strong_count(&counter), 1, "no waker stays behind");
}

#[test]
fn blocking_and_timed() {
    let (tx, mut rx) = channel(1);
    assert_eq!(rx.blocking_changed_timeout(SHORT), Err(RecvTimeoutError::Timeout));
    assert_eq!(rx.blocking_recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
    assert!(rx.blocking_wait_for_timeout(|value| *value == 2, SHORT).is_err());
    assert!(!tx.blocking_closed_timeout(SHORT));
    tx.send(2).unwrap();
    assert_eq!(rx.blocking_changed_timeout(Duration::ZERO), Ok(()));
    let thread = std::thread::spawn(move || {
        (3..6).for_each(|value| tx.send(value).unwrap());
        tx.blocking_closed();
        assert!(tx.blocking_closed_timeout(Duration::ZERO));
    });
    assert!(rx.blocking_changed().is_ok());
    assert!(rx.blocking_wait_for(|value| *value == 5).is_ok());
    rx.mark_changed();
    assert_eq!(rx.blocking_recv(), Ok(5));
    drop(rx);
    thread.join().unwrap();
    let (_, mut rx) = channel(1);
    assert_eq!(rx.blocking_recv_timeout(SHORT), Err(RecvTimeoutError::Disconnected));
    assert_eq!(rx.blocking_changed(), Err(RecvError));
}

#[test]
fn a_guard_holds_a_sender_up_and_a_sender_that_waits_holds_looks_up() {
    watchdog(|| {
        let (tx, rx) = channel(0);
        let guard = rx.borrow();
        let (sent, looked) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                tx.send(1).unwrap();
                sent.fetch_add(1, SeqCst);
            });
            while !rx.shared.a_writer_waits() {
                std::thread::yield_now();
            }
            scope.spawn(|| {
                let late = tx.subscribe();
                looked.store(1 + *late.borrow(), SeqCst);
            });
            (0..100).for_each(|_| std::thread::yield_now());
            assert_eq!((sent.load(SeqCst), looked.load(SeqCst), *guard), (0, 0, 0));
            drop(guard);
        });
        assert_eq!((sent.load(SeqCst), looked.load(SeqCst)), (1, 2));
    });
}

#[test]
fn looks_and_changes_on_many_threads_exclude_each_other() {
    watchdog(|| {
        let (tx, mut rx) = channel((0_usize, 0_usize));
        let start = Barrier::new(4);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    start.wait();
                    for _ in 0..2000 {
                        tx.send_modify(|(a, b)| {
                            *a += 1;
                            std::hint::spin_loop();
                            *b += 1;
                        });
                    }
                });
                scope.spawn(|| {
                    let mut own = tx.subscribe();
                    start.wait();
                    let mut last = 0;
                    while last < 4000 {
                        own.blocking_changed().unwrap();
                        let (a, b) = *own.borrow_and_update();
                        assert!(a == b && a >= last);
                        last = a;
                    }
                });
            }
        });
        assert_eq!(*rx.borrow_and_update(), (4000, 4000));
    });
}

#[test]
fn every_value_is_dropped_once() {
    let count = Arc::new(());
    let (tx, rx) = channel(count.clone());
    for _ in 0..10 {
        tx.send(count.clone()).unwrap();
        assert_eq!(Arc::strong_count(&count), 2);
    }
    drop(rx);
    drop(tx.send(count.clone()));
    assert_eq!(Arc::strong_count(&count), 2);
    drop(tx);
    assert_eq!(Arc::strong_count(&count), 1);
}

/// The model: how many updates there were, what each receiver has seen, whether it ended.
struct Model {
    updates: u32,
    seen: [Option<u32>; 2],
    ended: bool,
}

impl Model {
    fn look(&self, who: usize) -> Result<bool, RecvError> {
        match self.seen[who] == Some(self.updates) {
            false => Ok(true),
            true if self.ended => Err(RecvError),
            true => Ok(false),
        }
    }
}

/// Every sequence of sends, looks, waits and marks of two receivers, against a model.
#[test]
fn as_its_model() {
    every_sequence(8, 6, |sequence| {
        let (tx, rx) = channel(0);
        let mut tx = Some(tx);
        let mut receivers = [rx.clone(), rx];
        let mut model = Model { updates: 0, seen: [Some(0); 2], ended: false };
        for step in sequence {
            let who = step % 2;
            let (rx, look) = (&mut receivers[who], model.look(who));
            match step {
                0 => {
                    if let Some(tx) = &tx {
                        model.updates += 1;
                        tx.send(model.updates).unwrap();
                    }
                }
                1 => {
                    tx = None;
                    model.ended = true;
                }
                2 | 3 => {
                    assert_eq!(*rx.borrow_and_update(), model.updates);
                    model.seen[who] = Some(model.updates);
                }
                4 | 5 => {
                    match Polled::new(rx.recv()).poll() {
                        Poll::Pending => assert_eq!(look, Ok(false), "{sequence:?}"),
                        Poll::Ready(Ok(value)) => {
                            assert!(value == model.updates && look == Ok(true))
                        }
                        Poll::Ready(Err(error)) => assert_eq!(look, Err(error), "{sequence:?}"),
                    }
                    model.seen[who] = Some(model.updates);
                }
                _ => {
                    rx.mark_changed();
                    model.seen[who] = None;
                }
            }
            let found: Vec<_> = receivers.iter().map(Receiver::has_changed).collect();
            assert_eq!(found, [model.look(0), model.look(1)], "{sequence:?}");
        }
    });
}

#[test]
fn wakers_may_look_send_and_come_and_go() {
    watchdog(|| {
        let (tx, mut rx) = channel(0);
        let weak = Arc::new(Mutex::new(Some((tx.clone(), rx.clone()))));
        let again = weak.clone();
        let waker = hostile(move |event| {
            // Once, or every wake would send for ever.
            let Some((tx, mut rx)) = again.lock().unwrap().take() else { return };
            let _ = tx.send(rx.get() + 1);
            let _ = Polled::new(rx.changed()).poll();
            if event != Event::Clone {
                drop(tx.subscribe());
            }
        });
        let mut wait = Polled::new(rx.changed());
        let _ = wait.poll_with(&waker);
        tx.send(5).unwrap();
        assert_eq!(wait.ready(), Ok(()));
    });
}

#[test]
fn what_crosses_threads() {
    fn send_sync<T: Send + Sync>() {}
    fn sync<T: Sync>() {}
    fn unpin<T: Unpin>() {}
    send_sync::<(Sender<u8>, Receiver<u8>, WatchStream<u8>)>();
    send_sync::<(super::Changed<'_, u8>, super::Recv<'_, u8>, super::Closed<'_>)>();
    send_sync::<super::WaitFor<'_, u8, fn(&u8) -> bool>>();
    sync::<super::Ref<'_, u8>>();
    unpin::<(Sender<std::marker::PhantomPinned>, Receiver<std::marker::PhantomPinned>)>();
}

//! Loops over ready primitives give way: within one poll of a raddle task, at most a budget.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use raddle_base::context::{self, BUDGET};

use super::support::Counter;
use crate::{
    AutoResetEvent, Barrier, EventCount, LazyCell, ManualResetEvent, Mutex, Notify, Once, OnceCell,
    OnceMap, RwLock, Semaphore, WaitMap, broadcast, mpmc, mpsc, oneshot, watch,
};

/// Polls futures made by `make`, all ready, until one is not, inside one poll of a task. Returns
/// how many were ready. Checks that the task asked to be polled again, without a wake.
fn spent<F: Future>(make: impl Fn() -> F) -> u32 {
    let counter = Counter::new();
    let waker = Waker::from(counter.clone());
    let mut cx = Context::from_waker(&waker);
    // SAFETY: the function does not look at its argument.
    let worker = unsafe { context::enter_worker(waker.vtable(), |_| 1) };
    context::begin_poll(waker.data());
    let mut ready = 0;
    while pin!(make()).poll(&mut cx).is_ready() {
        ready += 1;
        assert!(ready <= BUDGET, "nobody gives way");
    }
    assert!(context::end_poll().is_yield(), "the task is to be polled again");
    drop(worker);
    assert_eq!(counter.count(), 0, "by its worker, not by a wake");
    // Outside of a task there is no limit.
    for _ in 0..2 * BUDGET {
        assert!(pin!(make()).poll(&mut cx).is_ready());
    }
    ready
}

#[test]
fn every_primitive_spends_the_budget() {
    let semaphore = Arc::new(Semaphore::new(1));
    assert_eq!(spent(|| semaphore.acquire()), BUDGET);
    assert_eq!(spent(|| semaphore.clone().acquire_owned()), BUDGET);
    let notify = Notify::new();
    let notified = || {
        notify.notify_one();
        notify.notified()
    };
    assert_eq!(spent(notified), BUDGET);
    let token = crate::CancellationToken::new();
    token.cancel();
    assert_eq!(spent(|| token.cancelled()), BUDGET);
    assert_eq!(spent(|| token.clone().cancelled_owned()), BUDGET);
    let gate = ManualResetEvent::with_state(true);
    assert_eq!(spent(|| gate.wait()), BUDGET);
    let turnstile = AutoResetEvent::new();
    let turned = || {
        turnstile.set();
        turnstile.wait()
    };
    assert_eq!(spent(turned), BUDGET);
    let (mutex, rwlock) = (Mutex::new(0), RwLock::new(0));
    assert_eq!(spent(|| mutex.lock()), BUDGET);
    assert_eq!(spent(|| rwlock.read()), BUDGET);
    assert_eq!(spent(|| rwlock.write()), BUDGET);
    let received = || {
        let (tx, rx) = oneshot::channel();
        tx.send(1).unwrap();
        rx
    };
    assert_eq!(spent(received), BUDGET);
    let (tx, rx) = mpsc::channel(10_000);
    assert_eq!(spent(|| tx.send(1)), BUDGET);
    assert_eq!(spent(|| tx.reserve()), BUDGET);
    let (to_all, _all) = broadcast::lossless_channel(10_000);
    assert_eq!(spent(|| to_all.send(1)), BUDGET);
    assert_eq!(spent(|| to_all.reserve()), BUDGET);
    let rx = std::cell::RefCell::new(rx);
    (0..1000).for_each(|_| tx.try_send(1).unwrap());
    assert_eq!(spent(|| std::future::poll_fn(|cx| rx.borrow_mut().poll_recv(cx))), BUDGET);
}

#[test]
fn a_wait_that_was_granted_is_not_lost_when_the_budget_is_gone() {
    let semaphore = Semaphore::new(0);
    let counter = Counter::new();
    let waker = Waker::from(counter.clone());
    let mut cx = Context::from_waker(&waker);
    let mut wait = pin!(semaphore.acquire());
    assert!(wait.as_mut().poll(&mut cx).is_pending());
    semaphore.add_permits(1);
    // SAFETY: the function does not look at its argument.
    let worker = unsafe { context::enter_worker(waker.vtable(), |_| 1) };
    context::begin_poll(waker.data());
    (0..BUDGET).for_each(|_| context::spend());
    assert!(wait.as_mut().poll(&mut cx).is_pending());
    assert!(context::end_poll().is_yield());
    drop(worker);
    assert!(wait.poll(&mut cx).is_ready());
}

#[test]
fn what_is_done_once_or_together_spends_the_budget_too() {
    let once = Once::new();
    let ready = || std::future::ready(1);
    assert_eq!(spent(|| once.call_once(|| std::future::ready(()))), BUDGET);
    let (cell, lazy, one) = (OnceCell::new(), LazyCell::new(ready), Barrier::new(1));
    assert_eq!(spent(|| cell.get_or_init(ready)), BUDGET);
    assert_eq!(spent(|| cell.get_or_try_init(|| std::future::ready(Err(())))), BUDGET);
    assert_eq!(spent(|| cell.try_insert(2)), BUDGET);
    assert_eq!(spent(|| lazy.force()), BUDGET);
    assert_eq!(spent(|| one.wait()), BUDGET);
    let event = EventCount::new();
    assert_eq!(spent(|| event.wait_until(|| Some(1))), BUDGET);
    let map = OnceMap::new();
    assert_eq!(spent(|| map.compute(1, ready)), BUDGET);
    let closed = WaitMap::<u8, u8>::new();
    closed.close();
    assert_eq!(spent(|| closed.wait(1)), BUDGET);
}

#[test]
fn every_channel_spends_the_budget() {
    let (tx, rx) = mpmc::bounded(10_000);
    assert_eq!(spent(|| tx.send(1)), BUDGET);
    assert_eq!(spent(|| tx.send_timeout(1, std::future::pending::<()>())), BUDGET);
    assert_eq!(spent(|| rx.recv()), BUDGET);
    assert_eq!(spent(|| tx.reserve()), BUDGET);
    assert_eq!(spent(|| tx.reserve_many(2)), BUDGET);
    assert_eq!(spent(|| tx.clone().reserve_owned()), BUDGET);
    let (utx, urx) = mpmc::unbounded();
    (0..1000).for_each(|i| utx.send(i).unwrap());
    assert_eq!(spent(|| urx.recv()), BUDGET);
    let batch = || async { urx.recv_many(&mut Vec::new(), 1).await };
    assert_eq!(spent(batch), BUDGET);
    utx.close();
    while urx.try_recv().is_ok() {}
    assert_eq!(spent(|| urx.recv()), BUDGET, "the end as well");
    let (to_all, mut one) = broadcast::lossless_channel(10_000);
    assert_eq!(spent(|| to_all.reserve_many(2)), BUDGET);
    (0..1000).for_each(|i| assert_eq!(to_all.try_send(i), Ok(1)));
    let one = std::cell::RefCell::new(&mut one);
    let received = || std::future::poll_fn(|cx| pin!(one.borrow_mut().recv()).poll(cx));
    assert_eq!(spent(received), BUDGET);
    let (newest, mut seen) = watch::channel(1);
    let seen = std::cell::RefCell::new(&mut seen);
    let change = || {
        newest.send_replace(1);
        std::future::poll_fn(|cx| pin!(seen.borrow_mut().changed()).poll(cx))
    };
    assert_eq!(spent(change), BUDGET);
    let (tx, _rx) = mpsc::channel::<u8>(10_000);
    assert_eq!(spent(|| tx.reserve_many(2)), BUDGET);
    assert_eq!(spent(|| tx.clone().reserve_owned()), BUDGET);
}

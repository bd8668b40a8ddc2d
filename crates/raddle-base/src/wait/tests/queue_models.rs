//! The wait queue under the model checker, each model named after the race it hunts.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use super::gate::{ALL, Gate, ONE, Pass};
use crate::parker::Parker;
use crate::shim::atomic::AtomicUsize;
use crate::shim::atomic::Ordering::Relaxed;
use crate::shim::cell::UnsafeCell;
use crate::shim::{model, thread};

struct Unpark(Parker);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn wait(pass: &mut Pin<Box<Pass>>) -> u8 {
    let parker = Arc::new(Unpark(Parker::new()));
    let waker = Waker::from(parker.clone());
    loop {
        if let Poll::Ready(outcome) = pass.as_mut().poll(&mut Context::from_waker(&waker)) {
            return outcome;
        }
        parker.0.park();
    }
}

fn poll_once(pass: &mut Pin<Box<Pass>>) -> Poll<u8> {
    pass.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

/// Data without atomics, guarded by nothing but the gate.
struct Guarded {
    gate: Arc<Gate>,
    data: UnsafeCell<u32>,
}

// SAFETY: the model checks each access.
unsafe impl Sync for Guarded {}

/// The waiter polls without being woken, finishes by the one load, reads what the granter wrote,
/// and frees its node at once: the granter must be through with it.
#[test]
fn model_queue_grant_publishes() {
    model::check(|| {
        let shared = Arc::new(Guarded { gate: Gate::new(), data: UnsafeCell::new(0) });
        let mut pass = Box::pin(shared.gate.pass());
        assert!(poll_once(&mut pass).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                // SAFETY: the waiter reads only after the grant.
                shared.data.with_mut(|p| unsafe { *p = 7 });
                shared.gate.open_one();
            }
        });
        if poll_once(&mut pass) == Poll::Ready(ONE) {
            drop(pass);
            // SAFETY: the grant orders this after the write.
            assert_eq!(shared.data.with(|p| unsafe { *p }), 7);
        }
        other.join().unwrap();
    });
}

/// A waiter gives up while it is granted: the grant reaches the next one, or is kept, never lost.
#[test]
fn model_queue_grant_against_give_up() {
    model::check(|| {
        let gate = Gate::new();
        let mut quitter = Box::pin(gate.pass());
        assert!(poll_once(&mut quitter).is_pending());
        let granter = thread::spawn({
            let gate = gate.clone();
            move || gate.open_one()
        });
        let stayer = thread::spawn({
            let gate = gate.clone();
            move || assert_eq!(wait(&mut Box::pin(gate.pass())), ONE)
        });
        drop(quitter);
        granter.join().unwrap();
        stayer.join().unwrap();
        assert_eq!(gate.permits(), 0);
        assert!(gate.queue.lock().is_empty());
    });
}

/// A grant races a poll that brings a new waker: the new one is called, or the poll is ready.
#[test]
fn model_queue_grant_against_new_waker() {
    model::check(|| {
        let gate = Gate::new();
        let mut pass = Box::pin(gate.pass());
        assert!(poll_once(&mut pass).is_pending());
        let other = thread::spawn({
            let gate = gate.clone();
            move || gate.open_one()
        });
        assert_eq!(wait(&mut pass), ONE);
        other.join().unwrap();
    });
}

/// A release of three, a batch being two, while the middle one gives up and a late one comes.
#[test]
fn model_queue_release_against_give_up() {
    model::check(|| {
        let gate = Gate::new();
        let mut all: Vec<_> = (0..3).map(|_| Box::pin(gate.pass())).collect();
        for pass in &mut all {
            assert!(poll_once(pass).is_pending());
        }
        let releaser = thread::spawn({
            let gate = gate.clone();
            move || gate.open_all()
        });
        let mut last = all.pop().expect("three");
        drop(all.pop());
        assert_eq!(wait(&mut last), ALL);
        releaser.join().unwrap();
        assert_eq!(poll_once(&mut all[0]), Poll::Ready(ALL));
        assert!(gate.queue.lock().is_empty());
    });
}

/// A waiter looks at a word in front of the queue, and again under the lock, while the word is
/// raised and the queue released: it is never left behind.
#[test]
fn model_queue_publish_then_look_again() {
    model::check(|| {
        let gate = Gate::new();
        let raised = Arc::new(AtomicUsize::new(0));
        let other = thread::spawn({
            let (gate, raised) = (gate.clone(), raised.clone());
            move || {
                // Relaxed: the lock, taken after this and by the waiter before its second look,
                // is what orders the two.
                raised.store(1, Relaxed);
                gate.open_all();
            }
        });
        let mut pass = Box::pin(gate.pass());
        if poll_once(&mut pass).is_pending() && raised.load(Relaxed) == 0 {
            assert_eq!(wait(&mut pass), ALL);
        }
        other.join().unwrap();
    });
}

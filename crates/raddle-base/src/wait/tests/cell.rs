//! The cell for one waiter, one thread at a time: hand-over, replacement, and wakers that bite.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::Waker;

use super::support::{Counter, Event, Hostile};
use crate::wait::WaiterCell;

#[test]
fn wake_calls_the_waker_once() {
    let cell = WaiterCell::new();
    let counter = Counter::new();
    cell.wake();
    cell.register(&Waker::from(counter.clone()));
    assert_eq!(counter.count(), 0, "a wake before the registration is not stored");
    cell.wake();
    cell.wake();
    assert_eq!(counter.count(), 1);
    assert_eq!(Arc::strong_count(&counter), 1, "the called waker is gone");
}

#[test]
fn same_waker_is_not_cloned_again() {
    let cell = WaiterCell::new();
    let clones = Arc::new(AtomicUsize::new(0));
    let waker = Hostile::waker({
        let clones = clones.clone();
        move |event| {
            clones.fetch_add(usize::from(event == Event::Clone), SeqCst);
        }
    });
    cell.register(&waker);
    cell.register(&waker);
    assert_eq!(clones.load(SeqCst), 1);
}

#[test]
fn a_new_waker_replaces_the_old_one() {
    let cell = WaiterCell::new();
    let (old, new) = (Counter::new(), Counter::new());
    cell.register(&Waker::from(old.clone()));
    cell.register(&Waker::from(new.clone()));
    assert_eq!(Arc::strong_count(&old), 1, "the replaced waker is gone");
    cell.wake();
    assert_eq!((old.count(), new.count()), (0, 1));
}

#[test]
fn take_gives_the_waker_uncalled() {
    let cell = WaiterCell::new();
    let counter = Counter::new();
    cell.register(&Waker::from(counter.clone()));
    let waker = cell.take().expect("a waker was left");
    assert!(cell.take().is_none());
    assert_eq!(counter.count(), 0);
    waker.wake();
    assert_eq!(counter.count(), 1);
}

#[test]
fn dropping_the_cell_drops_the_waker() {
    let counter = Counter::new();
    let cell = WaiterCell::new();
    cell.register(&Waker::from(counter.clone()));
    drop(cell);
    assert_eq!((counter.count(), Arc::strong_count(&counter)), (0, 1));
}

#[test]
fn wakers_may_call_the_cell_from_clone_wake_and_drop() {
    let cell = Arc::new(WaiterCell::new());
    let woken = Arc::new(AtomicUsize::new(0));
    let make = || {
        let (cell, woken) = (cell.clone(), woken.clone());
        Hostile::waker(move |event| {
            woken.fetch_add(usize::from(event == Event::Wake), SeqCst);
            cell.register(Waker::noop());
            cell.wake();
            drop(cell.take());
        })
    };
    cell.register(&make());
    assert!(woken.load(SeqCst) >= 1, "the wake inside the clone reached the new waker");
    cell.register(&make());
    cell.register(&make());
    cell.wake();
    // Breaks the cycle of references, should a waker still lie in the cell.
    cell.register(Waker::noop());
}

#[test]
fn a_clone_that_panics_leaves_the_old_waker_in_force() {
    let cell = WaiterCell::new();
    let counter = Counter::new();
    cell.register(&Waker::from(counter.clone()));
    let bad = Hostile::waker(|event| assert!(event != Event::Clone, "clone refused"));
    assert!(catch_unwind(AssertUnwindSafe(|| cell.register(&bad))).is_err());
    cell.wake();
    assert_eq!(counter.count(), 1);
    cell.register(&Waker::from(counter.clone()));
    cell.wake();
    assert_eq!(counter.count(), 2, "the cell works on");
}

#[test]
fn a_wake_during_registration_wakes_at_once() {
    let cell = Arc::new(WaiterCell::new());
    let woken = Arc::new(AtomicUsize::new(0));
    let waker = Hostile::waker({
        let (cell, woken) = (Arc::downgrade(&cell), woken.clone());
        move |event| match event {
            Event::Clone => cell.upgrade().expect("alive").wake(),
            Event::Wake => {
                woken.fetch_add(1, SeqCst);
            }
            Event::Drop => {}
        }
    });
    cell.register(&waker);
    assert_eq!(woken.load(SeqCst), 1);
    assert!(cell.take().is_none(), "the waker was used up");
}

#[test]
fn threads_hand_a_token_back_and_forth() {
    const ROUNDS: usize = if cfg!(miri) { 50 } else { 5_000 };
    let shared = Arc::new((WaiterCell::new(), AtomicUsize::new(0)));
    let sender = std::thread::spawn({
        let shared = shared.clone();
        move || {
            for round in 1..=ROUNDS {
                shared.1.store(round, SeqCst);
                shared.0.wake();
                while shared.1.load(SeqCst) != 0 {
                    std::thread::yield_now();
                }
            }
        }
    });
    for round in 1..=ROUNDS {
        crate::parker::with_current(|parker| {
            let waker = crate::parker::waker(parker);
            loop {
                shared.0.register(&waker);
                if shared.1.load(SeqCst) != 0 {
                    break;
                }
                parker.park();
            }
        });
        assert_eq!(shared.1.swap(0, SeqCst), round);
    }
    sender.join().unwrap();
}

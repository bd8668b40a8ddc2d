//! The cell for one waiter under the model checker: nothing is lost between looking and sleeping.

use std::sync::Arc;
use std::task::{Wake, Waker};

use crate::parker::Parker;
use crate::shim::atomic::AtomicUsize;
use crate::shim::atomic::Ordering::Relaxed;
use crate::shim::{model, thread};
use crate::wait::WaiterCell;

struct Unpark(Parker);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// A condition that is published by nothing but the cell: a relaxed count of arrivals.
struct Shared {
    cell: WaiterCell,
    arrived: AtomicUsize,
}

/// Waits until `count` wakes were announced, through register, look again, park.
fn wait_for(shared: &Shared, count: usize) {
    let parker = Arc::new(Unpark(Parker::new()));
    let waker = Waker::from(parker.clone());
    loop {
        shared.cell.register(&waker);
        // Relaxed: that the cell orders this is what the model checks.
        if shared.arrived.load(Relaxed) >= count {
            return;
        }
        parker.0.park();
        // A registration that met another side at work has woken itself: let that side finish.
        thread::yield_now();
    }
}

fn shared() -> Arc<Shared> {
    Arc::new(Shared { cell: WaiterCell::new(), arrived: AtomicUsize::new(0) })
}

fn announce(shared: &Arc<Shared>) -> thread::JoinHandle<()> {
    let shared = shared.clone();
    thread::spawn(move || {
        shared.arrived.fetch_add(1, Relaxed);
        shared.cell.wake();
    })
}

/// A wake at any moment of a registration ends the wait.
#[test]
fn model_cell_register_against_wake() {
    model::check(|| {
        let shared = shared();
        let other = announce(&shared);
        wait_for(&shared, 1);
        other.join().unwrap();
    });
}

/// Of two sides that wake, none is missed, not even the one that finds the other at work.
#[test]
fn model_cell_two_wakers() {
    model::check(|| {
        let shared = shared();
        let others = [announce(&shared), announce(&shared)];
        wait_for(&shared, 2);
        for other in others {
            other.join().unwrap();
        }
    });
}

/// A waker that is replaced while a wake is under way: the newest one is called.
#[test]
fn model_cell_replaced_waker() {
    model::check(|| {
        let shared = shared();
        shared.cell.register(Waker::noop());
        let other = announce(&shared);
        wait_for(&shared, 1);
        other.join().unwrap();
    });
}

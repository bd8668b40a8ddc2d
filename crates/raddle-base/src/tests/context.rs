//! Places nest, budgets end, and a self-yield wakes exactly when the waker is a foreign one.

use super::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{RawWaker, Wake, Waker};

struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn own_vtable() -> &'static RawWakerVTable {
    fn clone(data: *const ()) -> RawWaker {
        RawWaker::new(data, own_vtable())
    }
    fn noop(_: *const ()) {}
    static OWN: RawWakerVTable = RawWakerVTable::new(clone, noop, noop, noop);
    &OWN
}

#[test]
fn places_nest_and_restore() {
    assert_eq!(place(), Place::Thread);
    {
        let _outer = enter(Place::Blocking);
        assert_eq!(place(), Place::Blocking);
        {
            let _inner = enter(Place::Task);
            assert_eq!(place(), Place::Task);
        }
        assert_eq!(place(), Place::Blocking);
    }
    assert_eq!(place(), Place::Thread);
}

#[test]
fn the_budget_ends_after_its_steps_and_wakes_a_foreign_waker() {
    let count = Arc::new(Count(AtomicUsize::new(0)));
    let waker = Waker::from(count.clone());
    let mut cx = Context::from_waker(&waker);
    // SAFETY: the function ignores its argument.
    let worker = unsafe { enter_worker(own_vtable(), |_| 7) };
    assert_eq!(task_id(), None);
    let marker = 5u8;
    begin_poll((&raw const marker).cast());
    assert_eq!(task_id().map(NonZeroU64::get), Some(7));
    for _ in 0..BUDGET {
        assert!(check_budget(&mut cx).is_ready());
        spend();
    }
    assert!(!has_budget());
    assert!(check_budget(&mut cx).is_pending());
    assert_eq!(count.0.load(Ordering::Relaxed), 1);
    assert!(!end_poll().is_yield());
    assert_eq!(task_id(), None);
    assert_eq!(place(), Place::Task);
    drop(worker);
    assert_eq!(place(), Place::Thread);
    for _ in 0..3 * BUDGET {
        assert!(check_budget(&mut cx).is_ready());
        spend();
    }
}

#[test]
fn a_yield_with_the_own_waker_is_noted_and_wakes_nobody() {
    let marker = 5u8;
    let data = (&raw const marker).cast::<()>();
    // SAFETY: the vtable's functions ignore the data.
    let waker = unsafe { Waker::new(data, own_vtable()) };
    // SAFETY: the function ignores its argument.
    let _worker = unsafe { enter_worker(own_vtable(), |_| 1) };
    begin_poll(data);
    yield_back(&mut Context::from_waker(&waker));
    assert!(end_poll().is_yield());
    begin_poll(data);
    assert!(!end_poll().is_yield());
}

#[test]
fn the_last_wait_of_a_poll_is_noted() {
    use crate::wait::{WaitKind, WaitQueue, Waiter};
    let marker = 5u8;
    let data = (&raw const marker).cast::<()>();
    begin_poll(data);
    assert_eq!(noted().0, 0);
    waits(WaitKind::Time, None);
    assert_eq!(noted(), (WaitKind::Time.code(), None));
    let queue: WaitQueue = WaitQueue::new(());
    let node = std::pin::pin!(Waiter::new(WaitKind::Lock, ()));
    // SAFETY: the node is removed below.
    unsafe { queue.lock().push_back(node.as_ref(), None) };
    let (kind, location) = noted();
    assert_eq!(WaitKind::from_code(kind), Some(WaitKind::Lock));
    assert_eq!(location, Some(node.site().location));
    {
        let _inner = enter(Place::Blocking);
        waits(WaitKind::Join, None);
    }
    assert_eq!(noted(), (kind, location), "a wait within a blocking section is over");
    assert!(!end_poll().is_yield());
    begin_poll(data);
    assert_eq!(noted().0, 0, "the next poll begins without one");
    // A poll of a wait that goes on is a wait of this poll.
    let mut cx = Context::from_waker(Waker::noop());
    // SAFETY: the node was pushed to this queue, and is this test's.
    assert!(unsafe { queue.poll(node.as_ref(), &mut cx) }.is_pending());
    assert_eq!(noted(), (kind, location));
    end_poll();
    // SAFETY: the node is this test's.
    drop(unsafe { queue.lock().remove(node.as_ref()) });
}

#[test]
fn kinds_have_codes() {
    use crate::wait::WaitKind;
    assert_eq!(WaitKind::from_code(0), None);
    assert_eq!(WaitKind::from_code(u16::MAX), None);
    for code in 1..16 {
        assert_eq!(WaitKind::from_code(code).map(WaitKind::code), Some(code));
    }
    assert_eq!(WaitKind::from_code(16), None);
}

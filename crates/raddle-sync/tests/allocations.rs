//! Waiting allocates nothing, ready or suspended: counted by the allocator of this test program.
//!
//! The count is per thread, so that the test harness does not disturb it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use raddle_sync::{
    AutoResetEvent, CancelExt, CancellationToken, Condvar, ManualResetEvent, Mutex, Notify, RwLock,
    Semaphore, mpsc, oneshot,
};
#[path = "allocations/latest.rs"]
mod latest;
#[path = "allocations/meeting.rs"]
mod meeting;
#[path = "allocations/mpmc.rs"]
mod mpmc_channels;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static BYTES: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    // A thread that is being torn down is not one of ours.
    let _ = ALLOCATIONS.try_with(|n| n.set(n.get() + usize::from(bytes > 0)));
    let _ = BYTES.try_with(|n| n.set(n.get() + bytes));
}

// SAFETY: hands everything to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: passed on from the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: passed on from the caller.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many allocations `body` makes.
fn allocations(body: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    body();
    ALLOCATIONS.get() - before
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn ready<F: Future>(future: F) -> F::Output {
    match poll(pin!(future)) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("not ready"),
    }
}

#[test]
fn the_count_works() {
    assert_eq!(allocations(|| drop(Box::new(1))), 1);
}

#[test]
fn semaphore_ready_suspended_and_given_up() {
    let count = allocations(|| {
        let semaphore = Semaphore::new(1);
        let permit = ready(semaphore.acquire()).unwrap();
        let mut wait = pin!(semaphore.acquire());
        assert!(poll(wait.as_mut()).is_pending());
        {
            let mut given_up = pin!(semaphore.acquire_many(2));
            assert!(poll(given_up.as_mut()).is_pending());
        }
        drop(permit);
        drop(ready(wait));
        semaphore.close();
    });
    assert_eq!(count, 0);
}

#[test]
fn a_thousand_waiters_and_one_release() {
    let semaphore = Semaphore::new(0);
    let mut waits: Vec<_> = (0..1000).map(|_| Box::pin(semaphore.acquire())).collect();
    let count = allocations(|| {
        assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
        semaphore.add_permits(500);
        semaphore.close();
        assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_ready()));
    });
    assert_eq!(count, 0);
}

#[test]
fn notify_one_and_all() {
    let count = allocations(|| {
        let notify = Notify::new();
        let (mut one, mut other) = (pin!(notify.notified()), pin!(notify.notified()));
        assert!(poll(one.as_mut()).is_pending());
        assert!(poll(other.as_mut()).is_pending());
        notify.notify_one();
        notify.notify_waiters();
        ready(one);
        ready(other);
    });
    assert_eq!(count, 0);
}

#[test]
fn events_ready_suspended_and_released() {
    let gate = ManualResetEvent::new();
    let turnstile = AutoResetEvent::new();
    let mut waits: Vec<_> = (0..1000).map(|_| Box::pin(gate.wait())).collect();
    let count = allocations(|| {
        assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
        gate.set();
        assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_ready()));
        ready(gate.wait());
        let mut wait = pin!(turnstile.wait());
        assert!(poll(wait.as_mut()).is_pending());
        turnstile.set();
        ready(wait);
        assert!(poll(pin!(turnstile.wait())).is_pending());
    });
    assert_eq!(count, 0);
}

#[test]
fn locks_ready_suspended_and_granted() {
    let (mutex, fair, rwlock, condvar) =
        (Mutex::new(0), Mutex::fair(0), RwLock::new(0), Condvar::new());
    let mut readers: Vec<_> = (0..1000).map(|_| Box::pin(rwlock.read())).collect();
    let count = allocations(|| {
        for lock in [&mutex, &fair] {
            let guard = ready(lock.lock());
            let mut wait = pin!(lock.lock());
            assert!(poll(wait.as_mut()).is_pending());
            assert!(poll(pin!(lock.lock())).is_pending());
            drop(guard);
            drop(ready(wait));
        }
        let mut wait = pin!(condvar.wait(ready(mutex.lock())));
        assert!(poll(wait.as_mut()).is_pending());
        condvar.notify_one();
        drop(ready(wait));
        let guard = ready(rwlock.write());
        assert!(readers.iter_mut().all(|one| poll(one.as_mut()).is_pending()));
        let mut writer = pin!(rwlock.write());
        assert!(poll(writer.as_mut()).is_pending());
        drop(guard);
        assert!(readers.iter_mut().all(|one| poll(one.as_mut()).is_ready()));
        drop(ready(writer));
        drop(ready(rwlock.upgradable_read()));
    });
    assert_eq!(count, 0);
}

#[test]
fn oneshot_is_one_allocation() {
    let count = allocations(|| {
        let (mut tx, rx) = oneshot::channel();
        let mut rx = pin!(rx);
        assert!(poll(rx.as_mut()).is_pending());
        assert!(poll(pin!(tx.closed())).is_pending());
        tx.send(7).unwrap();
        assert_eq!(ready(rx), Ok(7));
    });
    assert_eq!(count, 1);
}

#[test]
fn tokens_allocate_when_made_and_not_when_waited_for() {
    let token = CancellationToken::new();
    assert_eq!(allocations(|| drop(token.child_token())), 1);
    let semaphore = Semaphore::new(0);
    let count = allocations(|| {
        let mut wait = pin!(semaphore.acquire().cancel_on(&token));
        assert!(poll(wait.as_mut()).is_pending());
        token.cancel();
        assert!(ready(wait).is_err());
        ready(token.cancelled());
    });
    assert_eq!(count, 0);
}

#[test]
fn channels_in_balance_allocate_nothing() {
    let (tx, mut rx) = mpsc::channel(100);
    let (utx, mut urx) = mpsc::unbounded_channel();
    let mut round = || {
        for i in 0..1000_usize {
            ready(tx.send(i)).unwrap();
            utx.send(i).unwrap();
            assert_eq!((ready(rx.recv()), ready(urx.recv())), (Some(i), Some(i)));
        }
        for burst in 0..3 {
            (0..90).for_each(|i| tx.try_send(burst + i).unwrap());
            (0..90).for_each(|i| assert_eq!(rx.try_recv(), Ok(burst + i)));
        }
        assert!(poll(pin!(rx.recv())).is_pending());
    };
    round();
    let first = allocations(&mut round);
    // Bursts of more than one block take some from the allocator and give them back; a few blocks
    // go round.
    assert!(first <= 3 * 3, "{first}");
    let count = allocations(|| {
        for i in 0..10_000 {
            utx.send(i).unwrap();
            assert_eq!(urx.try_recv(), Ok(i));
        }
    });
    assert_eq!(count, 0);
}

#[test]
fn a_full_channel_makes_senders_wait_without_allocating() {
    let (tx, mut rx) = mpsc::channel(1);
    tx.try_send(0).unwrap();
    let mut waits: Vec<_> = (1..50).map(|i| Box::pin(tx.send(i))).collect();
    let mut reserve = Box::pin(tx.reserve());
    // Until the blocks go round.
    for _ in 0..200 {
        rx.try_recv().unwrap();
        tx.try_send(0).unwrap();
    }
    let count = allocations(|| {
        assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
        assert!(poll(reserve.as_mut()).is_pending());
        for (i, wait) in waits.iter_mut().enumerate() {
            assert_eq!(rx.try_recv(), Ok(i));
            assert!(poll(wait.as_mut()).is_ready());
        }
    });
    assert_eq!(count, 0);
}

#[test]
fn memory_comes_back_after_a_burst() {
    let (tx, mut rx) = mpsc::unbounded_channel::<u64>();
    let before = BYTES.get();
    (0..100_000).for_each(|i| tx.send(i).unwrap());
    let full = BYTES.get() - before;
    assert!(full >= 800_000, "{full}");
    assert!(full < 1_000_000, "blocks cost little beside their values: {full}");
    (0..100_000).for_each(|i| assert_eq!(rx.try_recv(), Ok(i)));
    let left = BYTES.get() - before;
    assert!(left < 2_048, "{left}");
}

#[test]
fn blocking_allocates_a_parker_once_a_thread() {
    let notify = Notify::new();
    raddle_sync::wait_timeout(notify.notified(), Duration::from_micros(1));
    let count = allocations(|| {
        notify.notify_one();
        raddle_sync::block_on(notify.notified());
        raddle_sync::wait_timeout(notify.notified(), Duration::from_micros(1));
    });
    assert_eq!(count, 0);
}

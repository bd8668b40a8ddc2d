//! Which types cross threads: checked by the compiler. Which do not is in `compile_fail` examples
//! of the types.

use std::cell::Cell;
use std::sync::Arc;

use crate::{
    Barrier, Completer, Completion, EventCount, Latch, LazyCell, Once, OnceCell, Participant,
    Phaser, SetOnce, Shutdown, ShutdownGuard, ShutdownWatch, TaskTracker, TaskTrackerToken,
    TrackedFuture, WaitGroup, WaitGroupFuture,
};

fn send<T: Send>() {}
fn sync<T: Sync>() {}
fn send_sync<T: Send + Sync>() {}
fn unpin<T: Unpin>() {}

#[test]
fn what_crosses_threads() {
    send_sync::<Latch>();
    send_sync::<Barrier>();
    send_sync::<WaitGroup>();
    send_sync::<WaitGroupFuture>();
    send_sync::<TaskTracker>();
    send_sync::<TaskTrackerToken>();
    send_sync::<Once>();
    send_sync::<Phaser>();
    send_sync::<Participant<Arc<Phaser>>>();
    send_sync::<Participant<&Phaser>>();
    send_sync::<EventCount>();
    send_sync::<(crate::OnceMap<u8, u8>, crate::singleflight::Group<u8, u8>)>();
    send_sync::<crate::WaitMap<u8, Cell<u8>>>();
    send_sync::<crate::pool::Pool<crate::pool::NeverManageObject<Cell<u8>>>>();
    send_sync::<(Shutdown, ShutdownGuard, ShutdownWatch)>();
    send_sync::<(OnceCell<u8>, SetOnce<u8>, Completion<u8>, Completer<u8>)>();
    send_sync::<(crate::mpmc::Sender<Cell<u8>>, crate::mpmc::Receiver<Cell<u8>>)>();
    send_sync::<(crate::mpmc::Sending<Cell<u8>>, crate::mpmc::Recv<Cell<u8>>)>();
    send_sync::<(crate::mpmc::RecvMany<Cell<u8>>, crate::mpmc::Reserve<Cell<u8>>)>();
    send_sync::<(crate::mpmc::ReserveOwned<Cell<u8>>, crate::mpmc::OwnedPermit<Cell<u8>>)>();
    send_sync::<(crate::mpmc::Permit<Cell<u8>>, crate::mpmc::ReceiverStream<Cell<u8>>)>();
    send_sync::<(crate::spmc::Sender<Cell<u8>>, crate::mpmc::WeakSender<Cell<u8>>)>();
    send_sync::<(crate::mpsc::Sender<Cell<u8>>, crate::mpsc::Receiver<Cell<u8>>)>();
    send_sync::<(crate::mpsc::Sending<Cell<u8>>, crate::mpsc::Recv<Cell<u8>>)>();
    send_sync::<(crate::mpsc::Reserve<Cell<u8>>, crate::mpsc::ReserveOwned<Cell<u8>>)>();
    send_sync::<(crate::mpsc::Permit<Cell<u8>>, crate::mpsc::OwnedPermit<Cell<u8>>)>();
    send_sync::<(crate::mpmc::SenderSink<Cell<u8>>, crate::mpmc::ReserveMany<Cell<u8>>)>();
    send_sync::<(crate::mpmc::PermitIterator<Cell<u8>>, crate::mpmc::WeakReceiver<Cell<u8>>)>();
    send_sync::<(crate::mpsc::SenderSink<Cell<u8>>, crate::mpsc::ReserveMany<Cell<u8>>)>();
    send_sync::<(crate::mpmc::SendTimeout<Cell<u8>, ()>, crate::mpsc::SendTimeout<Cell<u8>, ()>)>();
    unpin::<(crate::mpmc::Sender<u8>, crate::mpmc::Receiver<u8>, crate::mpsc::Receiver<u8>)>();
    // A value that is Send only can be moved with its cell.
    send::<(OnceCell<Cell<u8>>, SetOnce<Cell<u8>>)>();
    send::<TrackedFuture<Cell<u8>>>();
    send::<LazyCell<std::future::Ready<Cell<u8>>>>();
    sync::<LazyCell<std::future::Ready<u8>>>();
    unpin::<(Latch, Barrier, Once, Phaser, EventCount, OnceCell<u8>)>();
}

#[test]
fn sizes() {
    let limits = [
        (size_of::<Latch>(), 24),
        (size_of::<EventCount>(), 24),
        (size_of::<Phaser>(), 24),
        (size_of::<Barrier>(), 32),
        (size_of::<Once>(), 40),
        (size_of::<OnceCell<u64>>(), 48),
    ];
    assert!(limits.iter().all(|(size, limit)| size <= limit), "{limits:?}");
}

#[test]
fn a_wait_says_what_it_waits_for_and_where() {
    let (latch, barrier, once) = (Latch::new(1), Barrier::new(2), Once::new());
    let (cell, event, phaser) = (OnceCell::<u8>::new(), EventCount::new(), Phaser::new());
    let (tracker, map) = (TaskTracker::new(), crate::WaitMap::<u8, u8>::new());
    let (shutdown, guard) = Shutdown::new();
    let (_completer, completion) = crate::completion::completion::<u8>();
    let texts = [
        (format!("{:?}", latch.wait()), "Event"),
        (format!("{:?}", latch.arrive_and_wait()), "Event"),
        (format!("{:?}", barrier.wait()), "Event"),
        (format!("{:?}", once.wait()), "Event"),
        (format!("{:?}", once.call_once(|| async {})), "Event"),
        (format!("{:?}", cell.wait()), "Value"),
        (format!("{:?}", cell.get_or_init(|| async { 1 })), "Event"),
        (format!("{:?}", cell.try_insert(1)), "Event"),
        (format!("{:?}", event.wait(event.key())), "Notification"),
        (format!("{:?}", event.wait_until(|| None::<u8>)), "Notification"),
        (format!("{:?}", phaser.wait(0)), "Event"),
        (format!("{:?}", tracker.wait()), "Join"),
        (format!("{:?}", WaitGroup::new().wait()), "Event"),
        (format!("{:?}", map.wait(1)), "Value"),
        (format!("{:?}", shutdown.wait()), "Join"),
        (format!("{:?}", guard.shutdown_requested()), "Cancellation"),
        (format!("{:?}", completion.wait()), "Value"),
    ];
    for (text, kind) in texts {
        assert!(text.contains(kind) && text.contains("matrix.rs"), "{text}");
    }
}

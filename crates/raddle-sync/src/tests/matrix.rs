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
    send_sync::<(Shutdown, ShutdownGuard, ShutdownWatch)>();
    send_sync::<(OnceCell<u8>, SetOnce<u8>, Completion<u8>, Completer<u8>)>();
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

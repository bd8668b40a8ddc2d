//! Order, batches, and counts under load.

use std::ptr::NonNull;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::fifo::Fifo;
use crate::injector::Injector;
use crate::pointer::{Link, Pointer, QueueLink};
use crate::testing::Watchdog;

struct Item(Box<(Link, u32)>);

impl Item {
    fn new(value: u32) -> Self {
        Self(Box::new((Link::new(), value)))
    }
}

// SAFETY: that of the box.
unsafe impl Pointer for Item {
    fn into_raw(self) -> NonNull<()> {
        self.0.into_raw()
    }

    unsafe fn from_raw(raw: NonNull<()>) -> Self {
        // SAFETY: as the caller promises.
        Self(unsafe { Box::from_raw(raw.cast().as_ptr()) })
    }
}

// SAFETY: a box has one owner and with it one link.
unsafe impl QueueLink for Item {
    unsafe fn link(raw: NonNull<()>) -> NonNull<Link> {
        // SAFETY: `raw` is a live pair, as the caller promises.
        unsafe { NonNull::new_unchecked(&raw mut (*raw.cast::<(Link, u32)>().as_ptr()).0) }
    }
}

fn values(queue: Fifo<Item>) -> Vec<u32> {
    queue.into_iter().map(|item| item.0.1).collect()
}

#[test]
fn batches_and_single_things_keep_their_order() {
    let injector = Injector::new();
    assert!(injector.pop().is_none() && injector.pop_batch(5).is_empty());
    injector.push(Item::new(0));
    injector.push_batch((1..5).map(Item::new).collect());
    injector.push_batch(Fifo::new());
    injector.push(Item::new(5));
    assert_eq!(injector.len(), 6);
    assert_eq!(injector.pop().map(|item| item.0.1), Some(0));
    assert_eq!(values(injector.pop_batch(3)), [1, 2, 3]);
    assert_eq!(injector.len(), 2);
    assert_eq!(values(injector.pop_batch(usize::MAX)), [4, 5]);
    assert!(injector.is_empty());
}

#[test]
fn each_thing_is_popped_exactly_once_under_load() {
    const EACH: u32 = 10_000;
    let (injector, popped) = (Injector::new(), AtomicUsize::new(0));
    let all = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for who in 0..2 {
            let injector = &injector;
            scope.spawn(move || {
                for value in (who * EACH..(who + 1) * EACH).step_by(2) {
                    injector.push(Item::new(value));
                    injector.push_batch([Item::new(value + 1)].into_iter().collect());
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                let watchdog = Watchdog::start();
                while popped.load(Ordering::Relaxed) < 2 * EACH as usize {
                    watchdog.check();
                    let mut mine = values(injector.pop_batch(7));
                    mine.extend(injector.pop().map(|item| item.0.1));
                    popped.fetch_add(mine.len(), Ordering::Relaxed);
                    all.lock().unwrap().extend(mine);
                    thread::yield_now();
                }
            });
        }
    });
    let mut all = all.into_inner().unwrap();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..2 * EACH));
}

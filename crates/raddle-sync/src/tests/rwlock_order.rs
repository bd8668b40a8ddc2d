//! Who comes after whom: the bounds on waiting, and admission after every departure.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Read, Write};
use crate::RwLock;
use crate::tests::support::{Polled, now};

type Lock = Arc<RwLock<u32>>;
type Reader = Polled<Read<Lock>>;
type Writer = Polled<Write<Lock>>;

fn reader(lock: &Lock) -> Reader {
    Polled::pending(lock.clone().read_owned())
}

fn writer(lock: &Lock) -> Writer {
    Polled::pending(lock.clone().write_owned())
}

#[test]
fn a_reader_waits_for_one_writer_at_most() {
    let lock: Lock = Arc::new(RwLock::new(0));
    let first = now(lock.write());
    let mut writers: Vec<_> = (0..5).map(|_| writer(&lock)).collect();
    let mut readers: Vec<_> = (0..40).map(|_| reader(&lock)).collect();
    drop(first);
    assert!(readers.iter().all(|one| one.wakes() == 1), "all of them, before the next writer");
    assert!(writers.iter().all(|one| one.wakes() == 0));
    // One that comes during the readers' phase waits for the writer that waits, and no other.
    let mut late = reader(&lock);
    readers.iter_mut().for_each(|one| drop(one.ready()));
    assert_eq!(late.wakes(), 0);
    let guard = writers[0].ready();
    assert!(late.poll().is_pending());
    drop(guard);
    drop(late.ready());
}

#[test]
fn a_writer_in_place_k_waits_for_k_groups_of_readers() {
    const PLACES: usize = 6;
    let lock: Lock = Arc::new(RwLock::new(0));
    let mut group: Vec<_> = (0..3).map(|_| now(lock.clone().read_owned())).collect();
    let mut writers: VecDeque<_> = (0..PLACES).map(|_| writer(&lock)).collect();
    for _ in 0..PLACES {
        // As many readers as like to come: each group is let in once.
        let mut next: Vec<_> = (0..40).map(|_| reader(&lock)).collect();
        assert!(lock.try_read().is_none());
        drop(std::mem::take(&mut group));
        let mut first = writers.pop_front().unwrap();
        let guard = first.ready();
        next.extend((0..40).map(|_| reader(&lock)));
        drop(guard);
        group = next.iter_mut().map(Polled::ready).collect();
        assert!(writers.iter().all(|one| one.wakes() == 0));
    }
}

#[test]
fn writers_before_readers_where_they_are_preferred() {
    let lock: Lock = Arc::new(RwLock::preferring_writers(0));
    let first = now(lock.clone().write_owned());
    let mut readers: Vec<_> = (0..3).map(|_| reader(&lock)).collect();
    let mut writers: Vec<_> = (0..3).map(|_| writer(&lock)).collect();
    drop(first);
    for one in &mut writers {
        assert!(readers.iter().all(|one| one.wakes() == 0));
        drop(one.ready());
    }
    readers.iter_mut().for_each(|one| drop(one.ready()));
}

#[test]
fn writers_come_in_the_order_of_their_first_poll() {
    let lock: Lock = Arc::new(RwLock::new(0));
    let guard = now(lock.read());
    let mut writers: Vec<_> = (0..4).map(|_| writer(&lock)).collect();
    drop(guard);
    for i in 0..4 {
        let wakes: Vec<_> = writers.iter().map(Polled::wakes).collect();
        assert_eq!(wakes.iter().sum::<usize>(), i + 1);
        assert!(lock.try_read().is_none() && lock.try_write().is_none(), "it was handed over");
        drop(writers[i].ready());
    }
}

#[test]
fn a_cancelled_writer_lets_its_readers_in_at_once() {
    let lock: Lock = Arc::new(RwLock::new(0));
    let guard = now(lock.read());
    let (first, second) = (writer(&lock), writer(&lock));
    let mut late = reader(&lock);
    drop(first);
    assert!(late.poll().is_pending(), "another one waits");
    drop(second);
    assert_eq!(late.wakes(), 1);
    drop(late.ready());
    assert!(lock.try_read().is_some(), "and leaves no preference behind");
    drop(guard);
    assert!(lock.try_write().is_some());
}

#[test]
fn a_granted_waiter_that_is_dropped_passes_the_lock_on() {
    let lock: Lock = Arc::new(RwLock::new(0));
    // A writer to a writer, to readers, to nobody.
    let guard = now(lock.write());
    let (first, second) = (writer(&lock), writer(&lock));
    drop(guard);
    assert_eq!((first.wakes(), second.wakes()), (1, 0));
    drop(first);
    assert_eq!(second.wakes(), 1);
    let mut readers: Vec<_> = (0..2).map(|_| reader(&lock)).collect();
    drop(second);
    assert!(readers.iter().all(|one| one.wakes() == 1));
    // A reader to a writer.
    let mut last = writer(&lock);
    drop(readers.pop());
    assert!(last.poll().is_pending());
    drop(readers);
    drop(last.ready());
    assert_eq!(lock.raw.state(), (0, false, false));
}

#[test]
fn a_cancelled_upgradable_lets_those_behind_it_in() {
    let lock: Lock = Arc::new(RwLock::new(0));
    let held = now(lock.upgradable_read());
    let waiting = Polled::pending(lock.upgradable_read());
    assert!(lock.try_read().is_some(), "readers come and go beside it");
    let mut next = writer(&lock);
    assert!(lock.try_read().is_some(), "the writer is not in front yet");
    drop(waiting);
    assert!(lock.try_read().is_none(), "now it is");
    drop(held);
    drop(next.ready());
}

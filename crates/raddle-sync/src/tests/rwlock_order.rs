//! Who comes after whom: the bounds on waiting, admission after every departure, and all short
//! histories against a sequential model.

use std::collections::VecDeque;
use std::sync::Arc;

use raddle_base::random::Rng;

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

/// What a history does to the lock, and what the sequential model of it says.
#[derive(Default)]
struct Oracle {
    prefer: bool,
    readers: usize,
    writer: bool,
    waiting_readers: Vec<usize>,
    waiting_writers: VecDeque<usize>,
    granted: Vec<usize>,
}

impl Oracle {
    fn is_free_for(&self, writes: bool) -> bool {
        match writes {
            true => !self.writer && self.readers == 0,
            false => !self.writer && self.waiting_writers.is_empty(),
        }
    }

    fn take(&mut self, writes: bool) {
        self.writer |= writes;
        self.readers += usize::from(!writes);
    }

    fn poll(&mut self, id: usize, writes: bool) -> bool {
        if let Some(at) = self.granted.iter().position(|&granted| granted == id) {
            self.granted.remove(at);
            return true;
        }
        if self.waiting_readers.contains(&id) || self.waiting_writers.contains(&id) {
            return false;
        }
        if self.is_free_for(writes) {
            self.take(writes);
            return true;
        }
        match writes {
            true => self.waiting_writers.push_back(id),
            false => self.waiting_readers.push(id),
        }
        false
    }

    fn admit(&mut self, after_writer: bool) {
        if self.writer {
            return;
        }
        let first = after_writer && !self.prefer;
        if first || self.waiting_writers.is_empty() {
            self.readers += self.waiting_readers.len();
            self.granted.append(&mut self.waiting_readers);
        }
        if self.readers == 0
            && let Some(id) = self.waiting_writers.pop_front()
        {
            self.writer = true;
            self.granted.push(id);
        }
    }

    fn release(&mut self, writes: bool) {
        match writes {
            true => self.writer = false,
            false => self.readers -= 1,
        }
        self.admit(writes);
    }

    fn leave(&mut self, id: usize, writes: bool) {
        self.waiting_readers.retain(|&waiting| waiting != id);
        self.waiting_writers.retain(|&waiting| waiting != id);
        match self.granted.iter().position(|&granted| granted == id) {
            Some(at) => {
                self.granted.remove(at);
                self.release(writes);
            }
            None => self.admit(false),
        }
    }
}

/// What a place of a history holds.
enum Held {
    Nothing,
    Read(Reader),
    Write(Writer),
    Reads(#[expect(dead_code, reason = "held for its drop")] crate::OwnedRwLockReadGuard<u32>),
    Writes(#[expect(dead_code, reason = "held for its drop")] crate::OwnedRwLockWriteGuard<u32>),
}

/// One step at place `id`: begin or poll a read (0) or a write (1), drop what is there (2).
fn step(lock: &Lock, held: &mut Held, oracle: &mut Oracle, id: usize, op: usize) {
    *held = match (std::mem::replace(held, Held::Nothing), op) {
        (Held::Nothing, 2) => Held::Nothing,
        (Held::Nothing, 0) => polled_read(Polled::new(lock.clone().read_owned()), oracle, id),
        (Held::Nothing, _) => polled_write(Polled::new(lock.clone().write_owned()), oracle, id),
        (Held::Read(wait), 0 | 1) => polled_read(wait, oracle, id),
        (Held::Write(wait), 0 | 1) => polled_write(wait, oracle, id),
        (guard @ (Held::Reads(_) | Held::Writes(_)), 0 | 1) => guard,
        (gone, _) => {
            match &gone {
                Held::Read(_) => oracle.leave(id, false),
                Held::Write(_) => oracle.leave(id, true),
                Held::Reads(_) => oracle.release(false),
                _ => oracle.release(true),
            }
            Held::Nothing
        }
    };
    let (readers, writer, _) = lock.raw.state();
    assert_eq!((readers as usize, writer), (oracle.readers, oracle.writer));
}

fn polled_read(mut wait: Reader, oracle: &mut Oracle, id: usize) -> Held {
    let polled = wait.poll();
    assert_eq!(polled.is_ready(), oracle.poll(id, false));
    match polled {
        std::task::Poll::Ready(guard) => Held::Reads(guard),
        std::task::Poll::Pending => Held::Read(wait),
    }
}

fn polled_write(mut wait: Writer, oracle: &mut Oracle, id: usize) -> Held {
    let polled = wait.poll();
    assert_eq!(polled.is_ready(), oracle.poll(id, true));
    match polled {
        std::task::Poll::Ready(guard) => Held::Writes(guard),
        std::task::Poll::Pending => Held::Write(wait),
    }
}

fn run(prefer: bool, places: usize, ops: impl Iterator<Item = usize>) {
    let lock: Lock = Arc::new(if prefer { RwLock::preferring_writers(0) } else { RwLock::new(0) });
    let mut held: Vec<_> = (0..places).map(|_| Held::Nothing).collect();
    let mut oracle = Oracle { prefer, ..Oracle::default() };
    for op in ops {
        step(&lock, &mut held[op / 3], &mut oracle, op / 3, op % 3);
    }
    drop(held);
    assert_eq!(lock.raw.state(), (0, false, false), "nothing is left behind");
}

/// All sequences of six operations at three places, against the sequential model.
#[test]
fn every_short_history_is_that_of_the_sequential_model() {
    const OPS: usize = 9;
    const LENGTH: u32 = 6;
    for history in 0..OPS.pow(LENGTH) / 3 {
        // By symmetry the first step is at the first place.
        let ops = || (0..LENGTH).map(|i| history / OPS.pow(LENGTH - 1 - i) % OPS);
        run(false, 3, ops());
        if history % 2 == 0 {
            run(true, 3, ops());
        }
    }
}

#[test]
fn random_histories_are_those_of_the_sequential_model() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let ops: Vec<_> = (0..300).map(|_| rng.below(3 * 8) as usize).collect();
        run(seed % 2 == 0, 8, ops.into_iter());
    }
}

//! The mutex against a sequential model of it: all short histories, and random long ones.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use raddle_base::clock::Instant;
use raddle_base::random::Rng;

use super::Lock;
use super::raw::PATIENCE;
use crate::Mutex;
use crate::tests::support::Polled;

type Shared = Arc<Mutex<u32>>;
type Waiting = Polled<Lock<Shared>>;

fn is_idle(lock: &Shared) -> bool {
    lock.raw.state() == (false, false, false)
}

/// The sequential model: who holds the lock, who waits, who is on its way to try.
#[derive(Default)]
struct Oracle {
    fair: bool,
    held: bool,
    queue: VecDeque<usize>,
    woken: Option<usize>,
    granted: Option<usize>,
}

impl Oracle {
    fn wake(&mut self) {
        if self.woken.is_none() {
            self.woken = self.queue.pop_front();
        }
    }

    fn release(&mut self) {
        if self.fair {
            self.granted = self.queue.pop_front();
            self.held = self.granted.is_some();
        } else {
            self.held = false;
            self.wake();
        }
    }

    fn poll(&mut self, id: usize) -> bool {
        if self.granted == Some(id) {
            self.granted = None;
            return true;
        }
        let was_woken = self.woken == Some(id);
        if was_woken {
            self.woken = None;
        }
        if !self.held {
            self.held = true;
            self.queue.retain(|&waiting| waiting != id);
            return true;
        }
        if was_woken {
            self.queue.push_front(id);
        } else if !self.queue.contains(&id) {
            self.queue.push_back(id);
        }
        false
    }

    fn leave(&mut self, id: usize) {
        self.queue.retain(|&waiting| waiting != id);
        if self.granted == Some(id) {
            self.granted = None;
            self.release();
        }
        if self.woken == Some(id) {
            self.woken = None;
            if !self.held {
                self.wake();
            }
        }
    }
}

/// What a place of a history holds.
enum Held {
    Nothing,
    Waits(Waiting),
    Holds(#[expect(dead_code, reason = "held for its drop")] crate::OwnedMutexGuard<u32>),
}

/// One step at place `id`: begin a wait or poll it (0), drop what is there (1).
fn step(lock: &Shared, held: &mut Held, oracle: &mut Oracle, id: usize, op: usize) {
    *held = match (std::mem::replace(held, Held::Nothing), op) {
        (guard @ Held::Holds(_), 0) => guard,
        (Held::Nothing, 0) => polled(Polled::new(lock.clone().lock_owned()), oracle, id),
        (Held::Waits(wait), 0) => polled(wait, oracle, id),
        (gone, _) => {
            match &gone {
                Held::Waits(_) => oracle.leave(id),
                Held::Holds(_) => oracle.release(),
                Held::Nothing => {}
            }
            Held::Nothing
        }
    };
    let (locked, waiters, woken) = lock.raw.state();
    assert_eq!(locked, oracle.held);
    assert_eq!((waiters, woken), (!oracle.queue.is_empty(), oracle.woken.is_some()));
}

fn polled(mut wait: Waiting, oracle: &mut Oracle, id: usize) -> Held {
    let polled = wait.poll();
    assert_eq!(polled.is_ready(), oracle.poll(id));
    match polled {
        std::task::Poll::Ready(guard) => Held::Holds(guard),
        std::task::Poll::Pending => Held::Waits(wait),
    }
}

fn run(fair: bool, places: usize, ops: impl Iterator<Item = usize>) {
    let lock: Shared = Arc::new(if fair { Mutex::fair(0) } else { Mutex::new(0) });
    let mut held: Vec<_> = (0..places).map(|_| Held::Nothing).collect();
    let mut oracle = Oracle { fair, ..Oracle::default() };
    for op in ops {
        step(&lock, &mut held[op / 2], &mut oracle, op / 2, op % 2);
    }
    drop(held);
    assert!(is_idle(&lock), "nothing is left behind");
}

/// All sequences of seven operations at three places, against the sequential model. They are over
/// long before anybody's patience is.
#[test]
fn every_short_history_is_that_of_the_sequential_model() {
    const OPS: usize = 6;
    const LENGTH: u32 = 7;
    for history in 0..OPS.pow(LENGTH) {
        let ops = || (0..LENGTH).map(|i| history / OPS.pow(i) % OPS);
        run(true, 3, ops());
        run_patiently(3, ops());
    }
}

/// As `run` for the lock that can be overtaken; tried again if the machine stood still for as
/// long as a waiter's patience lasts.
fn run_patiently(places: usize, ops: impl Iterator<Item = usize> + Clone) {
    for _ in 0..100 {
        let begin = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| run(false, places, ops.clone())));
        match outcome {
            Ok(()) => return,
            Err(_) if begin.elapsed() >= PATIENCE => {}
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    panic!("a dozen operations took half a millisecond a hundred times");
}

#[test]
fn random_histories_are_those_of_the_sequential_model() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let ops: Vec<_> = (0..300).map(|_| rng.below(2 * 8) as usize).collect();
        run(true, 8, ops.iter().copied());
        for part in ops.chunks(20) {
            run_patiently(8, part.iter().copied());
        }
    }
}

//! The condition variable: order, conditions, time limits, giving up, hostile company.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use raddle_base::wait::WakeBatch;

use super::CondvarWait;
use crate::tests::support::{Polled, hostile, now, refusing, watchdog};
use crate::{CancelExt, CancellationToken, Condvar, Mutex};

const MANY: usize = 3 * WakeBatch::CAPACITY + 1;

type Shared = Arc<Mutex<u32>>;
type Waiting<'c> = Polled<CondvarWait<'c, Shared>>;

fn waiting<'c>(condvar: &'c Condvar, lock: &Shared) -> Waiting<'c> {
    let guard = lock.clone().try_lock_owned().expect("waits release it");
    Polled::pending(condvar.wait(guard))
}

#[test]
fn notifications_choose_in_order_and_are_not_stored() {
    let (condvar, lock): (_, Shared) = (Condvar::new(), Arc::default());
    condvar.notify_one();
    condvar.notify_all();
    let mut all: Vec<_> = (0..4).map(|_| waiting(&condvar, &lock)).collect();
    assert!(lock.try_lock().is_some(), "all have released it");
    condvar.notify_one();
    assert_eq!(all.iter().map(Polled::wakes).collect::<Vec<_>>(), [1, 0, 0, 0]);
    condvar.notify_all();
    assert_eq!(all.iter().map(Polled::wakes).collect::<Vec<_>>(), [1, 1, 1, 1]);
    for one in &mut all {
        *one.ready() += 1;
    }
    assert_eq!(*lock.try_lock().unwrap(), 4);
    let mut late = waiting(&condvar, &lock);
    assert!(late.poll().is_pending());
    assert_eq!(format!("{condvar:?}"), "Condvar { waiters: true }");
    drop(late);
    assert_eq!(format!("{condvar:?}"), "Condvar { waiters: false }");
}

#[test]
fn one_that_was_chosen_locks_as_anybody_does() {
    let (condvar, lock): (_, Shared) = (Condvar::default(), Arc::default());
    let mut wait = waiting(&condvar, &lock);
    let guard = now(lock.lock());
    condvar.notify_one();
    assert!(wait.poll().is_pending(), "the notifier holds the mutex");
    drop(guard);
    assert_eq!(wait.wakes(), 2);
    drop(wait.ready());
    assert!(lock.try_lock().is_some());
}

#[test]
fn a_condition_is_looked_at_first_and_after_each_notification() {
    let (condvar, lock): (_, Shared) = (Condvar::new(), Arc::default());
    let guard = now(condvar.wait_while(now(lock.lock()), |value| *value > 0));
    drop(guard);
    let mut looks = 0;
    let mut wait = Polled::pending(condvar.wait_while(now(lock.lock()), |value| {
        looks += 1;
        *value < 2
    }));
    for value in 1..=2 {
        *lock.try_lock().unwrap() = value;
        condvar.notify_one();
        assert_eq!(wait.poll().is_ready(), value == 2);
    }
    drop(wait);
    assert_eq!(looks, 3);
    assert!(lock.try_lock().is_some());
}

#[test]
fn one_that_was_chosen_and_gives_up_chooses_another() {
    let (condvar, lock): (_, Shared) = (Condvar::new(), Arc::default());
    // Dropped before and after it began to lock; dropped unchosen; chosen with all.
    for polls in 0..2 {
        let (mut first, mut second) = (waiting(&condvar, &lock), waiting(&condvar, &lock));
        let guard = now(lock.lock());
        condvar.notify_one();
        (0..polls).for_each(|_| assert!(first.poll().is_pending()));
        drop(first);
        assert_eq!(second.wakes(), 1);
        drop(guard);
        drop(second.ready());
        assert!(lock.try_lock().is_some());
    }
    let (first, mut second) = (waiting(&condvar, &lock), waiting(&condvar, &lock));
    drop(first);
    assert!(second.poll().is_pending());
    let first = waiting(&condvar, &lock);
    condvar.notify_all();
    let mut late = waiting(&condvar, &lock);
    drop(first);
    drop(second.ready());
    assert!(late.poll().is_pending(), "who was chosen with all passes nothing on");
    // One that has finished passes nothing on.
    condvar.notify_one();
    drop(late.ready());
    let mut other = waiting(&condvar, &lock);
    drop(late);
    assert!(other.poll().is_pending());
}

#[test]
fn another_mutex_is_refused_while_one_is_in_use() {
    let (condvar, lock, other): (_, Shared, Shared) =
        (Condvar::new(), Arc::default(), Arc::default());
    let first = waiting(&condvar, &lock);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(waiting(&condvar, &other)))).is_err());
    assert!(other.try_lock().is_some(), "the guard was released");
    drop(first);
    drop(waiting(&condvar, &other));
}

/// With the notifier's guard gone by the time the crowd is polled, each takes one poll.
#[test]
fn a_notified_crowd_takes_one_poll_each() {
    let (condvar, lock): (_, Shared) = (Condvar::new(), Arc::default());
    let mut all: Vec<_> = (0..1_000).map(|_| waiting(&condvar, &lock)).collect();
    let guard = now(lock.lock());
    condvar.notify_all();
    drop(guard);
    let mut polls = 0;
    for one in &mut all {
        polls += 1;
        *one.ready() += 1;
    }
    assert_eq!((polls, *lock.try_lock().unwrap()), (1_000, 1_000));
    assert!(all.iter().all(|one| one.wakes() == 1));
}

#[test]
fn ten_thousand_wait_at_once() {
    let (condvar, lock): (_, Shared) = (Condvar::new(), Arc::default());
    let mut all: Vec<_> = (0..10_000).map(|_| waiting(&condvar, &lock)).collect();
    (0..5_000).for_each(|_| condvar.notify_one());
    condvar.notify_all();
    all.iter_mut().for_each(|one| *one.ready() += 1);
    assert_eq!(*lock.try_lock().unwrap(), 10_000);
}

#[test]
fn tokens_end_waits() {
    let (condvar, token, lock): (_, _, Shared) =
        (Condvar::new(), CancellationToken::new(), Arc::default());
    let mut wait = Polled::pending(condvar.wait(now(lock.lock())).cancel_on(&token));
    token.cancel();
    assert!(wait.ready().is_err());
    assert!(lock.try_lock().is_some());
}

#[test]
fn blocking_and_timed() {
    watchdog(|| {
        let shared = Arc::new((Condvar::new(), Mutex::new(0)));
        let limit = Duration::from_millis(1);
        let guard = shared.1.blocking_lock();
        let (guard, timed_out) = shared.0.blocking_wait_timeout(guard, limit);
        assert!(timed_out);
        let (guard, still) = shared.0.blocking_wait_while_timeout(guard, limit, |v| *v == 0);
        assert!(still);
        let theirs = shared.clone();
        let thread = std::thread::spawn(move || {
            *theirs.1.blocking_lock() = 1;
            theirs.0.notify_all();
            let guard = theirs.1.blocking_lock();
            let (guard, still) =
                theirs.0.blocking_wait_while_timeout(guard, Duration::MAX, |v| *v < 2);
            assert!(!still);
            drop(guard);
        });
        let mut guard = guard;
        while *guard == 0 {
            guard = shared.0.blocking_wait(guard);
        }
        *guard = 2;
        drop(guard);
        shared.0.notify_one();
        thread.join().unwrap();
    });
}

#[test]
fn hostile_wakers_may_do_anything() {
    watchdog(|| {
        let shared = Arc::new((Condvar::new(), Mutex::new(0)));
        let make = || {
            let shared = Arc::downgrade(&shared);
            hostile(move |_| {
                let Some(shared) = shared.upgrade() else { return };
                if let Some(guard) = shared.1.try_lock() {
                    let mut wait = Polled::new(shared.0.wait(guard));
                    drop(wait.poll_with(Waker::noop()));
                    drop(wait);
                }
                shared.0.notify_one();
            })
        };
        for round in 0..4 {
            let mut all = Vec::new();
            for _ in 0..3 {
                let mut wait = Polled::new(shared.0.wait(now(shared.1.lock())));
                drop(wait.poll_with(&make()));
                drop(wait.poll_with(&make()));
                all.push(wait);
            }
            if round % 2 == 0 {
                shared.0.notify_all();
            }
            drop(all);
        }
        assert!(shared.1.try_lock().is_some());
    });
}

#[test]
fn a_panicking_waker_strands_nobody() {
    let (condvar, lock): (_, Shared) = (Condvar::new(), Arc::default());
    let mut bad = Polled::new(condvar.wait(now(lock.lock())));
    assert!(bad.poll_with(&refusing()).is_pending());
    let mut all: Vec<_> = (0..MANY).map(|_| waiting(&condvar, &lock)).collect();
    assert!(catch_unwind(AssertUnwindSafe(|| condvar.notify_all())).is_err());
    all.iter_mut().for_each(|one| drop(one.ready()));
    drop(bad.ready());
}

#[test]
fn threads_pass_a_token_round() {
    const THREADS: usize = 3;
    const ROUNDS: usize = if cfg!(miri) { 5 } else { 500 };
    watchdog(|| {
        let shared = Arc::new((Condvar::new(), Mutex::new(0_usize)));
        let threads: Vec<_> = (0..THREADS)
            .map(|i| {
                let shared = shared.clone();
                std::thread::spawn(move || {
                    for _ in 0..ROUNDS {
                        let guard = shared.1.blocking_lock();
                        let not_mine = |turn: &mut usize| *turn % THREADS != i;
                        let mut guard = crate::block_on(shared.0.wait_while(guard, not_mine));
                        *guard += 1;
                        drop(guard);
                        shared.0.notify_all();
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(*shared.1.try_lock().unwrap(), THREADS * ROUNDS);
    });
}

/// A condition variable with two places for waits, and what the sequential model says of it: who
/// is queued, in which order, and who was chosen, alone or not.
struct Pair<'c> {
    condvar: &'c Condvar,
    lock: Shared,
    waits: [Option<Waiting<'c>>; 2],
    queue: Vec<usize>,
    chosen: Vec<(usize, bool)>,
}

impl Pair<'_> {
    fn choose_one(&mut self) {
        if !self.queue.is_empty() {
            self.chosen.push((self.queue.remove(0), true));
        }
    }

    /// Forgets that a wait was chosen; how it was.
    fn forget(&mut self, id: usize) -> Option<bool> {
        let at = self.chosen.iter().position(|&(chosen, _)| chosen == id)?;
        Some(self.chosen.remove(at).1)
    }

    fn begin_or_poll(&mut self, id: usize) {
        let Some(wait) = &mut self.waits[id] else {
            self.waits[id] = Some(waiting(self.condvar, &self.lock));
            return self.queue.push(id);
        };
        let ready = wait.poll().is_ready();
        assert_eq!(ready, self.forget(id).is_some());
        if ready {
            self.waits[id] = None;
        }
    }

    fn give_up(&mut self, id: usize) {
        self.waits[id] = None;
        self.queue.retain(|&waits| waits != id);
        if self.forget(id) == Some(true) {
            self.choose_one();
        }
    }

    fn step(&mut self, op: usize) {
        match op {
            0 => {
                self.condvar.notify_one();
                self.choose_one();
            }
            1 => {
                self.condvar.notify_all();
                self.chosen.extend(self.queue.drain(..).map(|id| (id, false)));
            }
            2 | 3 => self.begin_or_poll(op - 2),
            _ => self.give_up(op - 4),
        }
        assert_eq!(self.condvar.has_waiters(), !self.queue.is_empty());
    }
}

/// All sequences of seven operations on two waits, against the sequential model.
#[test]
fn every_short_history_is_that_of_the_sequential_model() {
    const OPS: usize = 6;
    const LENGTH: u32 = 7;
    for history in 0..OPS.pow(LENGTH) {
        let condvar = Condvar::new();
        let (lock, waits) = (Shared::default(), [None, None]);
        let mut pair =
            Pair { condvar: &condvar, lock, waits, queue: Vec::new(), chosen: Vec::new() };
        (0..LENGTH).for_each(|i| pair.step(history / OPS.pow(i) % OPS));
    }
}

#[test]
fn sizes_and_auto_traits() {
    fn shared<T: Send + Sync>(_: &T) {}
    assert_eq!(size_of::<Condvar>(), 24);
    let (condvar, lock) = (Condvar::new(), Mutex::new(1));
    shared(&condvar);
    let wait = condvar.wait(lock.try_lock().unwrap());
    shared(&wait);
    drop(wait);
    shared(&condvar.wait_while(lock.try_lock().unwrap(), |_| true));
}

/// How long one has been passed over counts from the wait at hand, not from an earlier one for the
/// same mutex.
#[test]
fn patience_begins_anew_with_each_wait_for_the_mutex() {
    let (mutex, condvar) = (Mutex::new(0), Condvar::new());
    let mut wait = Polled::pending(condvar.wait_while(now(mutex.lock()), |n| *n < 2));
    for round in 1..=2 {
        let mut holder = mutex.try_lock().unwrap();
        condvar.notify_one();
        assert!(wait.poll().is_pending(), "in the queue of the mutex");
        drop(holder);
        holder = mutex.try_lock().expect("the one that was woken is overtaken");
        assert!(wait.poll().is_pending(), "passed over, for the first time");
        *holder = round;
        drop(holder);
        drop(mutex.try_lock().expect("overtaken again: its patience is not over"));
        if round == 1 {
            assert!(wait.poll().is_pending(), "waits for the condition again");
            let since = Instant::now();
            while since.elapsed() < Duration::from_millis(1) {}
        }
    }
    drop(wait.ready());
}

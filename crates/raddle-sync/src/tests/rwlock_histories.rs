//! The reader–writer lock against a sequential model of it, phase-fair and preferring writers, with
//! and without a limit of readers: all short histories, and long random ones.

use std::collections::VecDeque;
use std::mem::replace;
use std::sync::Arc;
use std::task::Poll;

use raddle_base::random::Rng;

use super::{Lockable, Read, Upgradable, UpgradableGuard, Write, WriteGuard};
use crate::tests::support::Polled;
use crate::{OwnedRwLockReadGuard, OwnedRwLockUpgradableGuard, OwnedRwLockWriteGuard, RwLock};

type Lock = Arc<RwLock<u32>>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Read,
    Write,
    Upgradable,
}

/// The sequential model.
#[derive(Default)]
struct Oracle {
    prefer: bool,
    limit: usize,
    readers: usize,
    writer: bool,
    upgradable: bool,
    waiting_readers: VecDeque<usize>,
    /// Writers and upgradable readers; and whether a plain reader went before one of the latter.
    others: VecDeque<(usize, Way, bool)>,
    granted: Vec<usize>,
}

impl Oracle {
    fn head(&self) -> Option<Way> {
        self.others.front().map(|other| other.1)
    }

    fn has_room(&self) -> bool {
        !self.writer && self.readers < self.limit
    }

    fn admits(&self, way: Way) -> bool {
        let nobody = self.others.is_empty() && self.waiting_readers.is_empty();
        match way {
            Way::Write => !self.writer && self.readers == 0 && nobody,
            Way::Upgradable => self.has_room() && !self.upgradable && nobody,
            Way::Read => {
                let before = match self.head() {
                    Some(Way::Write) => true,
                    Some(_) => !self.upgradable,
                    None => false,
                };
                self.has_room() && self.waiting_readers.is_empty() && !before
            }
        }
    }

    fn take(&mut self, way: Way) {
        self.writer |= way == Way::Write;
        self.upgradable |= way == Way::Upgradable;
        self.readers += usize::from(way != Way::Write);
    }

    fn poll(&mut self, id: usize, way: Way) -> bool {
        if let Some(at) = self.granted.iter().position(|&granted| granted == id) {
            self.granted.remove(at);
            return true;
        }
        if self.waiting_readers.contains(&id) || self.others.iter().any(|other| other.0 == id) {
            return false;
        }
        if self.admits(way) {
            self.take(way);
            return true;
        }
        match way {
            Way::Read => self.waiting_readers.push_back(id),
            _ => self.others.push_back((id, way, false)),
        }
        false
    }

    /// At most `share` of the readers that wait go in.
    fn let_in(&mut self, share: usize) {
        for _ in 0..share {
            if !self.has_room() {
                return;
            }
            let Some(id) = self.waiting_readers.pop_front() else { return };
            self.take(Way::Read);
            self.granted.push(id);
            if let Some(other) = self.others.front_mut() {
                other.2 = true;
            }
        }
    }

    fn admit(&mut self, after_writer: bool) {
        // Where places are short, a plain reader goes before each upgradable one.
        let short = self.limit < usize::MAX;
        let turn = self.others.front().is_some_and(|other| other.1 != Way::Write && !other.2);
        let blocked = self.prefer && self.head() == Some(Way::Write);
        self.let_in(match after_writer && !blocked {
            true => self.limit,
            false => usize::from(short && turn),
        });
        let goes = match self.head() {
            Some(Way::Write) => !self.writer && self.readers == 0,
            Some(_) => self.has_room() && !self.upgradable,
            None => false,
        };
        if goes && let Some((id, way, _)) = self.others.pop_front() {
            self.take(way);
            self.granted.push(id);
        }
        if self.head() != Some(Way::Write) {
            self.let_in(self.limit);
        }
    }

    fn release(&mut self, way: Way) {
        match way {
            Way::Write => self.writer = false,
            _ => self.readers -= 1,
        }
        self.upgradable &= way != Way::Upgradable;
        self.admit(way == Way::Write);
    }

    /// The writer stays to read.
    fn downgrade(&mut self) {
        self.writer = false;
        self.readers = 1;
        self.admit(true);
    }

    /// Whether the upgradable reader writes now; it stays as a plain one else.
    fn upgrade(&mut self) -> bool {
        self.upgradable = false;
        self.writer = self.readers == 1;
        match self.writer {
            true => self.readers = 0,
            false => self.admit(false),
        }
        self.writer
    }

    fn leave(&mut self, id: usize, way: Way) {
        self.waiting_readers.retain(|&waiting| waiting != id);
        self.others.retain(|other| other.0 != id);
        match self.granted.iter().position(|&granted| granted == id) {
            Some(at) => {
                self.granted.remove(at);
                self.release(way);
            }
            None => self.admit(false),
        }
    }
}

/// What a place of a history holds.
enum Held {
    Nothing,
    Read(Polled<Read<Lock>>),
    Write(Polled<Write<Lock>>),
    Upgradable(Polled<Upgradable<Lock>>),
    Reads(#[expect(dead_code, reason = "held for its drop")] OwnedRwLockReadGuard<u32>),
    Writes(OwnedRwLockWriteGuard<u32>),
    MayUpgrade(OwnedRwLockUpgradableGuard<u32>),
}

impl Held {
    fn begin(lock: &Lock, way: Way) -> Held {
        let lock = lock.clone();
        match way {
            Way::Read => Held::Read(Polled::new(lock.read_owned())),
            Way::Write => Held::Write(Polled::new(lock.write_owned())),
            Way::Upgradable => Held::Upgradable(Polled::new(lock.upgradable_read_owned())),
        }
    }

    fn way(&self) -> Way {
        match self {
            Held::Read(_) | Held::Reads(_) => Way::Read,
            Held::Write(_) | Held::Writes(_) => Way::Write,
            _ => Way::Upgradable,
        }
    }

    fn polled(self) -> Held {
        match self {
            Held::Read(mut wait) => match wait.poll() {
                Poll::Ready(guard) => Held::Reads(guard),
                Poll::Pending => Held::Read(wait),
            },
            Held::Write(mut wait) => match wait.poll() {
                Poll::Ready(guard) => Held::Writes(guard),
                Poll::Pending => Held::Write(wait),
            },
            Held::Upgradable(mut wait) => match wait.poll() {
                Poll::Ready(guard) => Held::MayUpgrade(guard),
                Poll::Pending => Held::Upgradable(wait),
            },
            guard => guard,
        }
    }

    fn is_guard(&self) -> bool {
        matches!(self, Held::Reads(_) | Held::Writes(_) | Held::MayUpgrade(_))
    }

    /// A writer downgrades, an upgradable reader upgrades or downgrades.
    fn changed(self, oracle: &mut Oracle) -> Held {
        match self {
            Held::Writes(guard) => {
                oracle.downgrade();
                Held::Reads(WriteGuard::downgrade(guard))
            }
            Held::MayUpgrade(guard) => match UpgradableGuard::try_upgrade(guard) {
                Ok(guard) => {
                    assert!(oracle.upgrade(), "others read");
                    Held::Writes(guard)
                }
                Err(guard) => {
                    assert!(!oracle.upgrade(), "nobody else reads");
                    Held::Reads(UpgradableGuard::downgrade(guard))
                }
            },
            other => other,
        }
    }

    fn dropped(self, oracle: &mut Oracle, id: usize) -> Held {
        match &self {
            Held::Nothing => {}
            guard if guard.is_guard() => oracle.release(guard.way()),
            wait => oracle.leave(id, wait.way()),
        }
        Held::Nothing
    }
}

const WAYS: [Way; 3] = [Way::Read, Way::Write, Way::Upgradable];

/// What can be done at a place: begin or poll one of three waits, change a guard, drop all.
const OPS: usize = 5;

fn step(lock: &Lock, held: &mut Held, oracle: &mut Oracle, id: usize, op: usize) {
    *held = match (replace(held, Held::Nothing), op) {
        (gone, 4) => gone.dropped(oracle, id),
        (guard, 3) => guard.changed(oracle),
        (guard, _) if guard.is_guard() => guard,
        (wait, way) => {
            let begun =
                if matches!(wait, Held::Nothing) { Held::begin(lock, WAYS[way]) } else { wait };
            let expected = oracle.poll(id, begun.way());
            let polled = begun.polled();
            assert_eq!(polled.is_guard(), expected);
            polled
        }
    };
    let (readers, writer, _) = lock.raw.state();
    assert_eq!((readers as usize, writer), (oracle.readers, oracle.writer));
    assert!(readers as usize <= oracle.limit);
}

/// A lock with a limit, or without one (0).
fn make(prefer: bool, limit: u32) -> Lock {
    Arc::new(match (prefer, limit) {
        (false, 0) => RwLock::new(0),
        (true, 0) => RwLock::preferring_writers(0),
        (false, _) => RwLock::with_max_readers(0, limit),
        (true, _) => RwLock::preferring_writers_with_max_readers(0, limit),
    })
}

fn run(prefer: bool, limit: u32, places: usize, ops: impl Iterator<Item = usize>) {
    let lock = make(prefer, limit);
    let mut held: Vec<_> = (0..places).map(|_| Held::Nothing).collect();
    let limit = if limit == 0 { usize::MAX } else { limit as usize };
    let mut oracle = Oracle { prefer, limit, ..Oracle::default() };
    for op in ops {
        step(&lock, &mut held[op / OPS], &mut oracle, op / OPS, op % OPS);
    }
    drop(held);
    assert_eq!(lock.raw.state(), (0, false, false), "nothing is left behind");
    assert!(Lockable::lock(&lock).try_enter(super::Kind::Write, place()).is_some());
}

fn place() -> &'static std::panic::Location<'static> {
    std::panic::Location::caller()
}

/// All sequences of five operations at three places.
#[test]
fn every_short_history_is_that_of_the_sequential_model() {
    const ALL: usize = 3 * OPS;
    const LENGTH: u32 = 5;
    for history in 0..ALL.pow(LENGTH) / 3 {
        // By symmetry the first step is at the first place.
        let ops = || (0..LENGTH).map(|i| history / ALL.pow(LENGTH - 1 - i) % ALL);
        run(false, 0, 3, ops());
        run(history % 2 == 0, 1 + history as u32 / 2 % 2, 3, ops());
        if history % 2 == 0 {
            run(true, 0, 3, ops());
        }
    }
}

#[test]
fn random_histories_are_those_of_the_sequential_model() {
    for seed in 0..800 {
        let mut rng = Rng::new(seed);
        let ops: Vec<_> = (0..300).map(|_| rng.below(OPS as u32 * 8) as usize).collect();
        run(seed % 2 == 0, seed as u32 / 2 % 4, 8, ops.into_iter());
    }
}

//! The lock around the value of a watch channel: many readers or one writer, threads block on it.
//!
//! # Question
//!
//! A receiver looks at the value in place, and a sender changes it in place, so they must exclude
//! each other, in a word that tells the sender in the same step whether anybody waits for a change.
//! How do threads wait for the lock, without spinning for long, and without readers that come and
//! go keeping a writer out for ever?
//!
//! # States
//!
//! | bits of the word | field |
//! |---|---|
//! | 0 | WRITER: somebody changes the value |
//! | 1 | WAITERS: somebody waits for a change (`shared.rs`); no business of this lock |
//! | 2 | PARKED: threads sleep in the room |
//! | 3 | WANTED: a writer sleeps; who wants to read goes to sleep, too |
//! | 4.. | READERS: guards that are alive; zero while WRITER is set |
//!
//! # Protocol
//!
//! *Read*: exchange that adds a reader, with neither WRITER nor WANTED set. *Write*: exchange that
//! sets WRITER with no reader and no writer. *End*: one subtraction; the last reader and every
//! writer that see PARKED lock the room, clear PARKED, and wake all who sleep. *Sleep*: spin for a
//! while; lock the room; then, in a loop, an exchange either takes the lock or sets PARKED (and
//! WANTED, if a writer) on a word that shows it taken, and the thread sleeps. A writer that gets in
//! by this way clears WANTED; others that sleep will set it again.
//!
//! # Race
//!
//! The lock is freed while a thread goes to sleep: its exchange fails on the freed word, or the
//! end sees PARKED, and locks the room, which the sleeper leaves only by sleeping.
//!
//! A reader sleeps since WANTED is set, although nobody is in: the writer that set it is on its
//! way, never gives up, and its end wakes the reader.
//!
//! # Proof
//!
//! *Exclusion*: all entries are exchanges of one word that check the other side's bits. Ends
//! release and entries acquire; ends are read-modify-writes, so a writer has seen all readers
//! before it. *Liveness*: a thread sleeps only with PARKED set in a word that somebody will still
//! change by an end, or with a writer awake; and PARKED is cleared only under the room's lock,
//! followed by a wake of all. Models: `model_watch_lock_excludes`,
//! `model_watch_lock_sleeper_against_end`.

use raddle_base::backoff::Backoff;
use raddle_base::shim::atomic::AtomicU32;
use raddle_base::shim::atomic::Ordering::{Acquire, Relaxed, Release};
use raddle_base::shim::model::bound;
use raddle_base::shim::mutex::{Condvar, Mutex};

const WRITER: u32 = 1;
const WAITERS: u32 = 2;
const PARKED: u32 = 4;
const WANTED: u32 = 8;
const READER: u32 = 16;
const MOST_READERS: u32 = u32::MAX / READER;

pub(super) struct ValueLock {
    word: AtomicU32,
    room: Mutex<()>,
    turn: Condvar,
}

/// Who wants in: what keeps it out, and what it changes.
#[derive(Clone, Copy)]
enum Side {
    Read,
    Write,
}

impl Side {
    /// The word after entering, or nothing if the way is not free. `asleep`: the thread comes from
    /// its sleep.
    #[inline]
    fn enter(self, word: u32, asleep: bool) -> Option<u32> {
        match self {
            Side::Read if word & (WRITER | WANTED) == 0 => {
                assert!(word / READER < MOST_READERS, "too many guards of a watched value");
                Some(word + READER)
            }
            Side::Write if word & WRITER == 0 && word < READER => {
                Some((if asleep { word & !WANTED } else { word }) | WRITER)
            }
            _ => None,
        }
    }

    /// The word before going to sleep.
    fn park(self, word: u32) -> u32 {
        match self {
            Side::Read => word | PARKED,
            Side::Write => word | PARKED | WANTED,
        }
    }
}

impl ValueLock {
    pub(super) fn new() -> Self {
        ValueLock { word: AtomicU32::new(0), room: Mutex::new(()), turn: Condvar::new() }
    }

    /// Waits until there is no writer, and adds a reader.
    #[inline]
    pub(super) fn read(&self, waits: impl FnOnce()) {
        if !self.try_enter(Side::Read) {
            waits();
            self.wait(Side::Read);
        }
    }

    /// Waits until nobody else is in, and sets the writer.
    #[inline]
    pub(super) fn write(&self, waits: impl FnOnce()) {
        if !self.try_enter(Side::Write) {
            waits();
            self.wait(Side::Write);
        }
    }

    #[inline]
    fn try_enter(&self, side: Side) -> bool {
        // Relaxed: only a first guess for the exchange below.
        let mut word = self.word.load(Relaxed);
        while let Some(next) = side.enter(word, false) {
            // Acquire: what earlier writers, and for a writer earlier readers, did is over.
            match self.word.compare_exchange_weak(word, next, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    #[cold]
    fn wait(&self, side: Side) {
        let mut backoff = Backoff::new();
        for _ in 0..bound(10, 0) {
            backoff.snooze();
            if self.try_enter(side) {
                return;
            }
        }
        let mut room = self.room.lock();
        // Relaxed: only a first guess for the exchange below.
        let mut word = self.word.load(Relaxed);
        loop {
            let enters = side.enter(word, true);
            let next = enters.unwrap_or_else(|| side.park(word));
            // Acquire: as in `try_enter`.
            match self.word.compare_exchange_weak(word, next, Acquire, Relaxed) {
                Ok(_) if enters.is_some() => return,
                Ok(_) => {
                    room = self.turn.wait(room);
                    // Relaxed: as above.
                    word = self.word.load(Relaxed);
                }
                Err(now) => word = now,
            }
        }
    }

    #[cfg(test)]
    pub(super) fn is_wanted(&self) -> bool {
        // Relaxed: the test waits for it, and nothing else.
        self.word.load(Relaxed) & WANTED != 0
    }

    #[inline]
    pub(super) fn end_read(&self) {
        // Release: the next writer sees the reader's accesses over.
        let word = self.word.fetch_sub(READER, Release);
        if word & PARKED != 0 && word / READER == 1 {
            self.wake();
        }
    }

    /// Whether anybody waits for a change.
    #[inline]
    pub(super) fn end_write(&self) -> bool {
        // Release: who enters next sees the value as it is now, and who looks for a change after
        // it set WAITERS sees the version.
        let word = self.word.fetch_sub(WRITER, Release);
        if word & PARKED != 0 {
            self.wake();
        }
        word & WAITERS != 0
    }

    #[cold]
    fn wake(&self) {
        let room = self.room.lock();
        // Relaxed: changed under the room's lock only, and publishes nothing.
        self.word.fetch_and(!PARKED, Relaxed);
        drop(room);
        self.turn.notify_all();
    }

    /// Somebody waits for a change from now on. Called under the lock of those who wait.
    pub(super) fn set_waiters(&self) {
        // Acquire: a change whose end was before this is seen by the look that follows.
        self.word.fetch_or(WAITERS, Acquire);
    }

    /// Nobody waits for a change. Called under the lock of those who wait.
    pub(super) fn clear_waiters(&self) {
        // Relaxed: nothing is published by it.
        self.word.fetch_and(!WAITERS, Relaxed);
    }
}

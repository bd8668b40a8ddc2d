//! Admission: who goes in when somebody leaves, or a place in a line becomes free.
//!
//! All of it runs under the queue's lock; `rwlock/raw.rs` has the protocol and the proof.

use raddle_base::shim::atomic::Ordering::{Acquire, Relaxed, Release};
use raddle_base::wait::Wake;

use super::raw::{GRANTED, Queue, READERS, RawRwLock, WRITERS};
use super::word::{
    Kind, LIMITED, MAX_READERS, ONE, PREFER, QUEUED, UPGRADABLE, WAITING, WRITER, is_full, mode,
    readers,
};

impl RawRwLock {
    #[cold]
    pub(super) fn queued_writer_out(&self, stays: u32) {
        let mut queue = self.queue.lock();
        // Relaxed: the word is ours, who hold WRITER and the lock, until a store gives it away.
        let word = self.word().load(Relaxed);
        if word & LIMITED != 0 {
            return self.writer_out_within_limit(queue, stays);
        }
        let mode = word & PREFER;
        let head = queue.front_of(WRITERS, |kind| *kind);
        let blocked = mode != 0 && head.is_some_and(Kind::stops_readers);
        if !queue.is_line_empty(READERS) && !blocked {
            return self.let_readers_in(queue, None, |count, marks| {
                // Release: what was written is visible to those who come in by themselves. Those
                // in the queue see it through their nodes.
                self.word().store(mode | (stays + count * ONE) | marks, Release);
            });
        }
        if stays == 0 && head == Some(Kind::Write) {
            let wake = queue.grant_front_after(WRITERS, GRANTED, |queue| {
                // Relaxed: the next writer sees what was written through its node.
                self.word().store(mode | WRITER | marks(queue), Relaxed);
            });
            drop(queue);
            return wake.into_iter().for_each(Wake::wake);
        }
        // Release: as above.
        self.word().store(mode | stays | marks(&mut queue), Release);
        self.admit(queue);
    }

    /// Lets in whoever may go in now, with no writer in (if there is one, only the marks are
    /// brought up to date). Wakes with the lock released.
    #[cold]
    pub(super) fn admit(&self, mut queue: Queue<'_>) {
        // Relaxed: this bit never changes.
        if self.word().load(Relaxed) & LIMITED != 0 {
            return self.admit_within_limit(queue, 0);
        }
        self.settle(&mut queue);
        let (readers_may, wake) = self.admit_heads(&mut queue);
        if readers_may && !queue.is_line_empty(READERS) {
            return self.let_readers_in(queue, wake, |count, _| self.add_readers(count));
        }
        drop(queue);
        wake.into_iter().for_each(Wake::wake);
    }

    /// Grants to the head of the second line what it may have: at most one gets in. True if
    /// nothing there stops readers. The marks match the lines before and after.
    pub(super) fn admit_heads(&self, queue: &mut Queue<'_>) -> (bool, Option<Wake>) {
        // Acquire: all who left before have their part passed on with the lock.
        let word = self.word().load(Acquire);
        let head = queue.front_of(WRITERS, |kind| *kind);
        let next = match head {
            _ if word & WRITER != 0 => return (false, None),
            None => return (true, None),
            Some(Kind::Write) if readers(word) == 0 => mode(word) | WRITER,
            Some(Kind::Upgrade) if readers(word) == 1 => mode(word) | WRITER,
            Some(Kind::Write | Kind::Upgrade) => return (false, None),
            Some(_) if word & UPGRADABLE != 0 || is_full(word) => return (true, None),
            Some(_) => {
                // Relaxed: as in `add_readers`. Readers come and go meanwhile, but no other of
                // this line, since QUEUED stops them.
                self.word().fetch_add(ONE | UPGRADABLE, Relaxed);
                let wake = queue.grant_front_of(WRITERS, GRANTED);
                self.settle(queue);
                // One at a time: should it be gone already, its leaving sees QUEUED and admits.
                let stops = queue.front_of(WRITERS, |kind| kind.stops_readers());
                return (stops != Some(true), wake);
            }
        };
        let granted = queue.grant_front_after(WRITERS, GRANTED, |queue| {
            // Relaxed: the writer sees what was done before through its node, and nobody else
            // gets in by this. With WAITING set and nobody to leave the word is ours.
            self.word().store(next | marks(queue), Relaxed);
        });
        (false, granted)
    }

    /// Counts readers that come from the queue, a few at a time; or takes one off (all bits set).
    pub(super) fn add_readers(&self, count: u32) {
        // Relaxed: who reads needs what writers wrote, which this thread has acquired with the word
        // or written, and passes on with the nodes; and to later writers the chain goes on.
        let before = self.word().fetch_add(count.wrapping_mul(ONE), Relaxed);
        if readers(before) > 2 * MAX_READERS - 1000 {
            // Forgotten guards by the ten million: the count would run over.
            std::process::abort();
        }
    }

    /// Makes the marks match the lines.
    pub(super) fn settle(&self, queue: &mut Queue<'_>) {
        let marks = marks(queue);
        // Relaxed: marks are changed under the lock but by the exchange of `enqueue`, which is
        // under it as well, and publish nothing.
        let mut word = self.word().load(Relaxed);
        while word & (QUEUED | WAITING) != marks {
            let next = word & !(QUEUED | WAITING) | marks;
            match self.word().compare_exchange_weak(word, next, Relaxed, Relaxed) {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
    }

    /// Lets all readers in that are queued now, in one step for those who come after, and wakes
    /// them (and whom else is to be woken). `begin` adds the given number of readers to the word,
    /// and is told the marks that go with it.
    fn let_readers_in(&self, queue: Queue<'_>, wake: Option<Wake>, begin: impl FnOnce(u32, u32)) {
        let (mut begin, mut wake) = (Some(begin), wake);
        queue.release_line(READERS, GRANTED, |queue, batch, count, more| {
            // Until all are in, this thread counts as one of them: those who are in already may
            // leave before the rest is granted.
            let count = count as u32 + u32::from(more);
            if let Some(begin) = begin.take() {
                begin(count, marks(queue));
                // Room is for one wake: who admitted the head already admits no other.
                let one = wake.take().or_else(|| self.admit_heads(queue).1);
                one.into_iter().for_each(|wake| batch.push(wake));
                return self.settle(queue);
            }
            // One of those counted was this thread.
            self.add_readers(count.wrapping_sub(1));
            if count == 0 {
                let (_, another) = self.admit_heads(queue);
                another.into_iter().for_each(|wake| batch.push(wake));
            }
        });
    }
}

/// What the word is to say about the lines.
pub(super) fn marks(queue: &mut Queue<'_>) -> u32 {
    match queue.front_of(WRITERS, |kind| *kind) {
        Some(kind) if kind.stops_readers() => QUEUED | WAITING,
        None if queue.is_line_empty(READERS) => 0,
        _ => QUEUED,
    }
}

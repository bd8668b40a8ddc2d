//! Admission to a lock that lets only so many readers in at a time.
//!
//! The lines are served a place at a time, since a line may be longer than there is room. While
//! one is not empty nobody comes in by himself, so that under the queue's lock readers only become
//! fewer: what was found to fit does fit. The two lines take turns: after a writer those who read
//! go first, as many as there are places, and before an upgradable reader one plain reader goes,
//! if one waits. `rwlock/raw.rs` has the protocol and the proof.

use raddle_base::shim::atomic::Ordering::{Acquire, Relaxed, Release};
use raddle_base::wait::WakeBatch;

use super::admit::marks;
use super::raw::{GRANTED, Queue, READERS, RawRwLock, WRITERS};
use super::word::{Kind, PREFER, QUEUED, UPGRADABLE, WRITER, is_full, limit, mode};

impl RawRwLock {
    /// Lets in whoever may go in now, and wakes them with the lock released. `group` readers go
    /// before the head of the other line, whoever that is.
    #[cold]
    pub(super) fn admit_within_limit<'a>(&'a self, mut queue: Queue<'a>, mut group: u32) {
        let mut batch = WakeBatch::new();
        loop {
            self.settle(&mut queue);
            let more = self.fill(&mut queue, &mut batch, &mut group);
            self.settle(&mut queue);
            if !more {
                drop(queue);
                return batch.finish();
            }
            // Until the rest of the group is in, this thread counts as one of them, for which there
            // is a place: those who are in already may leave meanwhile.
            self.add_readers(1);
            drop(queue);
            batch.wake_all();
            queue = self.queue.lock();
            self.add_readers(u32::MAX);
        }
    }

    #[cold]
    pub(super) fn try_enter_within_limit(&self, kind: Kind) -> bool {
        // Relaxed: only a first guess for the exchange below.
        let mut word = self.word().load(Relaxed);
        while let Some(next) = kind.enter_within_limit(word) {
            // Acquire: as in `try_enter`.
            match self.word().compare_exchange_weak(word, next, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// The word after coming in under the lock, where it can be seen for whom QUEUED stands: it
    /// stops no reader before which nobody in line could go.
    #[cold]
    pub(super) fn enter_before_lines(kind: Kind, word: u32, queue: &Queue<'_>) -> Option<u32> {
        let first = kind == Kind::Read && queue.is_line_empty(READERS);
        let passes = first && (word & UPGRADABLE != 0 || queue.is_line_empty(WRITERS));
        let hidden = if passes { word & QUEUED } else { 0 };
        kind.enter_within_limit(word - hidden).map(|next| next | hidden)
    }

    /// The writer leaves a lock with QUEUED, and stays as `stays`: none, or itself as a reader.
    #[cold]
    pub(super) fn writer_out_within_limit(&self, mut queue: Queue<'_>, stays: u32) {
        let head = queue.front_of(WRITERS, |kind| *kind);
        // Relaxed: the word is ours, who hold WRITER and the lock, until the store.
        let mode = mode(self.word().load(Relaxed));
        let blocked = mode & PREFER != 0 && head.is_some_and(Kind::stops_readers);
        // Release: what was written is visible to those who come in by themselves, and to those who
        // are let in here or by others.
        self.word().store(mode | stays | marks(&mut queue), Release);
        self.admit_within_limit(queue, if blocked { 0 } else { limit(mode) });
    }

    /// Grants until nobody else may go in (false), or the batch is full.
    fn fill(&self, queue: &mut Queue<'_>, batch: &mut WakeBatch, group: &mut u32) -> bool {
        let upgradable = queue.front_of(WRITERS, |kind| *kind == Kind::Upgradable) == Some(true);
        let mut one = 1;
        let first = if *group == 0 && upgradable { &mut one } else { group };
        if self.let_in(queue, batch, first) {
            return true;
        }
        let (readers_may, wake) = self.admit_heads(queue);
        wake.into_iter().for_each(|wake| batch.push(wake));
        let mut all = u32::MAX;
        readers_may && self.let_in(queue, batch, &mut all)
    }

    /// Lets readers in from their line while there are places and `share` lasts; true if the batch
    /// was full before that, but for the one of the other line.
    fn let_in(&self, queue: &mut Queue<'_>, batch: &mut WakeBatch, share: &mut u32) -> bool {
        while *share > 0 && !queue.is_line_empty(READERS) {
            // Acquire: as in `admit_heads`, for those who come in by this.
            let word = self.word().load(Acquire);
            if word & WRITER != 0 || is_full(word) {
                return false;
            }
            if batch.room() <= 1 {
                return true;
            }
            self.add_readers(1);
            let wake = queue.grant_front_of(READERS, GRANTED);
            wake.into_iter().for_each(|wake| batch.push(wake));
            queue.front_of(WRITERS, |kind| {
                if *kind == Kind::Upgradable {
                    *kind = Kind::Passed;
                }
            });
            *share -= 1;
        }
        false
    }
}

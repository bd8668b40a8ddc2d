//! What is known about a source under io_uring, in one word.
//!
//! # Question
//!
//! A task polls a source, the ring completes requests of that source, perhaps another thread
//! closes it. How do they agree, without a lock on the way that finds nothing, on whether there is
//! something to take, and on whether a request is on its way that will wake the task?
//!
//! # States
//!
//! | bit | set by | cleared by | means |
//! |---|---|---|---|
//! | DATA | completion | taking the last of it | something waits to be taken, under the lock |
//! | READ, WRITE | who arms the request | its last completion | a request is on its way |
//! | READ_OK, WRITE_OK | completion of a poll | an attempt that would block | may be tried |
//! | DRAINED | a short direct read | arming | the socket was empty: do not try again first |
//! | MORE | who joins the queue | the next news | waiters stand in the queue |
//! | GONE | close | never | every wait ends |
//! | SENDING | a small write, under the lock | its last completion | bytes are on their way |
//! | FAILED | a completion | the write that reports it | sending has failed |
//!
//! # Protocol
//!
//! A task that finds nothing leaves its waker, arms the request unless it is armed, and looks at
//! the word again before it reports `Pending`. News changes the word, then takes the waker.
//!
//! # Race
//!
//! The task looks (nothing), the news comes and finds no waker, the task leaves its waker and
//! sleeps for ever. It does not: it looks again. Two tasks arm at once: `arm` is one
//! read-modify-write, and only the one that changed the bit submits.
//!
//! # Proof
//!
//! All changes are read-modify-writes of one word. The waiter cell orders its `take` against the
//! `register`: if the take is first, the news before it is visible to the second look. For the
//! queue, joining sets MORE after it entered: if the news is first, the word returned by setting
//! MORE shows it; if not, the news finds MORE. Model: `model_news_against_wait`.

use crate::interest::Direction;
use raddle_base::shim::atomic::{AtomicU32, Ordering};

/// The bits at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bits(u32);

impl Bits {
    pub(crate) const NONE: Bits = Bits(0);
    pub(crate) const DATA: Bits = Bits(1 << 0);
    pub(crate) const READ: Bits = Bits(1 << 1);
    pub(crate) const WRITE: Bits = Bits(1 << 2);
    pub(crate) const READ_OK: Bits = Bits(1 << 3);
    pub(crate) const WRITE_OK: Bits = Bits(1 << 4);
    pub(crate) const DRAINED: Bits = Bits(1 << 5);
    pub(crate) const MORE: Bits = Bits(1 << 6);
    pub(crate) const GONE: Bits = Bits(1 << 7);
    pub(crate) const SENDING: Bits = Bits(1 << 8);
    pub(crate) const FAILED: Bits = Bits(1 << 9);

    /// A request of this direction is on its way.
    pub(crate) const fn armed(direction: Direction) -> Bits {
        match direction {
            Direction::Read => Bits::READ,
            Direction::Write => Bits::WRITE,
        }
    }

    /// Something of this direction is on its way, whose completion will wake.
    pub(crate) const fn coming(direction: Direction) -> Bits {
        match direction {
            Direction::Read => Bits::READ,
            Direction::Write => Bits::WRITE.with(Bits::SENDING),
        }
    }

    /// This direction may be tried.
    pub(crate) const fn ok(direction: Direction) -> Bits {
        match direction {
            Direction::Read => Bits::READ_OK,
            Direction::Write => Bits::WRITE_OK,
        }
    }

    pub(crate) const fn with(self, more: Bits) -> Bits {
        Bits(self.0 | more.0)
    }

    /// Whether any of `bits` is set.
    #[inline]
    pub(crate) const fn any(self, bits: Bits) -> bool {
        self.0 & bits.0 != 0
    }
}

/// The word.
#[derive(Debug)]
pub(crate) struct Word(AtomicU32);

impl Word {
    pub(crate) fn new() -> Word {
        Word(AtomicU32::new(0))
    }

    #[inline]
    pub(crate) fn load(&self) -> Bits {
        // Acquire: who sees a bit sees what led to it.
        Bits(self.0.load(Ordering::Acquire))
    }

    /// Sets bits; the word before.
    #[inline]
    pub(crate) fn set(&self, bits: Bits) -> Bits {
        // Release publishes what led to the bits; acquire for who acts on what it finds.
        Bits(self.0.fetch_or(bits.0, Ordering::AcqRel))
    }

    /// Clears bits; the word before.
    #[inline]
    pub(crate) fn clear(&self, bits: Bits) -> Bits {
        // As `set`.
        Bits(self.0.fetch_and(!bits.0, Ordering::AcqRel))
    }

    /// News: sets some bits and clears others (and MORE) in one step; the word before.
    #[inline]
    pub(crate) fn news(&self, set: Bits, clear: Bits) -> Bits {
        // Relaxed: a first guess, checked by the exchange.
        let mut seen = self.0.load(Ordering::Relaxed);
        loop {
            let next = (seen & !clear.0 & !Bits::MORE.0) | set.0;
            // As `set`.
            let order = Ordering::AcqRel;
            match self.0.compare_exchange_weak(seen, next, order, Ordering::Relaxed) {
                Ok(before) => return Bits(before),
                Err(now) => seen = now,
            }
        }
    }
}

#[cfg(test)]
#[path = "tests/word.rs"]
mod tests;

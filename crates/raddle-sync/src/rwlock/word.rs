//! The word of a reader–writer lock: its fields, and who may come in by himself in which state.
//!
//! Used by `rwlock/raw.rs`, whose header has the table of states. All functions are pure.

pub(super) const WRITER: u32 = 1;
pub(super) const WAITING: u32 = 1 << 1;
pub(super) const QUEUED: u32 = 1 << 2;
pub(super) const UPGRADABLE: u32 = 1 << 3;
pub(super) const PREFER: u32 = 1 << 4;
pub(super) const LIMITED: u32 = 1 << 5;
pub(super) const ONE: u32 = 1 << 6;

/// Readers that come in by themselves stop here. Those let in from the queue may add to it, and
/// the same number again does not fit into any memory.
pub(super) const MAX_READERS: u32 = u32::MAX >> 7;

/// The largest limit: it shares the word with the count that it bounds, in two fields of one size.
pub(super) const MAX_LIMIT: u32 = (1 << 13) - 1;
const LIMIT_SHIFT: u32 = 19;

/// In what way somebody wants the lock, or holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    Upgradable,
    /// Holds it as `Upgradable` and wants it as `Write`.
    Upgrade,
    /// Stands in line as `Upgradable`, and a plain reader was let in before it.
    Passed,
}

/// A free lock.
pub(super) const fn free(prefer_writers: bool, limit: Option<u32>) -> u32 {
    let prefer = if prefer_writers { PREFER } else { 0 };
    match limit {
        Some(limit) => prefer | LIMITED | limit << LIMIT_SHIFT,
        None => prefer,
    }
}

/// Readers that hold the lock.
#[inline]
pub(super) fn readers(word: u32) -> u32 {
    (word & !mode(word)) / ONE
}

/// How many readers a lock with LIMITED lets in.
pub(super) fn limit(word: u32) -> u32 {
    word >> LIMIT_SHIFT
}

/// Whether the limit lets no other reader in.
pub(super) fn is_full(word: u32) -> bool {
    word & LIMITED != 0 && readers(word) >= limit(word)
}

/// What never changes: PREFER, LIMITED and the limit.
#[inline]
pub(super) fn mode(word: u32) -> u32 {
    word & if word & LIMITED == 0 { PREFER } else { PREFER | LIMITED | MAX_LIMIT << LIMIT_SHIFT }
}

impl Kind {
    /// The word after coming in, if it admits this kind. Where there is a limit it admits nobody:
    /// see [`enter_within_limit`](Self::enter_within_limit).
    #[inline]
    pub(super) fn enter(self, word: u32) -> Option<u32> {
        match self {
            Kind::Read => {
                let free = word & (WRITER | WAITING | LIMITED) == 0;
                (free && word < MAX_READERS * ONE).then(|| word + ONE)
            }
            Kind::Write => (word & !PREFER == 0).then_some(word | WRITER),
            Kind::Upgradable | Kind::Passed => {
                let free = word & (WRITER | WAITING | QUEUED | UPGRADABLE | LIMITED) == 0;
                (free && word < MAX_READERS * ONE).then(|| (word + ONE) | UPGRADABLE)
            }
            Kind::Upgrade => (word / ONE == 1).then(|| word - ONE - UPGRADABLE + WRITER),
        }
    }

    /// The same where there is a limit. A line that is not empty stops all here: whose turn it is,
    /// is decided under the lock.
    pub(super) fn enter_within_limit(self, word: u32) -> Option<u32> {
        let free = word & (WRITER | WAITING | QUEUED) == 0;
        match self {
            Kind::Read => (free && !is_full(word)).then(|| word + ONE),
            Kind::Write => (free && readers(word) == 0).then_some(word | WRITER),
            Kind::Upgradable | Kind::Passed => {
                let free = free && word & UPGRADABLE == 0 && !is_full(word);
                free.then(|| (word + ONE) | UPGRADABLE)
            }
            Kind::Upgrade => (readers(word) == 1).then(|| word - ONE - UPGRADABLE + WRITER),
        }
    }

    pub(super) fn stops_readers(self) -> bool {
        matches!(self, Kind::Write | Kind::Upgrade)
    }
}

//! The state machine of the reader–writer lock: counts, admission, hand-off.
//!
//! # Question
//!
//! Many readers or one writer. How does either get in with one exchange while the other side is
//! away, how does the lock pass on directly where somebody waits, and how long may each side be
//! kept waiting by the other?
//!
//! # States
//!
//! | bits of the word | field |
//! |---|---|
//! | 0 | WRITER: a writer holds the lock |
//! | 1 | WAITING: the first in the line of writers stops new readers |
//! | 2 | QUEUED: a line is not empty |
//! | 3 | UPGRADABLE: one of the readers may become the writer |
//! | 4 | PREFER: writers before readers, for good |
//! | 5 | LIMITED: readers have a limit, for good |
//! | 6.. | readers that hold the lock, the upgradable one included |
//! | 19.. | with LIMITED: the limit, and readers are counted in the 13 bits below |
//!
//! | WRITER | readers | WAITING | QUEUED | |
//! |---|---|---|---|---|
//! | 0 | 0 | 0 | 0 | free |
//! | 0 | n | 0 | 0 | readers; more come in by one exchange, up to the limit |
//! | 0 | n | 0 | 1 | readers, one upgradable, and another upgradable waits for it |
//! | 0 | limit | 0 | 1 | readers, and others wait for a place; fewer for a moment: see below |
//! | 0 | n | 1 | 1 | readers, and a writer (or the upgrade) waits until they are gone |
//! | 0 | 0 | any | 1 | for a moment: the last one out has yet to take the lock and admit |
//! | 1 | 0 | any | any | a writer; QUEUED says that its release goes through the lock |
//!
//! There are two lines: readers; and writers together with upgradable readers, where an upgrade
//! stands in front, since whoever upgrades holds what the others in that line wait for. WAITING
//! means that the first in the second line is a writer or an upgrade.
//!
//! # Protocol
//!
//! *Enter*: one exchange, if the word admits. Else lock, look again in the exchange that sets
//! QUEUED (and WAITING), push. *A reader leaves*: one subtraction; the last one of a lock with
//! QUEUED locks and runs *admission*: the head of the second line gets what it wants if the
//! readers that are left permit it, and with no writer at that head all queued readers go in.
//! *A writer leaves*: one exchange without QUEUED. Else lock: all readers that wait go in, as one
//! batch taken off the queue in one step; with none (or with PREFER) the lock passes to the head
//! of the second line. *Downgrade* is a writer that leaves with itself as the first reader.
//! *Give up*: leave the line and run admission. Who had been granted the lock releases it.
//!
//! So with PREFER clear phases alternate while both sides wait: a reader waits for at most one
//! writer, and the writer in place k for at most k groups of readers.
//!
//! *With a limit* the same, but for three things. QUEUED stops all who come, who then see under the
//! lock whether anybody waits before them. Every reader that leaves with QUEUED set runs admission.
//! And lines are served a place at a time: a group is as many readers as there are places, so the
//! reader in place j waits for at most one writer for each time that the limit fits into j, rounded
//! up; for places, upgradable and plain readers take turns.
//!
//! # Race
//!
//! *The last reader leaves while a writer goes to sleep*: both change one word. If the reader is
//! first, the writer's exchange finds the lock free; else the reader's subtraction returns QUEUED,
//! and it waits for the lock under which the writer is pushed. *A batch of readers*: it is granted
//! in pieces with the lock dropped between, and readers let in early may all leave before the rest
//! is granted. So whoever grants counts as one reader until it is through. *The limit*: readers
//! come in by an exchange that saw a place, or are let in under the lock while QUEUED is set. Then
//! nobody else comes in without the lock, so that a place which was seen is there when it is given.
//!
//! # Proof
//!
//! *Exclusion*: WRITER is set in an exchange from a free word, or under the lock with no reader
//! left (one, for the upgrade) and WAITING set. Then nobody else changes the word: readers and
//! writers are kept out by the bits, there is no one to leave, and the others need the lock, so a
//! plain store does. *Liveness*: QUEUED and WAITING match the lines whenever the lock is free, and
//! each departure from a lock with QUEUED runs admission. *Publication*: a reader's leaving
//! releases, and admission acquires, so that whoever passes the lock on has seen all of them leave;
//! between the two are read-modify-writes only, which go on with the chain. The grant releases, and
//! its owner's look at the node acquires. Models: `model_rwlock_excludes`,
//! `model_rwlock_last_reader_hands_over`, `model_rwlock_writer_hands_over`,
//! `model_rwlock_batch_of_readers`, `model_rwlock_cancel_against_release`,
//! `model_rwlock_granted_and_dropped`, `model_rwlock_upgrade_against_readers`,
//! `model_rwlock_downgrade_publishes`, `model_rwlock_upgradable_after_another`,
//! `model_rwlock_comes_in_beside_a_batch`, `model_rwlock_comes_in_after_a_writer_left_alone`,
//! `model_rwlock_given_up_in_place_of_the_last_reader`, `model_rwlock_upgradable_stays_to_read`;
//! with a limit: `model_limit_excludes`, `model_limit_reader_goes_to_sleep`,
//! `model_limit_writer_hands_over`, `model_limit_comes_in_after_a_writer_left_alone`,
//! `model_limit_group_against_cancel`, `model_limit_group_is_not_cut`,
//! `model_limit_last_readers_hand_over`, `model_limit_upgradable_takes_turns`,
//! `model_limit_given_up_in_place_of_the_one_inside`, `model_limit_place_passes_on`.

use std::panic::Location;
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll, ready};

use raddle_base::context;
use raddle_base::shim::atomic::AtomicU32;
use raddle_base::shim::atomic::Ordering::{Acquire, Relaxed, Release};
use raddle_base::wait::{Locked, Phase, Removed, WaitQueue, Waiter};

use super::word::{self, Kind, LIMITED, ONE, QUEUED, UPGRADABLE, WAITING, WRITER, readers};
use crate::owner::{self, Held};

pub(super) const READERS: usize = 0;
pub(super) const WRITERS: usize = 1;

/// The one outcome of a wait.
pub(super) const GRANTED: u8 = 1;

pub(super) type Queue<'a> = Locked<'a, Kind, (), 2>;

/// The lock without its data. Guards of parts of the data hold a reference to it.
#[doc(hidden)]
pub struct RawRwLock {
    pub(super) queue: WaitQueue<Kind, (), 2>,
}

impl RawRwLock {
    raddle_base::const_unless_loom! {
        pub(crate) const fn new(prefer_writers: bool, limit: Option<u32>) -> Self {
            RawRwLock { queue: WaitQueue::with_word(word::free(prefer_writers, limit), ()) }
        }
    }

    #[inline]
    pub(super) fn word(&self) -> &AtomicU32 {
        self.queue.word()
    }

    fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }

    /// Readers that hold the lock, whether a writer does, and whether somebody waits.
    pub(crate) fn state(&self) -> (u32, bool, bool) {
        // Relaxed: a snapshot for people.
        let word = self.word().load(Relaxed);
        (readers(word), word & WRITER != 0, word & QUEUED != 0)
    }

    /// Whoever upgrades has been noted as the upgradable reader.
    #[inline]
    fn note(&self, kind: Kind, place: &'static Location<'static>) -> Held {
        match kind {
            Kind::Upgrade => Held::NOTHING,
            _ => Held::new(self.address(), place),
        }
    }

    #[inline]
    pub(crate) fn try_enter(&self, kind: Kind, place: &'static Location<'static>) -> Option<Held> {
        let entered = self.try_enter_without_limit(kind);
        // Relaxed: this bit never changes.
        let limited = !entered && self.word().load(Relaxed) & LIMITED != 0;
        (entered || limited && self.try_enter_within_limit(kind)).then(|| self.note(kind, place))
    }

    #[inline]
    fn try_enter_without_limit(&self, kind: Kind) -> bool {
        // Relaxed: only a first guess for the exchange below.
        let mut word = self.word().load(Relaxed);
        while let Some(next) = kind.enter(word) {
            // Acquire: what was done under the lock before is visible.
            match self.word().compare_exchange_weak(word, next, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Gets in, or waits for it.
    ///
    /// # Safety
    ///
    /// The caller owns `node`, whose payload is its kind, uses it with this lock only, and calls
    /// [`leave`](Self::leave) with it before it goes away.
    #[inline]
    pub(crate) unsafe fn poll(
        &self,
        node: Pin<&Waiter<Kind>>,
        kind: Kind,
        cx: &mut Context<'_>,
    ) -> Poll<Held> {
        if node.phase() == Phase::Idle {
            ready!(context::step(cx));
            if self.try_enter_without_limit(kind) {
                return Poll::Ready(self.note(kind, node.site().location));
            }
        }
        // SAFETY: passed on from the caller.
        unsafe { self.poll_slowly(node, kind, cx) }
    }

    /// # Safety
    ///
    /// As for [`poll`](Self::poll).
    #[cold]
    unsafe fn poll_slowly(
        &self,
        node: Pin<&Waiter<Kind>>,
        kind: Kind,
        cx: &mut Context<'_>,
    ) -> Poll<Held> {
        ready!(context::check_budget(cx));
        // Relaxed: this bit never changes.
        let limited = self.word().load(Relaxed) & LIMITED != 0;
        let entered = match node.phase() {
            Phase::Idle if limited && self.try_enter_within_limit(kind) => true,
            // SAFETY: passed on from the caller.
            Phase::Idle if limited => unsafe { self.enqueue::<true>(node, kind, cx) },
            // SAFETY: passed on from the caller.
            Phase::Idle => unsafe { self.enqueue::<false>(node, kind, cx) },
            // SAFETY: passed on from the caller.
            _ => unsafe { self.queue.poll(node, cx) }.is_ready(),
        };
        if !entered {
            return Poll::Pending;
        }
        context::spend();
        Poll::Ready(self.note(kind, node.site().location))
    }

    /// Queues an idle node, unless the word admits it meanwhile: true then.
    ///
    /// # Safety
    ///
    /// As for [`poll`](Self::poll); the node is idle.
    unsafe fn enqueue<const LIMIT: bool>(
        &self,
        node: Pin<&Waiter<Kind>>,
        kind: Kind,
        cx: &mut Context<'_>,
    ) -> bool {
        // Whoever upgrades holds the lock rightly, once.
        let entitled = usize::from(kind == Kind::Upgrade);
        owner::waits(self.address(), node.site(), entitled);
        // Foreign code: before the lock. Dropped after it, where it is not needed.
        let waker = cx.waker().clone();
        let mut queue = self.queue.lock();
        let first = kind == Kind::Upgrade || queue.is_line_empty(WRITERS);
        let marks = if kind.stops_readers() && first { QUEUED | WAITING } else { QUEUED };
        // Relaxed: only a first guess for the exchange below.
        let mut word = self.word().load(Relaxed);
        loop {
            let entered = match LIMIT {
                true => Self::enter_before_lines(kind, word, &queue),
                false => kind.enter(word),
            };
            let full = !LIMIT && kind == Kind::Read && word & (WRITER | WAITING) == 0;
            if entered.is_none() && full {
                drop(queue);
                panic!("more readers than a lock can count, waiting for {}", node.site());
            }
            // Acquire: as in `try_enter`.
            let next = entered.unwrap_or(word | marks);
            match self.word().compare_exchange_weak(word, next, Acquire, Relaxed) {
                Ok(_) if entered.is_some() => return true,
                Ok(_) => break,
                Err(now) => word = now,
            }
        }
        // SAFETY: passed on from the caller.
        unsafe {
            match kind {
                Kind::Upgrade => queue.push_front_to(WRITERS, node, Some(waker)),
                Kind::Read => queue.push_back_to(READERS, node, Some(waker)),
                _ => queue.push_back_to(WRITERS, node, Some(waker)),
            }
        }
        false
    }

    /// Ends a wait before its node goes away. Who had been granted the lock passes it on: true. An
    /// upgrade is left as the writer then, for its guard to release.
    ///
    /// # Safety
    ///
    /// As for [`poll`](Self::poll).
    #[inline]
    pub(crate) unsafe fn leave(&self, node: Pin<&Waiter<Kind>>, kind: Kind) -> bool {
        // SAFETY: passed on from the caller.
        node.phase() != Phase::Idle && unsafe { self.leave_slowly(node, kind) }
    }

    /// # Safety
    ///
    /// As for [`poll`](Self::poll).
    #[cold]
    unsafe fn leave_slowly(&self, node: Pin<&Waiter<Kind>>, kind: Kind) -> bool {
        let mut queue = self.queue.lock();
        // SAFETY: passed on from the caller.
        match unsafe { queue.remove(node) } {
            Removed::Waiting(waker) => {
                self.admit(queue);
                // Foreign code: after the lock.
                drop(waker);
                false
            }
            Removed::Done(_) => {
                drop(queue);
                if kind != Kind::Upgrade {
                    self.release(kind);
                }
                true
            }
            Removed::Idle => false,
        }
    }

    #[inline]
    pub(crate) fn release(&self, kind: Kind) {
        match kind {
            Kind::Read => self.reader_out(),
            Kind::Upgradable | Kind::Passed => self.upgradable_out(),
            Kind::Write | Kind::Upgrade => self.writer_out(0),
        }
    }

    /// The writer stays as a reader.
    pub(crate) fn downgrade(&self) {
        self.writer_out(ONE);
    }

    /// The writer stays as the upgradable reader.
    pub(crate) fn downgrade_to_upgradable(&self) {
        self.writer_out(ONE | UPGRADABLE);
    }

    /// The upgradable reader stays as a plain one.
    pub(crate) fn upgradable_to_read(&self) {
        // Release, for the next upgradable reader: of those there is one at a time. Admission
        // acquires by itself.
        if self.word().fetch_sub(UPGRADABLE, Release) & QUEUED != 0 {
            self.admit(self.queue.lock());
        }
    }

    #[inline]
    fn reader_out(&self) {
        // Release: what was read, was read before a writer writes. Whoever passes the lock on has
        // seen all others leave: admission acquires, and all that changed the word since is in the
        // same chain of read-modify-writes.
        let word = self.word().fetch_sub(ONE, Release);
        if word & QUEUED != 0 {
            self.queued_reader_out(word - ONE);
        }
    }

    #[cold]
    fn queued_reader_out(&self, word: u32) {
        // Anybody else's leaving lets nobody in, but where there was no room. One that is left may
        // be waiting for its upgrade.
        let last = readers(word) == 0 || (readers(word) == 1 && word & UPGRADABLE != 0);
        if last || word & LIMITED != 0 {
            self.admit(self.queue.lock());
        }
    }

    #[inline]
    fn upgradable_out(&self) {
        // As in `reader_out`.
        if self.word().fetch_sub(ONE | UPGRADABLE, Release) & QUEUED != 0 {
            self.admit(self.queue.lock());
        }
    }

    /// The writer leaves, and the word's readers are then `stays`: none, or itself.
    #[inline]
    fn writer_out(&self, stays: u32) {
        // Relaxed: only a first guess for the exchange below.
        let mut word = self.word().load(Relaxed);
        while word & QUEUED == 0 {
            let next = word - WRITER + stays;
            // Release: what was written is visible to whoever comes next.
            match self.word().compare_exchange_weak(word, next, Release, Relaxed) {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
        self.queued_writer_out(stays);
    }
}

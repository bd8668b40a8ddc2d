//! Rows of the table for primitives: which cases follow from what a primitive can do.
//!
//! The scheduled cases run on raddle's runtime for every contender: the primitive is what differs.

use super::raddle::tasks::Raddle;
use super::table::entry;
use crate::cases::handoffs::{self, ReaderToWriter, ToOwner, WriterToReaders, WriterToWriter};
use crate::cases::{events, meetings, mutexes, once_cells, one_item, rwlock_pressure, rwlocks};
use crate::contender::{Cpus, Entry};
use crate::kinds::{
    AutoEvent, Cell, Condition, Event, Gate, Group, Line, Lock, Meeting, Permits, ReadWrite, Single,
};
use crate::outcome::Verdict;
use crate::plan::Plan;

/// Where scheduled cases run: raddle on io_uring, one worker.
type OneWorker = Raddle<1, false>;

/// The same with two workers.
type TwoWorkers = Raddle<2, false>;

/// On one CPU.
fn one(case: &'static str, run: fn(Plan) -> Verdict) -> Entry {
    entry(case, Cpus::One, run)
}

/// On two CPUs.
fn two(case: &'static str, run: fn(Plan) -> Verdict) -> Entry {
    entry(case, Cpus::Two, run)
}

/// An event that stays set.
pub(super) fn event<E: Event>() -> Vec<Entry> {
    vec![
        one("event_is_set", events::is_set::<E>),
        one("event_ready_wait", events::ready_wait::<E>),
        one("event_cycle", events::cycle::<E>),
        one("event_fanout_1000", events::fanout::<E>),
    ]
}

/// An event that one wait takes.
pub(super) fn auto_event<E: AutoEvent>() -> Vec<Entry> {
    vec![
        one("auto_event_ready", events::auto_ready::<E>),
        one("auto_event_cycle", events::auto_cycle::<E>),
    ]
}

/// A mutex that blocks its thread.
pub(super) fn blocking_lock<L: Lock>() -> Vec<Entry> {
    vec![one("mutex_ready", mutexes::ready::<L>), two("mutex_contended", mutexes::contended::<L>)]
}

/// A mutex.
pub(super) fn lock<L: Lock>() -> Vec<Entry> {
    let mut entries = blocking_lock::<L>();
    entries.extend([
        one("mutex_handoff", handoffs::one::<ToOwner<L>>),
        one("mutex_handoff_tasks", handoffs::scheduled::<OneWorker, ToOwner<L>>),
        two("mutex_contended_tasks", mutexes::contended_tasks::<TwoWorkers, L>),
    ]);
    entries
}

/// A reader-writer lock that blocks its thread.
pub(super) fn blocking_read_write<P: ReadWrite>() -> Vec<Entry> {
    vec![
        one("rwlock_ready_read", rwlocks::ready_read::<P>),
        one("rwlock_ready_write", rwlocks::ready_write::<P>),
    ]
}

/// A reader-writer lock.
pub(super) fn read_write<P: ReadWrite>() -> Vec<Entry> {
    let mut entries = blocking_read_write::<P>();
    entries.extend([
        one("rwlock_last_reader_handoff", handoffs::one::<ReaderToWriter<P>>),
        one("rwlock_writer_writer_handoff", handoffs::one::<WriterToWriter<P>>),
        one("rwlock_writer_readers_handoff", handoffs::several::<WriterToReaders<P>>),
        one(
            "rwlock_last_reader_handoff_tasks",
            handoffs::scheduled::<OneWorker, ReaderToWriter<P>>,
        ),
        one(
            "rwlock_writer_writer_handoff_tasks",
            handoffs::scheduled::<OneWorker, WriterToWriter<P>>,
        ),
        one(
            "rwlock_writer_readers_handoff_tasks",
            handoffs::scheduled::<OneWorker, WriterToReaders<P>>,
        ),
        two("rwlock_mixed_90", |plan| rwlocks::mixed::<TwoWorkers, P>(plan, 90)),
        two("rwlock_mixed_50", |plan| rwlocks::mixed::<TwoWorkers, P>(plan, 50)),
        two("rwlock_pressure", rwlock_pressure::tasks::<TwoWorkers, P>),
    ]);
    entries
}

/// A semaphore.
pub(super) fn permits<P: Permits>() -> Vec<Entry> {
    vec![
        one("semaphore_ready", handoffs::permit_ready::<P>),
        one("semaphore_handoff", handoffs::permit_handoff::<P>),
    ]
}

/// A channel of one value.
pub(super) fn oneshot<S: Single>() -> Entry {
    one("oneshot", one_item::single::<S>)
}

/// A bounded channel.
pub(super) fn mpsc_bounded<L: Line>() -> Entry {
    one("mpsc_bounded", one_item::line::<L>)
}

/// An unbounded channel.
pub(super) fn mpsc_unbounded<L: Line>() -> Entry {
    one("mpsc_unbounded", one_item::line::<L>)
}

/// A bounded channel of many receivers.
pub(super) fn mpmc<L: Line>() -> Entry {
    one("mpmc", one_item::line::<L>)
}

/// A channel whose values reach every receiver.
pub(super) fn broadcast<L: Line>() -> Entry {
    one("broadcast", one_item::line::<L>)
}

/// A channel of the latest value.
pub(super) fn watch<L: Line>() -> Entry {
    one("watch", one_item::line::<L>)
}

/// A barrier.
pub(super) fn barrier<M: Meeting>() -> Entry {
    one("barrier", meetings::barrier::<M>)
}

/// A latch.
pub(super) fn latch<G: Gate>() -> Entry {
    one("latch", meetings::latch::<G>)
}

/// A wait group.
pub(super) fn waitgroup<G: Group>() -> Entry {
    one("waitgroup", meetings::waitgroup::<G>)
}

/// A condition variable.
pub(super) fn condvar<C: Condition>() -> Entry {
    one("condvar", meetings::condvar::<C>)
}

/// A cell that is initialised once.
pub(super) fn cell<C: Cell>() -> Vec<Entry> {
    vec![
        one("once_hit", once_cells::hit::<C>),
        one("once_cell_8_waiters", once_cells::waiters::<C>),
    ]
}

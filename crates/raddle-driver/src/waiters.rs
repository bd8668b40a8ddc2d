//! Who waits for a source: one reader and one writer in cells, all others in a queue.
//!
//! The poll functions keep to the habit of poll-based I/O: the latest task to poll a direction is
//! the one that is woken, which takes no lock. Tasks that share a source (two receivers on one
//! UDP socket, several accepters) wait through futures, each with a node of its own in the
//! queue; an event releases all of them, and those it was not for wait again.
//!
//! Whether the queue is worth looking at is a bit in the source's own state word, so that an event
//! learns it from the same read-modify-write that announces the event.

use crate::interest::Direction;
use crate::watcher::Due;
use raddle_base::context;
use raddle_base::wait::{Removed, WaitKind, WaitQueue, Waiter, WaiterCell};
use std::cell::Cell;
use std::panic::Location;
use std::pin::Pin;
use std::task::Context;

/// The waiters of one source.
pub(crate) struct Waiters {
    reader: WaiterCell,
    writer: WaiterCell,
    more: WaitQueue,
}

/// A place in the queue, to be pinned in the future that waits.
#[derive(Debug)]
pub(crate) struct WaitSlot {
    node: Waiter,
    /// Whether the node may be in the queue: spares the lock of a future that never waited.
    seated: Cell<bool>,
}

impl WaitSlot {
    #[track_caller]
    pub(crate) fn new(direction: Direction) -> WaitSlot {
        WaitSlot { node: Waiter::new(kind(direction), ()), seated: Cell::new(false) }
    }

    /// Where the wait was written.
    pub(crate) fn location(&self) -> &'static Location<'static> {
        self.node.site().location
    }

    fn node(self: Pin<&Self>) -> Pin<&Waiter> {
        // SAFETY: the node is pinned with the slot: it is never moved out of it.
        unsafe { self.map_unchecked(|slot| &slot.node) }
    }
}

fn kind(direction: Direction) -> WaitKind {
    match direction {
        Direction::Read => WaitKind::Readable,
        Direction::Write => WaitKind::Writable,
    }
}

/// What leaving the queue came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// The caller had no place.
    Nothing,
    /// The queue is empty now.
    Last,
    /// Others are still waiting.
    Others,
}

/// How a caller waits: in the cell of its direction, or in the queue.
#[derive(Clone, Copy)]
pub(crate) enum Seat<'a> {
    /// The poll functions.
    Cell,
    /// Futures. The slot belongs to the source it is first used with.
    Queue(Pin<&'a WaitSlot>),
}

impl Waiters {
    pub(crate) fn new() -> Waiters {
        Waiters { reader: WaiterCell::new(), writer: WaiterCell::new(), more: WaitQueue::new(()) }
    }

    fn cell(&self, direction: Direction) -> &WaiterCell {
        match direction {
            Direction::Read => &self.reader,
            Direction::Write => &self.writer,
        }
    }

    /// Leaves the caller's waker. For a seat in the queue the caller then sets the source's bit;
    /// in both cases it looks at the source again before it reports `Pending`.
    #[inline]
    pub(crate) fn sit(&self, direction: Direction, seat: Seat<'_>, cx: &mut Context<'_>) {
        match seat {
            Seat::Cell => {
                self.cell(direction).register(cx.waker());
                context::waits(kind(direction), None);
            }
            Seat::Queue(slot) => self.queue(slot, cx),
        }
    }

    fn queue(&self, slot: Pin<&WaitSlot>, cx: &mut Context<'_>) {
        use raddle_base::wait::Phase;
        let node = slot.node();
        if node.phase() != Phase::Idle {
            // SAFETY: the slot belongs to the caller's future and is used with this queue only.
            if unsafe { self.more.poll(node, cx) }.is_pending() {
                return;
            }
        }
        let waker = cx.waker().clone();
        slot.seated.set(true);
        // SAFETY: idle, as was seen above; the future that owns the slot calls `leave` before it
        // goes away.
        unsafe { self.more.lock().push_back(node, Some(waker)) };
    }

    /// Gives up a place in the queue. Futures call it when they end, however they do.
    pub(crate) fn leave(&self, slot: Pin<&WaitSlot>) -> Left {
        if !slot.seated.replace(false) {
            return Left::Nothing;
        }
        let mut queue = self.more.lock();
        // SAFETY: as in `queue`.
        let removed = unsafe { queue.remove(slot.node()) };
        let left = if queue.is_empty() { Left::Last } else { Left::Others };
        drop(queue);
        // A waker is dropped here, after the lock. A release needs no handing on: it was for all.
        match removed {
            Removed::Waiting(waker) => drop(waker),
            Removed::Idle | Removed::Done(_) => {}
        }
        left
    }

    /// Whether somebody may be waiting in this direction. Those in the queue count for both.
    pub(crate) fn is_waited(&self, direction: Direction) -> bool {
        !self.cell(direction).is_empty() || !self.more.lock().is_empty()
    }

    /// Takes the waker of one direction, to be called when the driver lock is released.
    #[inline]
    pub(crate) fn take(&self, direction: Direction, due: &mut Due) {
        due.wake(self.cell(direction).take());
    }

    /// Wakes everybody in the queue. Not under a lock.
    #[cold]
    pub(crate) fn release_queue(&self) {
        self.more.lock().release_all(0);
    }

    /// Wakes both cells and the queue. Not under a lock.
    pub(crate) fn wake_everybody(&self) {
        self.reader.wake();
        self.writer.wake();
        self.release_queue();
    }
}

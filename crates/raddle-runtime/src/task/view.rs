//! A look at a task from outside: what it is, and in which state, without touching its future.
//!
//! The look is taken while the task is in the list of live tasks and that list's lock is held, so
//! the header is there. The state may change meanwhile; a look that caught it in between is taken
//! again, and the last one stands.

use std::panic::Location;

use raddle_base::shim::atomic::Ordering::Acquire;
use raddle_base::shim::atomic::fence;

use crate::task::Id;
use crate::task::abort::AbortHandle;
use crate::task::header::{Header, RawTask};
use crate::task::parked::Noted;
use crate::task::state::{Phase, Seen};

/// Looks before one that was disturbed is taken as it is.
const TRIES: usize = 4;

/// What was seen of a task.
pub(crate) struct View {
    pub(crate) id: Id,
    pub(crate) site: &'static Location<'static>,
    /// The worker that polled it last, or that it is pinned to.
    pub(crate) home: usize,
    pub(crate) seen: Seen,
    /// What it waited for when it was put down last.
    pub(crate) noted: Noted,
    /// A reference to the task if it has a name, so that the name can be copied without the lock.
    pub(crate) named: Option<AbortHandle>,
}

impl View {
    /// Looks at a task that has a reference for as long as this takes.
    pub(crate) fn of(task: RawTask) -> View {
        let header = task.header();
        let mut seen = header.state.seen();
        let mut noted = note_of(header, seen.phase);
        for _ in 0..TRIES {
            // Acquire: the words of the note are read before the state is looked at again.
            fence(Acquire);
            let again = header.state.seen();
            if again == seen {
                break;
            }
            seen = again;
            noted = note_of(header, seen.phase);
        }
        View {
            id: header.id,
            site: header.site,
            home: header.home_index(),
            seen,
            noted,
            named: header.name.is_some().then(|| AbortHandle::new(task)),
        }
    }

    /// The name, if the task has one. Not under a lock: it allocates.
    pub(crate) fn name(&self) -> Option<Box<str>> {
        self.named.as_ref().and_then(|task| task.name()).map(Box::from)
    }
}

/// What a task in this phase waits for or waited for.
fn note_of(header: &Header, phase: Phase) -> Noted {
    match phase {
        // SAFETY: the task was seen in that phase.
        Phase::Idle | Phase::Woken => unsafe { header.parked.read() },
        Phase::Claimed | Phase::Complete => Noted::default(),
    }
}

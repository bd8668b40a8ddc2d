//! The state of a [`Once`] and its transitions, and the lead. The story stands in `once.rs`.

use std::ptr;

use raddle_base::wait::WaitQueue;

use crate::crowd::stay::Gather;
use crate::crowd::{Crowd, Step};
use crate::owner::Held;

pub(super) const IDLE: usize = 0;
pub(super) const RUNNING: usize = 1;
const DONE: usize = 2;
const POISONED: usize = 3;
pub(super) const STATE: usize = 0b11;
pub(super) const CANDIDATES: usize = 0b100;

/// Runs one of many callers' code, once.
///
/// * *Not poisoned.* If the one who runs it is dropped or panics, exactly one other caller runs its
///   own; nobody else is woken.
/// * *Order.* When it is done, all waits end in one round, woken in the order of their first poll.
/// * *Ordering.* What the code did is visible to everybody who sees it done: one acquire load.
/// * *Recursion.* Code that waits for the same `Once` waits for ever; reported as by a
///   [`Mutex`](crate::Mutex#misuse).
/// * *Cost.* Waiting does not allocate. 40 bytes.
///
/// ```
/// use raddle_sync::{Once, block_on};
///
/// static SETUP: Once = Once::new();
///
/// block_on(SETUP.call_once(|| async { println!("once") }));
/// block_on(SETUP.call_once(|| async { unreachable!() }));
/// assert!(SETUP.is_completed());
/// ```
#[derive(Debug)]
pub struct Once {
    pub(super) crowd: Crowd,
    pub(super) candidates: WaitQueue,
}

/// Outcomes of a candidate's wait.
pub(super) const LEADS: u8 = 1;
const OVER: u8 = 2;

impl Gather for Once {
    fn crowd(&self) -> &Crowd {
        &self.crowd
    }

    fn is_over(value: usize) -> bool {
        value & STATE >= DONE
    }
}

impl Once {
    raddle_base::const_unless_loom! {
        /// Not done yet.
        pub const fn new() -> Self {
            Once { crowd: Crowd::new(IDLE), candidates: WaitQueue::new(()) }
        }

        /// Done already.
        pub(crate) const fn done() -> Self {
            Once { crowd: Crowd::new(DONE), candidates: WaitQueue::new(()) }
        }
    }

    /// Whether it is done. What was done is visible then.
    #[inline]
    pub fn is_completed(&self) -> bool {
        self.crowd.value() == DONE
    }

    pub(super) fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }

    /// Whether the leader's code failed for good: `LazyCell` only.
    pub(crate) fn is_poisoned(&self) -> bool {
        self.crowd.value() == POISONED
    }

    /// Makes the caller the leader, if nobody is and it is not over.
    #[inline]
    pub(crate) fn try_lead(&self) -> Result<Leading<'_>, NoLead> {
        self.begin().map(|()| Leading::new(self, Held::NOTHING))
    }

    /// As [`try_lead`](Self::try_lead), for a caller that leads in its own name.
    #[inline]
    pub(super) fn begin(&self) -> Result<(), NoLead> {
        let begin = |value| if value == IDLE { Step::To(RUNNING) } else { Step::Keep };
        match self.crowd.step(begin) & STATE {
            IDLE => Ok(()),
            RUNNING => Err(NoLead::Running),
            _ => Err(NoLead::Over),
        }
    }

    /// RUNNING → `state`, by the leader: everybody is let go.
    fn settle(&self, state: usize) {
        // By a destructor, for a waker of the observers that panics must not strand candidates.
        let mut candidates = Candidates { once: self, exist: false };
        self.crowd.step(|value| {
            candidates.exist = value & CANDIDATES != 0;
            Step::Release(state)
        });
    }

    /// The leader gives up: the first candidate leads, or nobody does.
    pub(super) fn give_up(&self) {
        let idle = |value| if value & CANDIDATES == 0 { Step::To(IDLE) } else { Step::Keep };
        if self.crowd.step(idle) & CANDIDATES == 0 {
            return;
        }
        let mut queue = self.candidates.lock();
        let wake = queue.grant_front(LEADS);
        if queue.is_empty() {
            let state = if wake.is_some() { RUNNING } else { IDLE };
            self.crowd.step(|_| Step::To(state));
        }
        drop(queue);
        if let Some(wake) = wake {
            wake.wake();
        }
    }
}

impl Default for Once {
    fn default() -> Self {
        Self::new()
    }
}

/// Why there is nothing to lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoLead {
    /// Somebody else leads.
    Running,
    /// It is done or poisoned.
    Over,
}

/// Releases all candidates when dropped, if there are any.
struct Candidates<'a> {
    once: &'a Once,
    exist: bool,
}

impl Drop for Candidates<'_> {
    fn drop(&mut self) {
        if self.exist {
            self.once.candidates.lock().release_all(OVER);
        }
    }
}

/// The lead. Dropped, it passes to the next candidate.
#[derive(Debug)]
#[must_use = "the lead is given up as soon as this is dropped"]
pub(crate) struct Leading<'a> {
    once: &'a Once,
    /// What it has come to; without that, it is given up.
    state: Option<usize>,
    _held: Held,
}

impl<'a> Leading<'a> {
    pub(super) fn new(once: &'a Once, held: Held) -> Self {
        Leading { once, state: None, _held: held }
    }

    /// It is done: everybody is let go.
    pub(crate) fn complete(mut self) {
        self.state = Some(DONE);
    }

    /// It will never be done: everybody is let go.
    pub(crate) fn poison(mut self) {
        self.state = Some(POISONED);
    }
}

impl Leading<'_> {
    /// Out of line, for futures that are dropped without a lead.
    #[inline(never)]
    fn end(&mut self) {
        match self.state {
            Some(state) => self.once.settle(state),
            None => self.once.give_up(),
        }
    }
}

impl Drop for Leading<'_> {
    #[inline]
    fn drop(&mut self) {
        self.end();
    }
}

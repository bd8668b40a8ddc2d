//! Something that is done once, by whoever comes first; the others wait until it is done.
//!
//! The one-time initialisers (`OnceCell`, `LazyCell`, the entries of `OnceMap`) are faces of this.
//!
//! # Question
//!
//! Many want the same thing done and it takes a while, and whoever does it may give up at any
//! await. How do all learn of the end in one round, without each waking the next, and how does an
//! attempt that is given up pass to exactly one other, at once?
//!
//! # States
//!
//! The value of the crowd (`crowd.rs`), in which the mere observers wait:
//!
//! | bits of the value | field |
//! |---|---|
//! | 0–1 | IDLE (nobody is at it), RUNNING (the leader is), DONE, POISONED |
//! | 2 | CANDIDATES: the queue of those who would lead is not empty |
//!
//! CANDIDATES implies RUNNING. Nothing leads out of DONE and POISONED.
//!
//! # Protocol
//!
//! *Come*: IDLE → RUNNING makes a leader. Else lock the candidates, set CANDIDATES unless it is
//! over by now, push. *Complete*: one exchange RUNNING → DONE, which releases the observers; then
//! the whole queue of candidates is released. *Give up* (the leader is dropped or fails): without
//! CANDIDATES, RUNNING → IDLE; else lock, and grant the lead to the first candidate: the state
//! stays RUNNING. A candidate that was granted the lead and is dropped gives it up in turn.
//!
//! # Race
//!
//! The leader gives up while a candidate goes to sleep. The exchange that sets CANDIDATES either
//! meets IDLE, and makes a leader, or is met by the one that gives up, who then takes the lock
//! under which the candidate was pushed. The same holds for completion.
//!
//! # Proof
//!
//! There is at most one leader: only IDLE → RUNNING makes one, and a hand-over moves it. While
//! somebody waits there is one: IDLE implies an empty queue, for a candidate is pushed in RUNNING
//! only, and RUNNING is left with CANDIDATES for DONE only, which empties the queue. What the
//! leader did is published by the exchange to DONE and by the grant, and acquired by one load.
//! Models: `model_once_two_callers`, `model_once_leader_gives_up`, `model_once_lead_dropped`,
//! `model_once_complete_against_observer`.

mod attempt;
mod call;
mod core;
mod lead;

pub(crate) use attempt::{Attempt, Attempted};
pub use call::{CallOnce, OnceWait, OwnedOnceWait};
pub use core::Once;
pub(crate) use core::{Leading, NoLead};
pub(crate) use lead::Lead;

#[cfg(all(test, loom))]
#[path = "tests/once_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/once.rs"]
mod tests;

//! A phaser: a barrier whose parties come and go, and whose phases can be watched.
//!
//! # Question
//!
//! A phase ends when every registered party has arrived. Parties register and deregister at any
//! time, also as the last one that was missing. How does one exchange decide that a phase is over,
//! with nobody counted twice?
//!
//! # States
//!
//! The value of the crowd (`crowd.rs`), a word with fields (`phaser/fields.rs`):
//!
//! | bits of the value | field |
//! |---|---|
//! | 0 | CLOSED: no phase ends any more |
//! | 1–16 | registered parties |
//! | 17–32 | parties that have not arrived in this phase |
//! | 33–62 | phase, which wraps |
//!
//! # Protocol
//!
//! *Register*: both counts grow. *Arrive*: one less is missing; if none is, the phase grows, all
//! registered ones are missing again, and everybody who waits goes: one exchange. *Deregister*: one
//! less is registered; unless it had arrived, one less is missing as well, with the same
//! consequence. *Close*: sets the bit, everybody who waits goes. A party remembers the phase in
//! which it arrived, and while that is not over an arrival more does nothing.
//!
//! # Race
//!
//! A party deregisters while the phase it arrived in ends: then it is missing in the next one. Its
//! exchange compares the phase in the word with the remembered one, and so knows.
//!
//! # Proof
//!
//! All counts and the phase change in one word by exchanges, so the sum of arrivals and missing
//! ones is the number of the registered at any time, and exactly one exchange makes the last one
//! arrive. Waiting and publication are those of the crowd. Models: `model_phaser_phases`,
//! `model_phaser_arrive_against_deregister`.

mod core;
mod fields;
mod party;

pub use core::{OwnedPhaserWait, Phaser, PhaserError, PhaserWait};
pub use party::{Participant, ParticipantWait, Participants};

#[cfg(all(test, loom))]
#[path = "tests/phaser_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/phaser.rs"]
mod tests;

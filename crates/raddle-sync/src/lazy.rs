//! A value that is computed when it is first asked for, by one future that belongs to the cell.
//!
//! # Question
//!
//! The initialiser is a future, and whoever drives it may be dropped at any await. How does the
//! next one who asks go on where that one stopped, and when is the cell broken for good?
//!
//! # States
//!
//! | once | stage | |
//! |---|---|---|
//! | idle, running | Start(f), Future, or Empty between the two | touched by the leader only |
//! | done | Value | read by everybody |
//! | poisoned | Empty | |
//!
//! # Protocol
//!
//! Who asks waits for the lead of the once, or for its end. The leader calls `f` if that was
//! not done yet and polls the future, in its place. A leader that is dropped gives the lead up,
//! and the stage stays as it is. A panic of `f` or of the future, and nothing else, drops the
//! future and poisons the once: the guard that does so is armed around these two calls only, and
//! does not ask whether the thread is unwinding for another reason.
//!
//! # Race
//!
//! A leader is dropped while another one asks: the hand-over of the lead (`once.rs`) orders all
//! that the first did with the stage before all that the second does.
//!
//! # Proof
//!
//! The stage is accessed by the leader alone, of which there is at most one, until the once is
//! done; after that it is shared and never changes. The future is never moved: the cell is pinned
//! when it is polled (or the future is `Unpin`), and it is dropped where it lies. Model:
//! `model_lazy_resumed_by_the_next`.

mod cell;
mod force;

pub use cell::LazyCell;
pub use force::{Force, ForceMut};

#[cfg(all(test, loom))]
#[path = "tests/lazy_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/lazy.rs"]
mod tests;

//! The stealable ring: one worker pushes and pops, other threads take half.
//!
//! # Question
//!
//! Each worker has a queue of runnable tasks. Its own pushes and pops are the hottest path of the
//! runtime and should cost a store and one exchange; yet a thread with nothing to do must be able
//! to take half of them at any moment, in order, without the owner's help, and without a data race
//! even in the formal sense (no slot is read that might be written).
//!
//! # States
//!
//! `CAPACITY` slots in a circle. Three indices run upwards for ever and wrap at 2^32; index `i`
//! lies in slot `i mod CAPACITY`. `claimed` and `real` share one atomic word (`index` has
//! its table), `tail` is a word of its own that only the owner stores.
//!
//! ```text
//!        claimed          real                tail            claimed + CAPACITY
//! ──────────┼───────────────┼───────────────────┼───────────────────┼──────────
//!   free    │ being read by │  queued, anybody  │   free, owner     │
//!           │   one thief   │  may take them    │   may write       │
//! ```
//!
//! Always `claimed ≤ real ≤ tail ≤ claimed + CAPACITY`. `claimed = real` means that no thief is
//! at work, and then the first region is empty.
//!
//! # Protocol
//!
//! *Push* (owner): if `tail − claimed < CAPACITY`, write slot `tail`, store `tail + 1`. Else the
//! ring is full and the item comes back.
//!
//! *Pop* (owner): if `real ≠ tail`, read slot `real`, then exchange the word for one with
//! `real + 1` (and `claimed` alongside if no thief is at work). Only the exchange makes the item
//! ours.
//!
//! *Steal* (one thief at a time; a second one sees `claimed ≠ real` and gives up):
//! 1. **claim**: exchange the word for one with `real + n`, `claimed` unchanged;
//! 2. **read** the slots `claimed .. claimed + n`;
//! 3. **release**: exchange the word for one with `claimed = real`, whatever `real` is by then.
//!
//! Holding a `Claim` is the proof of having done 1 and not 3; it is the only way to read as a
//! thief.
//!
//! # Race
//!
//! *Owner and thief want the same item.* Both change the same word; one exchange fails and its
//! loser starts again with what it saw. The owner has by then read the slot, which the thief may
//! read too: two reads.
//!
//! *The ring is full and the owner pushes while a thief reads.* The slots being read lie between
//! `claimed` and `real`, and the owner counts free slots from `claimed`: it finds the ring full.
//!
//! *A thief sees an old `tail`.* It takes fewer than there are, or, when the owner has popped
//! meanwhile, finds `tail` before `real` and takes none. The word it exchanges is current in any
//! case.
//!
//! *A thief sleeps between its load and its exchange while the indices go round once.* The exchange
//! would succeed on exactly the 2^32nd operation. At 6 ns each that is a pause of 25 s which ends
//! within one particular 6 ns; it is accepted, as in every ring with indices of this size.
//!
//! # Proof
//!
//! *A thief reads what was pushed.* It reads indices below a `tail` that it loaded (acquire), so
//! their writes, which come before the owner's store of that `tail` (release), happened before.
//! No later write has reached those slots: that needs `claimed` to pass them, and the thief's own
//! exchange has found `claimed` at or before them.
//!
//! *The owner overwrites nothing that is still read.* It writes index `t` only after it has loaded
//! (acquire) a word with `claimed > t − CAPACITY`. `claimed` got past index `t − CAPACITY` by a
//! pop, which is the owner's own act, or by a release, whose exchange (release) comes after the
//! thief's reads. A pop that came on top of the release was an exchange too and continues its
//! release sequence. So all reads happened before the write.
//!
//! *Exactly once.* `real` only grows, by exchanges of the one word; each index is passed by one of
//! them, and whoever passed it owns the item.
//!
//! Nothing else needs an ordering: claims and pops may be relaxed. The models (module
//! `tests::models`) keep the slots in checked cells, so that each of the four orderings, when
//! weakened, is reported as a race.

mod index;
mod local;
mod slots;
mod steal;
#[cfg(test)]
mod tests;

use crate::pointer::Pointer;
use crate::shim::Arc;

pub use local::Owner;
pub use steal::Thief;

/// How many items a ring can hold: 2,048, and 4 under the model checker.
pub const CAPACITY: usize = slots::CAPACITY as usize;

/// Makes a ring: the side that pushes and pops, and the side that steals.
///
/// Allocates once, about 16 KiB; pushes, pops and steals never do.
///
/// ```
/// let (mine, theirs) = raddle_base::deque::ring();
/// for n in 1..=4 {
///     mine.push(Box::new(n)).unwrap();
/// }
/// let (other, _) = raddle_base::deque::ring();
/// // Half of four: the oldest is returned, the second goes into the thief's own ring.
/// assert_eq!(*theirs.steal_half(&other).unwrap(), 1);
/// assert_eq!((*other.pop().unwrap(), *mine.pop().unwrap(), mine.len()), (2, 3, 1));
/// ```
#[must_use]
pub fn ring<T: Pointer>() -> (Owner<T>, Thief<T>) {
    ring_from(0)
}

/// A ring whose indices start at `start`: tests start just below the wrap.
fn ring_from<T: Pointer>(start: u32) -> (Owner<T>, Thief<T>) {
    let ring = Arc::new(slots::Ring::new(start));
    (Owner::new(ring.clone()), Thief::new(ring))
}

//! What every floor of raddle needs and nothing more: the std-or-loom shim, time and randomness,
//! the execution context of a thread, parking, lists and rings, and the one wait queue.
//!
//! Three rules hold for everything here.
//!
//! * **One memory model.** Concurrent code takes its atomics, cells, mutexes and threads from
//!   [`shim`], never from `std` directly. Under `--cfg loom` the same lines run inside the model
//!   checker, so what is checked is what is shipped. Cells are accessed through closures because
//!   loom must see where an access begins and ends.
//! * **One source of time and randomness.** [`clock`] and [`random`] are the only ones in the
//!   workspace. That is what makes virtual time and seeded simulation possible.
//! * **No knowledge of those above.** Nothing here names a task, a scheduler or a driver.
//!   Where a lower part must know who runs on a thread, it asks [`context`].
//!
//! Where to start reading: [`shim`], then [`parker`] for the house style in small.

pub mod backoff;
pub mod blocks;
pub mod clock;
pub mod context;
pub mod deque;
pub mod doorbell;
pub mod fifo;
pub mod fork;
pub mod hooks;
pub mod inbox;
pub mod injector;
pub mod list;
pub mod packed;
pub mod padded;
pub mod parker;
pub mod pointer;
pub mod random;
pub mod shim;
pub mod slab;
pub mod spin;
#[cfg(test)]
mod testing;
pub mod wait;

//! A cell that is written once, by an initialiser that may wait.
//!
//! A face of the once (`once.rs`) with a place for a value beside it. The leader writes the value
//! before it completes, so who sees the once completed may read, for as long as the cell is
//! borrowed.

mod cell;
mod exclusive;
mod init;

pub use cell::{OnceCell, SetError};
pub use exclusive::{GetMutOrInit, GetMutOrTryInit};
pub use init::{GetOrInit, GetOrTryInit, OnceCellWait, TryInsert};

#[cfg(all(test, loom))]
#[path = "tests/once_cell_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/once_cell.rs"]
mod tests;

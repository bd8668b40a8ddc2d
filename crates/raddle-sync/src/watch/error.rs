//! What can go wrong with a watched value.

use std::error::Error;
use std::fmt;

pub use crate::mpsc::error::{RecvTimeoutError, SendError};

/// All senders are gone, and the last value was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecvError;

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the channel is closed")
    }
}

impl Error for RecvError {}

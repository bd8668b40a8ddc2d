//! Errors of conversions between raddle's and std's types: the value comes back.

use std::error::Error;
use std::fmt;
use std::io;

/// A socket or file could not be converted: here it is again, as it was.
///
/// Converts into `io::Error`, which drops (and so closes) the value.
pub struct ConvertError<T> {
    /// Why.
    pub error: io::Error,
    /// What was to be converted.
    pub value: T,
}

impl<T> ConvertError<T> {
    pub(crate) fn new(error: io::Error, value: T) -> ConvertError<T> {
        ConvertError { error, value }
    }

    /// A source was not free to be taken apart.
    pub(crate) fn busy(value: T) -> ConvertError<T> {
        let text = "an operation is under way, or received bytes are not read yet";
        ConvertError::new(io::Error::new(io::ErrorKind::ResourceBusy, text), value)
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T> fmt::Debug for ConvertError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConvertError").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<T> fmt::Display for ConvertError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T> Error for ConvertError<T> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}

impl<T> From<ConvertError<T>> for io::Error {
    fn from(refused: ConvertError<T>) -> io::Error {
        refused.error
    }
}

//! Why a subcommand gave up, as the one line that the user reads.
//!
//! Every subcommand returns this and nothing richer: nobody above `main` acts on the kind of an
//! error, so the text is all there is. Made beside the call that failed, where it is known what
//! was being tried.

use std::fmt;
use std::io;

/// One line for standard error, without the program's name.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    /// Says what could not be done and the system's reason for it.
    pub(crate) fn of(attempt: impl fmt::Display, error: &io::Error) -> Self {
        Self(format!("{attempt}: {}", plain(error)))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The system's text without std's ` (os error N)`, which says the same thing twice.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests;

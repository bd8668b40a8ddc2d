//! Which backend serves this process, and why: asked once, when a runtime is built.
//!
//! io_uring is used only when the kernel has all of what Linux 6.1 has, and lets this process use
//! it. There are no tiers in between: a second way to do each thing on half-new kernels would be a
//! third backend that nobody tests.

use crate::uring::probe as kernel;
use std::fmt;
use std::io;

/// What the user asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// io_uring where it can be had, else epoll.
    #[default]
    Auto,
    /// io_uring or an error.
    Uring,
    /// epoll.
    Epoll,
}

impl std::str::FromStr for Choice {
    type Err = io::Error;

    /// `auto`, `uring` (or `io_uring`), or `epoll`.
    fn from_str(name: &str) -> io::Result<Choice> {
        match name {
            "auto" => Ok(Choice::Auto),
            "uring" | "io_uring" => Ok(Choice::Uring),
            "epoll" => Ok(Choice::Epoll),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "unknown I/O backend {name:?}: expected auto, uring (or io_uring), or epoll"
                ),
            )),
        }
    }
}

/// What is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Completions.
    Uring,
    /// Readiness.
    Epoll,
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Backend::Uring => "io_uring",
            Backend::Epoll => "epoll",
        })
    }
}

/// Why a backend is used, in one phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason(String);

impl Reason {
    fn new(phrase: impl Into<String>) -> Reason {
        Reason(phrase.into())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Decides which backend to use.
///
/// Makes a ring and asks what it can do, which takes a fraction of a millisecond, or some 60 ms
/// where memory for it is refused.
///
/// # Errors
///
/// io_uring was asked for and cannot be had. The message is the reason.
pub fn choose(choice: Choice) -> io::Result<(Backend, Reason)> {
    choose_and_hold(choice).map(|(backend, reason, _)| (backend, reason))
}

/// As [`choose`]; the third value keeps as much memory as one driver takes. Who holds it while
/// other drivers are made knows that there is enough for one more.
///
/// # Errors
///
/// As [`choose`].
pub fn choose_and_hold(choice: Choice) -> io::Result<(Backend, Reason, Held)> {
    let refused = |refusal: io::Error| format!("io_uring: {refusal}");
    let (backend, phrase, sample) = match choice {
        Choice::Epoll => (Backend::Epoll, "asked for".to_owned(), None),
        Choice::Uring => match kernel::ask() {
            Ok(sample) => (Backend::Uring, "asked for".to_owned(), Some(sample)),
            Err(refusal) => return Err(io::Error::new(refusal.kind(), refused(refusal))),
        },
        Choice::Auto => match kernel::ask() {
            Ok(sample) => {
                (Backend::Uring, "the kernel has all that is needed".to_owned(), Some(sample))
            }
            Err(refusal) => (Backend::Epoll, refused(refusal), None),
        },
    };
    Ok((backend, Reason::new(phrase), Held(sample)))
}

/// What the choice has taken to find out; given back when dropped. See [`choose_and_hold`].
pub struct Held(#[expect(dead_code, reason = "held for its drop")] Option<kernel::Sample>);

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Held")
    }
}

#[cfg(test)]
#[path = "tests/probe.rs"]
mod tests;

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

    /// `auto`, `uring` or `epoll`.
    fn from_str(name: &str) -> io::Result<Choice> {
        match name {
            "auto" => Ok(Choice::Auto),
            "uring" => Ok(Choice::Uring),
            "epoll" => Ok(Choice::Epoll),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("unknown I/O backend {name:?}: expected auto, uring or epoll"),
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
/// Makes a small ring and asks what it can do, which takes a few dozen microseconds.
///
/// # Errors
///
/// io_uring was asked for and cannot be had. The message is the reason.
pub fn choose(choice: Choice) -> io::Result<(Backend, Reason)> {
    match choice {
        Choice::Epoll => Ok((Backend::Epoll, Reason::new("asked for"))),
        Choice::Uring => match kernel::ask() {
            Ok(()) => Ok((Backend::Uring, Reason::new("asked for"))),
            Err(refusal) => Err(io::Error::new(refusal.kind(), format!("io_uring: {refusal}"))),
        },
        Choice::Auto => match kernel::ask() {
            Ok(()) => Ok((Backend::Uring, Reason::new("the kernel has all that is needed"))),
            Err(refusal) => Ok((Backend::Epoll, Reason::new(format!("io_uring: {refusal}")))),
        },
    }
}

#[cfg(test)]
#[path = "tests/probe.rs"]
mod tests;

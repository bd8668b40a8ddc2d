//! How I/O is done: what may be asked for, and what a runtime uses and why.

use std::env;
use std::fmt;
use std::io;

pub use raddle_driver::Backend;
use raddle_driver::Choice;

/// The environment variable that says how I/O is done where the builder does not. An empty one
/// says nothing.
const VARIABLE: &str = "RADDLE_IO";

/// How I/O is to be done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Io {
    /// io_uring where the kernel has all that Linux 6.1 has and lets this process use it; else
    /// epoll.
    #[default]
    Auto,
    /// io_uring, or an error.
    Uring,
    /// epoll.
    Epoll,
}

impl From<Io> for Choice {
    fn from(io: Io) -> Choice {
        match io {
            Io::Auto => Choice::Auto,
            Io::Uring => Choice::Uring,
            Io::Epoll => Choice::Epoll,
        }
    }
}

impl std::str::FromStr for Io {
    type Err = io::Error;

    /// `auto`, `uring` or `epoll`.
    fn from_str(name: &str) -> io::Result<Io> {
        Ok(match name.parse::<Choice>()? {
            Choice::Auto => Io::Auto,
            Choice::Uring => Io::Uring,
            Choice::Epoll => Io::Epoll,
        })
    }
}

/// What a runtime uses for I/O, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IoInfo {
    backend: Backend,
    reason: String,
}

impl IoInfo {
    /// What is used.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Why, in one phrase.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for IoInfo {
    /// Backend and reason, as in `io_uring, asked for`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.backend, self.reason)
    }
}

/// Decides: the builder's word first, then the environment, then what is best.
///
/// # Errors
///
/// io_uring was asked for and cannot be had, or the environment variable says something else
/// than `auto`, `uring` or `epoll`.
pub(crate) fn decide(asked: Option<Io>) -> io::Result<IoInfo> {
    let io = match asked {
        Some(io) => io,
        None => match env::var(VARIABLE) {
            // As if unset, which is what an empty line in a settings file means.
            Ok(name) if name.is_empty() => Io::Auto,
            Ok(name) => name.parse().map_err(|error: io::Error| {
                io::Error::new(error.kind(), format!("{VARIABLE}: {error}"))
            })?,
            Err(env::VarError::NotPresent) => Io::Auto,
            Err(error) => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    format!("{VARIABLE}: {error}"),
                ));
            }
        },
    };
    let (backend, reason) = raddle_driver::choose(io.into())?;
    Ok(IoInfo { backend, reason: reason.to_string() })
}

//! How I/O is done: what may be asked for, and what a runtime uses and why.

use std::env;
use std::fmt;
use std::io;

pub use raddle_driver::Backend;
use raddle_driver::{Choice, Held};

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

    /// `auto`, `uring` (or `io_uring`), or `epoll`.
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
/// than the names of an [`Io`].
pub(crate) fn decide(asked: Option<Io>) -> io::Result<Decided> {
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
    let (backend, reason, held) = raddle_driver::choose_and_hold(io.into())?;
    let info = IoInfo { backend, reason: reason.to_string() };
    Ok(Decided { info, may_fall_back: io == Io::Auto && backend == Backend::Uring, held })
}

/// What was decided, before it is known whether there is memory for as many rings as workers.
pub(crate) struct Decided {
    info: IoInfo,
    may_fall_back: bool,
    /// Stands for the ring of worker 0, which is made last, on the thread that runs it.
    held: Held,
}

impl Decided {
    /// Makes something with the backend; where nobody asked for io_uring and memory for its rings
    /// is refused, with epoll.
    pub(crate) fn make<T>(
        self,
        make: impl Fn(Backend) -> io::Result<T>,
    ) -> io::Result<(T, IoInfo)> {
        let Decided { info, may_fall_back, held } = self;
        let made = make(info.backend);
        drop(held);
        match made {
            Err(error) if may_fall_back && error.kind() == io::ErrorKind::OutOfMemory => {
                let reason = format!("io_uring: {error}");
                let info = IoInfo { backend: Backend::Epoll, reason };
                Ok((make(info.backend)?, info))
            }
            made => Ok((made?, info)),
        }
    }
}

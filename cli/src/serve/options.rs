//! What `raddle serve` can be told, and what it does when told nothing.
//!
//! The public options are in the help. The hidden ones exist for the tests, which would
//! otherwise wait the real ten and sixty seconds; their defaults are the documented limits.

use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum};

/// Arguments of `raddle serve`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// The directory to serve
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,

    /// Address and port to listen on; port 0 takes any free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8080")]
    pub(crate) addr: Address,

    /// Worker threads [default: as many as the CPUs this process may use]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) workers: Option<u16>,

    /// How to reach the kernel [default: RADDLE_IO if set, else auto]
    #[arg(long, value_name = "WAY", value_enum)]
    pub(crate) io: Option<Way>,

    /// Serve and list names that begin with a dot, too (.well-known among them)
    #[arg(long)]
    pub(crate) hidden: bool,

    /// Write no access log
    #[arg(long)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// The backends that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Way {
    /// io_uring where the kernel allows it, else epoll
    Auto,
    /// io_uring or an error
    #[value(alias = "io_uring")]
    Uring,
    /// epoll
    Epoll,
}

/// How long and how much: the documented limits, changed by tests only.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// From the first byte of a request (or the connection's start) to the end of its header
    #[arg(long = "header-timeout-ms", value_name = "MS", hide = true, default_value = "10000")]
    #[arg(value_parser = milliseconds)]
    pub(crate) header: Duration,

    /// Without a byte moved in either direction
    #[arg(long = "idle-timeout-ms", value_name = "MS", hide = true, default_value = "60000")]
    #[arg(value_parser = milliseconds)]
    pub(crate) idle: Duration,

    /// For requests in flight after Ctrl-C
    #[arg(long = "drain-timeout-ms", value_name = "MS", hide = true, default_value = "3000")]
    #[arg(value_parser = milliseconds)]
    pub(crate) drain: Duration,

    /// Connections served at the same time; more of them wait in the kernel's backlog
    #[arg(long = "max-connections", value_name = "N", hide = true, default_value = "1024")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) connections: u32,
}

fn milliseconds(text: &str) -> Result<Duration, std::num::ParseIntError> {
    text.parse().map(Duration::from_millis)
}

/// `HOST:PORT`, checked for form when parsed and resolved when used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address(String);

impl Address {
    /// The socket addresses it stands for, at least one.
    ///
    /// Asks the resolver for names and may block: for the main thread before the runtime starts.
    pub(crate) fn resolve(&self) -> io::Result<Vec<SocketAddr>> {
        let found: Vec<_> = self.0.to_socket_addrs()?.collect();
        match found.is_empty() {
            true => Err(io::Error::new(io::ErrorKind::NotFound, "no address found")),
            false => Ok(found),
        }
    }
}

impl FromStr for Address {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str = "expected HOST:PORT, for example 127.0.0.1:8080 or [::1]:8080";
        if text.parse::<SocketAddr>().is_err() {
            let (host, port) = text.rsplit_once(':').ok_or(FORM)?;
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
            if host.is_empty() || !host.chars().all(plain) || port.parse::<u16>().is_err() {
                return Err(FORM);
            }
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;

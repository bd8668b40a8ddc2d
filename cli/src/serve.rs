//! `raddle serve [DIR]`: a directory over HTTP/1.1, through hyper on raddle.
//!
//! ```text
//! server       accepts, holds the connection limit, drains
//!  └ connection  hyper, time limits (activity), the order to stop
//!     └ handler    one request
//!        ├ admission   method, host, path → target            pure
//!        ├ lookup      target → file, listing or status       on the blocking pool
//!        │  └ root       the one door to the file system
//!        ├ plan        conditional, range, validators …       pure
//!        └ answer      the body; streams a file, then reports to the access log
//! ```
//!
//! This file joins them: it opens what can fail (directory, address, runtime, log) before it
//! promises anything, and prints the line that others wait for.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;

mod access_log;
mod activity;
mod admission;
mod answer;
mod conditional;
mod connection;
mod content_type;
mod escape;
mod handler;
mod interrupt;
mod listing;
mod lookup;
mod options;
mod plan;
mod range;
mod root;
mod server;
mod target;
mod validators;

pub(crate) use options::Options;

use crate::failure::Failure;
use access_log::AccessLog;
use handler::Site;
use options::Way;
use root::Root;

/// Runs the subcommand until Ctrl-C.
pub(crate) fn run(options: Options) -> Result<(), Failure> {
    let root = Root::open(&options.dir)
        .map_err(|error| {
            Failure::of(format_args!("cannot serve {}", options.dir.display()), &error)
        })?
        .with_hidden(options.hidden);
    let addresses = options
        .addr
        .resolve()
        .map_err(|error| Failure::of(format_args!("cannot resolve {}", options.addr), &error))?;
    raise_descriptor_limit();
    let runtime = runtime(&options)?;
    let io = runtime.io().to_string();
    let (log, writer) = match options.quiet {
        true => AccessLog::off(),
        false => AccessLog::start()
            .map_err(|error| Failure::of("cannot start the access log", &error))?,
    };
    let site = Arc::new(Site { root: Arc::new(root), log });
    let served = runtime.run(async move {
        let listener = server::listen(&options.addr.to_string(), &addresses).await?;
        let address = listener
            .local_addr()
            .map_err(|error| Failure::of("cannot tell the address listened on", &error))?;
        server::serve(listener, site, options.limits, || announce(address, &io)).await
    });
    writer.finish();
    served
}

/// Builds what the options ask for. Without `--io` the runtime looks at RADDLE_IO itself.
fn runtime(options: &Options) -> Result<raddle::Runtime, Failure> {
    let mut builder = raddle::Runtime::builder();
    if let Some(workers) = options.workers {
        builder = builder.workers(usize::from(workers));
    }
    if let Some(way) = options.io {
        builder = builder.io(match way {
            Way::Auto => raddle::Io::Auto,
            Way::Uring => raddle::Io::Uring,
            Way::Epoll => raddle::Io::Epoll,
        });
    }
    builder.build().map_err(|error| Failure::of("cannot start the runtime", &error))
}

/// The first line of standard output. Nobody may be there to read it, which is no error.
fn announce(address: SocketAddr, io: &dyn Display) {
    let mut output = io::stdout().lock();
    let _ = writeln!(output, "listening on http://{address} (io: {io})");
    let _ = output.flush();
}

/// A connection takes two descriptors and the usual soft limit is 1,024: take what is allowed.
/// If that fails the server works with fewer connections, so it is not an error.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
}

//! Processes and actors: blocking-style code with stacks of its own, mailboxes, links, ends.
//!
//! A process is spawned from anywhere in a runtime, and everything of raddle's that is awaited in a
//! task is waited for on a process by [`.wait()`](crate::sync::Wait): sockets, timers, files,
//! primitives, tasks, other processes.
//!
//! ```
//! use raddle::actor::{self, Cx};
//! use raddle::net::{TcpListener, TcpStream};
//! use raddle::sync::Wait;
//!
//! let answer = actor::run(|_| {
//!     let listener = TcpListener::bind("127.0.0.1:0").wait()?;
//!     let address = listener.local_addr()?;
//!     let server = actor::spawn(move |_: &mut Cx<()>| {
//!         let (stream, _) = listener.accept().wait()?;
//!         stream.write_all(b"hello").wait()
//!     });
//!     let mut answer = String::new();
//!     let stream = TcpStream::connect(address).wait()?;
//!     let mut bytes = [0; 5];
//!     stream.read_exact(&mut bytes).wait()?;
//!     answer.push_str(std::str::from_utf8(&bytes).unwrap());
//!     server.join().wait().unwrap()?;
//!     std::io::Result::Ok(answer)
//! });
//! assert_eq!(answer.unwrap().unwrap(), "hello");
//! ```
//!
//! # For users of smarm
//!
//! | smarm | here |
//! |---|---|
//! | `run(f)`, `init(Config::exact(n)).run(f)` | [`run`], [`run_with`] |
//! | `spawn`, `join` | [`spawn`], [`Process::join`]`().wait()` |
//! | `yield_now`, `check!()` | [`yield_now`], [`check`] |
//! | `channel` | the mailbox, or any channel of [`sync`](crate::sync) |
//! | `Mutex` with its time-out | `lock().wait_timeout(limit)` of [`Mutex`](crate::sync::Mutex) |
//! | `block_on_io` | [`blocking`] |
//! | `wait_readable`, `wait_writable` | `readable().wait()`, `writable().wait()` of a socket |
//! | `read`, `write` | `read(&mut buffer).wait()`, `write(&buffer).wait()` |
//! | `Signal::Exit`, `Signal::Panic` | [`Event::Down`], [`Event::Exit`] with an [`ExitReason`] |

pub use raddle_actor::*;

use crate::builder::Builder as RuntimeBuilder;

/// Runs `f` as the first process of a runtime with the usual settings, and gives what it returned,
/// or the reason why it did not. The runtime ends with it, as after [`run`](crate::run).
///
/// # Panics
///
/// If the runtime cannot be made, and where [`run`](crate::run) does.
#[track_caller]
pub fn run<R, F>(f: F) -> Result<R, ExitReason>
where
    F: FnOnce(&mut Cx<()>) -> R + Send + 'static,
    R: Send + 'static,
{
    crate::run(async { spawn(f).join().await })
}

/// As [`run`], on a runtime with these settings.
///
/// # Errors
///
/// The runtime could not be made.
///
/// # Panics
///
/// Where [`Runtime::run`](crate::Runtime::run) does.
#[track_caller]
pub fn run_with<R, F>(builder: RuntimeBuilder, f: F) -> std::io::Result<Result<R, ExitReason>>
where
    F: FnOnce(&mut Cx<()>) -> R + Send + 'static,
    R: Send + 'static,
{
    Ok(builder.build()?.run(async { spawn(f).join().await }))
}

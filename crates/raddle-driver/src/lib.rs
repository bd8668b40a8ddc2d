//! The kernel as raddle sees it: io_uring and epoll behind one contract.
//!
//! A thread that runs tasks makes a [`Driver`], installs it ([`install`]), and asks it now and
//! then what has happened. Tasks use [`Source`]s (sockets, pipes) and operations ([`op`]) without
//! knowing which backend is at work: both have the same features and the same results.
//!
//! * **epoll** says when a descriptor may be ready; the task then makes the call itself.
//! * **io_uring** carries operations out and says when they are done; it is used only where all
//!   of what Linux 6.1 has is there ([`choose`] tells).
//!
//! **Threads.** A driver belongs to the thread that made it. Any other thread reaches it through
//! its [`Remote`]: to wake it, to post I/O to it ([`install_remote`]), or to reap in its place.
//!
//! **Ownership.** What the kernel may still write to is never freed. Operations own their buffers;
//! dropping a future cancels and returns at once. Received bytes, accepted connections and
//! datagrams belong to the source until they have been handed out, so dropping a future loses none.
//!
//! **Close.** See [`Source`] and [`Driver::close`].
//!
//! This crate knows no scheduler, no timer and no thread pool; it prints nothing; its errors are
//! `io::Error`s.
//!
//! Where to start reading: [`op`] for the contract, the epoll loop for the simpler backend, then
//! the io_uring loop.

pub mod op;

mod addr;
mod backoff;
mod buf;
mod config;
mod current;
mod driver;
mod epoll;
mod errors;
mod flight;
mod handle;
mod interest;
mod offload;
mod owner;
mod probe;
mod remote;
mod shell;
mod sizes;
mod source;
mod submitted;
mod sys;
mod uring;
mod wait;
mod waiters;
mod wake;
mod watcher;

pub use addr::RawAddr;
pub use buf::{IoBuf, IoBufMut, Tail};
pub use config::{Config, TaskRun};
pub use current::{Guard, install_remote};
pub use driver::{Driver, Left, install};
pub use errors::NO_RUNTIME;
pub use interest::{Direction, Interest};
pub use offload::{NoOffload, Offload, OffloadError};
pub use probe::{Backend, Choice, Held, Reason, choose, choose_and_hold};
pub use remote::Remote;
pub use shell::SourceKind;
pub use source::Source;
pub use source::make::Refused;

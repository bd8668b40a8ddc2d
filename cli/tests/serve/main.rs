//! `raddle serve` from outside: the real command as a process, a client of our own on std's
//! sockets, and nothing shared between them but the wire.
//!
//! One file a promise. Most tests run for every setup: RADDLE_IO unset, `epoll` and `uring`, one
//! and two workers. Waiting is always for an event under a watchdog, never for a time.

mod answers;
mod client;
mod errors;
mod large;
mod limits;
mod log;
mod paths;
mod process;
mod setup;
mod stop;
mod traffic;

//! The only file tree that calls the kernel. Each function is safe, or says what it asks for.
//!
//! Nothing here decides anything: a function is one system call with its types made honest
//! (descriptors borrowed, lengths taken from slices, errors as `io::Error`). The loops of the two
//! backends and the operations are written on top and hold no `libc` call themselves.

pub(crate) mod barrier;
pub(crate) mod epoll;
pub(crate) mod errno;
pub(crate) mod eventfd;
pub(crate) mod file;
pub(crate) mod map;
pub(crate) mod msg;
pub(crate) mod sigpipe;
pub(crate) mod socket;
pub(crate) mod sqe;
pub(crate) mod thread;
pub(crate) mod uring;

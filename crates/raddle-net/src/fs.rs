//! Files, and calls on paths, without blocking a worker.
//!
//! [`File`] reads what is in the page cache in place; all else is done by io_uring or, under
//! epoll, by a thread of the blocking pool. The functions on paths use the pool always. Names and
//! meanings are those of `std::fs`.

mod blocking_file;
mod dir;
mod exclusive;
mod file;
mod job;
mod open;
mod path;
mod traits;

pub use dir::{ReadDir, read_dir};
pub use file::File;
pub use open::OpenOptions;
pub use path::{
    canonicalize, copy, create_dir, create_dir_all, hard_link, metadata, read, read_link,
    read_to_string, remove_dir, remove_dir_all, remove_file, rename, set_permissions, symlink,
    symlink_metadata, try_exists, write,
};
pub use std::fs::DirEntry;

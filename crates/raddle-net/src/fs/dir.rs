//! What is in a directory, fetched some entries at a time on the blocking pool.

use super::path::on;
use crate::blocking;
use std::collections::VecDeque;
use std::fmt;
use std::fs::{self, DirEntry};
use std::io;
use std::path::Path;
use std::pin::Pin;

/// How many entries one call fetches.
const ENTRIES: usize = 64;

type Fetched = io::Result<(fs::ReadDir, VecDeque<io::Result<DirEntry>>)>;

/// Who has the open directory.
enum Std {
    Here(fs::ReadDir),
    /// A call on the pool, or a refused one.
    Away(Pin<Box<dyn Future<Output = Fetched> + Send>>),
    Lost,
}

/// The entries of a directory. Made by [`read_dir`].
pub struct ReadDir {
    std: Std,
    ready: VecDeque<io::Result<DirEntry>>,
}

/// Opens a directory to read what is in it, in no order.
pub async fn read_dir(path: impl AsRef<Path>) -> io::Result<ReadDir> {
    let std = on(path, fs::read_dir).await?;
    Ok(ReadDir { std: Std::Here(std), ready: VecDeque::new() })
}

impl ReadDir {
    /// The next entry; `None` at the end. Entries are std's: their `metadata` and `file_type` may
    /// block, so rather give their `path` to [`symlink_metadata`](super::symlink_metadata).
    ///
    /// # Errors
    ///
    /// What the kernel says; the pool takes no more jobs, after which the rest is lost.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn next_entry(&mut self) -> io::Result<Option<DirEntry>> {
        if self.ready.is_empty() {
            self.fetch().await?;
        }
        self.ready.pop_front().transpose()
    }

    async fn fetch(&mut self) -> io::Result<()> {
        self.std = match std::mem::replace(&mut self.std, Std::Lost) {
            Std::Here(mut std) => Std::Away(Box::pin(blocking::run(move || {
                let ready = std.by_ref().take(ENTRIES).collect();
                (std, ready)
            }))),
            other => other,
        };
        let Std::Away(call) = &mut self.std else {
            return Err(io::Error::other("the rest of the directory was lost in an earlier error"));
        };
        let fetched = call.as_mut().await;
        self.std = Std::Lost;
        let (std, ready) = fetched?;
        self.std = Std::Here(std);
        self.ready = ready;
        Ok(())
    }
}

impl fmt::Debug for ReadDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadDir").finish_non_exhaustive()
    }
}

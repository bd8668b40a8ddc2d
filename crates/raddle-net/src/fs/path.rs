//! Calls on paths: std's functions of the same names, on the blocking pool.
//!
//! None of them is cancel-safe in the sense that nothing has happened: a call that was begun goes
//! on when its future is dropped.

use crate::blocking;
use std::fs::{self, Metadata, Permissions};
use std::io;
use std::path::{Path, PathBuf};

/// Calls `call` with a path of its own.
pub(super) async fn on<T: Send + 'static>(
    path: impl AsRef<Path>,
    call: impl FnOnce(PathBuf) -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let path = path.as_ref().to_owned();
    blocking::run(move || call(path)).await?
}

/// The whole content of a file.
pub async fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    on(path, fs::read).await
}

/// The whole content of a file as text.
pub async fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    on(path, fs::read_to_string).await
}

/// Makes a file with this content, or replaces that of an existing one. Copies the content.
pub async fn write(path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> io::Result<()> {
    let content = content.as_ref().to_vec();
    on(path, move |path| fs::write(path, content)).await
}

/// What the file system says of a path, through symbolic links.
pub async fn metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    on(path, fs::metadata).await
}

/// What the file system says of a path itself.
pub async fn symlink_metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    on(path, fs::symlink_metadata).await
}

/// Whether there is something at the path.
pub async fn try_exists(path: impl AsRef<Path>) -> io::Result<bool> {
    on(path, fs::exists).await
}

/// The absolute path without symbolic links.
pub async fn canonicalize(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    on(path, fs::canonicalize).await
}

/// What a symbolic link points to.
pub async fn read_link(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    on(path, fs::read_link).await
}

/// Makes a directory.
pub async fn create_dir(path: impl AsRef<Path>) -> io::Result<()> {
    on(path, fs::create_dir).await
}

/// Makes a directory and those above it that are missing.
pub async fn create_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    on(path, fs::create_dir_all).await
}

/// Removes a file.
pub async fn remove_file(path: impl AsRef<Path>) -> io::Result<()> {
    on(path, fs::remove_file).await
}

/// Removes an empty directory.
pub async fn remove_dir(path: impl AsRef<Path>) -> io::Result<()> {
    on(path, fs::remove_dir).await
}

/// Removes a directory with all that is in it.
pub async fn remove_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    on(path, fs::remove_dir_all).await
}

/// Gives a file another name; replaces what has that name.
pub async fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    let to = to.as_ref().to_owned();
    on(from, move |from| fs::rename(from, to)).await
}

/// Copies a file with its permissions; how many bytes.
pub async fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<u64> {
    let to = to.as_ref().to_owned();
    on(from, move |from| fs::copy(from, to)).await
}

/// Gives a file one more name.
pub async fn hard_link(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    let link = link.as_ref().to_owned();
    on(original, move |original| fs::hard_link(original, link)).await
}

/// Makes a symbolic link at `link` that points to `original`.
pub async fn symlink(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    let link = link.as_ref().to_owned();
    on(original, move |original| std::os::unix::fs::symlink(original, link)).await
}

/// Changes the permissions at a path.
pub async fn set_permissions(path: impl AsRef<Path>, permissions: Permissions) -> io::Result<()> {
    on(path, move |path| fs::set_permissions(path, permissions)).await
}

//! From a path to what is there: a file, a page that lists a directory, a redirect, or a status.
//!
//! [`find`] blocks and is one job for the pool per request; [`at_hand`] answers at once for files
//! that the kernel has in its caches, and knows when it cannot. A directory is asked for its
//! `index.html` first; only when it has none is it listed. The listing shows what could be
//! fetched: regular files, directories, and links that lead to one of them inside DIR. What a link
//! leads to may have a hidden name: whoever made the link wanted it to be seen.
//!
//! | what the kernel said                               | answer                             |
//! |----------------------------------------------------|------------------------------------|
//! | nothing there, out of DIR, loop, no directory      | 404                                |
//! | (not asked) a name that begins with a dot          | 404, unless the root shows those   |
//! | neither a regular file nor a directory             | 404                                |
//! | permission denied                                  | 403                                |
//! | out of descriptors or memory, a walk upset 16 times | 503                               |
//! | anything else                                      | 500                                |

use std::io;

use hyper::StatusCode;
use rustix::fs::FileType;
use rustix::io::Errno;

use super::listing::{self, Entry, Kind};
use super::root::{Opened, Root};
use super::target::Target;
use super::validators::Metadata;

/// What a path stands for.
#[derive(Debug)]
pub(crate) enum Found {
    File(Located),
    /// A listing, as HTML.
    Page(String),
    /// A directory was named without its slash: the link with it.
    Elsewhere(String),
}

/// A regular file, open, with the facts its answer needs.
#[derive(Debug)]
pub(crate) struct Located {
    pub(crate) file: std::fs::File,
    pub(crate) metadata: Metadata,
    /// Its last name, for the content type.
    pub(crate) name: Vec<u8>,
}

/// The file that stands for its directory.
const INDEX: &[u8] = b"index.html";

/// What `target` names, if that can be told without waiting for a disk: a file, the index file of
/// a directory, or that there is nothing.
pub(crate) fn at_hand(root: &Root, target: &Target) -> Option<Result<Found, StatusCode>> {
    if is_refused(root, target) {
        return Some(Err(StatusCode::NOT_FOUND));
    }
    let index;
    let file = match target.wants_directory() {
        true => {
            index = target.child(INDEX);
            &index
        }
        false => target,
    };
    match root.cached(file)? {
        Ok(opened) if opened.kind == FileType::RegularFile => Some(located(file, opened)),
        // No index is not nothing: there may be a listing.
        Err(error) if !target.wants_directory() => Some(Err(status(&error))),
        _ => None,
    }
}

/// Finds what `target` names; an error is the status to answer with.
pub(crate) fn find(root: &Root, target: &Target) -> Result<Found, StatusCode> {
    if is_refused(root, target) {
        return Err(StatusCode::NOT_FOUND);
    }
    let opened = root.read(target).map_err(|error| status(&error))?;
    match opened.kind {
        FileType::Directory if target.wants_directory() => directory(root, target, &opened),
        FileType::Directory => Ok(Found::Elsewhere(target.directory_link())),
        FileType::RegularFile if !target.wants_directory() => located(target, opened),
        _ => Err(StatusCode::NOT_FOUND),
    }
}

/// Names that begin with a dot are as if they were not there.
fn is_refused(root: &Root, target: &Target) -> bool {
    target.is_hidden() && !root.shows_hidden()
}

fn located(target: &Target, opened: Opened) -> Result<Found, StatusCode> {
    let metadata = opened.metadata;
    let file = opened.into_file().map_err(|error| status(&error))?;
    Ok(Found::File(Located { file, metadata, name: target.name().to_vec() }))
}

fn directory(root: &Root, target: &Target, opened: &Opened) -> Result<Found, StatusCode> {
    let index = target.child(INDEX);
    match root.read(&index) {
        Ok(opened) if opened.kind == FileType::RegularFile => return located(&index, opened),
        // A directory or a device of that name is no index.
        Ok(_) => {}
        Err(error) => match status(&error) {
            StatusCode::NOT_FOUND => {}
            other => return Err(other),
        },
    }
    let entries = opened.entries().map_err(|error| status(&error))?;
    let shown = entries.into_iter().filter_map(|(name, kind, metadata)| {
        if name.starts_with(b".") && !root.shows_hidden() {
            return None;
        }
        let (kind, metadata) = match kind {
            FileType::Symlink => root.look(&target.child(&name)).ok()?,
            _ => (kind, metadata),
        };
        entry(name, kind, &metadata)
    });
    Ok(Found::Page(listing::page(target, shown.collect())))
}

/// A line of the listing, for what can be fetched.
fn entry(name: Vec<u8>, kind: FileType, metadata: &Metadata) -> Option<Entry> {
    let kind = match kind {
        FileType::Directory => Kind::Directory,
        FileType::RegularFile => Kind::File(metadata.length),
        _ => return None,
    };
    let modified = u64::try_from(metadata.modified.seconds).unwrap_or(0);
    Some(Entry { name, kind, modified })
}

/// The table above.
fn status(error: &io::Error) -> StatusCode {
    match Errno::from_io_error(error) {
        Some(
            Errno::NOENT
            | Errno::NOTDIR
            | Errno::XDEV
            | Errno::LOOP
            | Errno::NAMETOOLONG
            | Errno::NXIO
            | Errno::NODEV
            | Errno::INVAL,
        ) => StatusCode::NOT_FOUND,
        Some(Errno::ACCESS | Errno::PERM) => StatusCode::FORBIDDEN,
        Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::AGAIN) => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

#[cfg(test)]
mod tests;

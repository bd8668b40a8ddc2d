//! The one door to the file system: opens what lies below DIR, and nothing else.
//!
//! **Question.** A path that was checked is only a string: between a check and the open, anyone
//! who may write below DIR can turn a directory into a symbolic link. How can an open be sure to
//! stay inside?
//!
//! **Answer.** By leaving it to the kernel. DIR is opened once, and every later open is one
//! `openat2` relative to that descriptor with `RESOLVE_BENEATH`: the kernel itself refuses, at
//! each step of the walk and against renames that happen meanwhile, whatever would leave the
//! tree: `..` above DIR, absolute links (even ones that point back inside), links that climb
//! out, and the magic links of /proc. Renaming or replacing DIR changes nothing; its descriptor
//! stays.
//!
//! Where a sandbox refuses `openat2` (asked once, at the start), each name is opened relative to
//! the directory before it with `O_NOFOLLOW`. That refuses every symbolic link, which is more
//! than asked, and has the same freedom from races: there is no second look at a name.
//!
//! Opening a FIFO or a terminal by mistake must not hang or take it over, hence `O_NONBLOCK` and
//! `O_NOCTTY`; the caller's look at the type refuses both.
//!
//! All calls here may block on a disk and belong on the blocking pool, but one: [`Root::cached`]
//! finishes only what the kernel has in its caches (`RESOLVE_CACHED`) and gives up otherwise. It
//! is tried on file systems whose open and stat ask no other machine or process; on others, and
//! below mount points, it always gives up.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use super::target::Target;
use super::validators::{Metadata, Stamp};

/// The directory that is served.
#[derive(Debug)]
pub(crate) struct Root {
    directory: OwnedFd,
    way: Way,
    /// Whether the file system is one on which a cached open cannot block.
    local: bool,
    hidden: bool,
}

/// How the kernel is asked to stay inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// `openat2` with `RESOLVE_BENEATH`.
    Beneath,
    /// One name at a time, no links.
    NameByName,
}

/// Something below DIR, opened for reading.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) descriptor: OwnedFd,
    pub(crate) kind: FileType,
    pub(crate) metadata: Metadata,
}

/// What every open here has in common.
const ALWAYS: OFlags = OFlags::CLOEXEC.union(OFlags::NOCTTY).union(OFlags::NONBLOCK);
/// For reading; and for being looked at or walked through, which needs no permission to read.
const READ: OFlags = ALWAYS.union(OFlags::RDONLY);
const LOOK: OFlags = OFlags::CLOEXEC.union(OFlags::PATH);
const INSIDE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS);
const CACHED: ResolveFlags = INSIDE.union(ResolveFlags::CACHED).union(ResolveFlags::NO_XDEV);

/// The numbers (`statfs(2)`) of ext4, XFS, Btrfs, F2FS and tmpfs.
const LOCAL: [u32; 5] = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x0102_1994];

/// A rename anywhere in the system can make the kernel give up a walk that meets `..` in a link;
/// it then asks to be asked again.
const ATTEMPTS: usize = 16;

impl Root {
    /// Opens DIR: fails when it is missing, no directory, or may not be read or searched.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::CLOEXEC | OFlags::RDONLY | OFlags::DIRECTORY;
        let directory = rustix::fs::openat(CWD, path, flags, Mode::empty())?;
        let number = rustix::fs::fstatfs(&directory)?.f_type;
        let local = LOCAL.iter().any(|known| i64::from(*known) == number);
        let mut root = Self { directory, way: Way::Beneath, local, hidden: false };
        match root.descriptor(b".", LOOK) {
            Ok(_) => {}
            Err(Errno::NOSYS | Errno::PERM) => root.way = Way::NameByName,
            Err(error) => return Err(error.into()),
        }
        Ok(root)
    }

    /// The same directory, with or without names that begin with a dot.
    pub(crate) fn with_hidden(self, hidden: bool) -> Self {
        Self { hidden, ..self }
    }

    /// Whether names that begin with a dot are there for those who ask.
    pub(crate) fn shows_hidden(&self) -> bool {
        self.hidden
    }

    /// The same directory, reached in a given way.
    #[cfg(test)]
    pub(crate) fn with_way(path: &Path, way: Way) -> io::Result<Self> {
        Ok(Self { way, ..Self::open(path)? })
    }

    /// Opens a file or directory for reading.
    pub(crate) fn read(&self, target: &Target) -> io::Result<Opened> {
        Ok(Opened::from(self.descriptor(target.path(), READ)?)?)
    }

    /// Opens a file or directory for reading without ever waiting for a disk; `None` when only
    /// [`Root::read`] can tell.
    pub(crate) fn cached(&self, target: &Target) -> Option<io::Result<Opened>> {
        if !self.local || self.way != Way::Beneath {
            return None;
        }
        let path = target.path();
        match rustix::fs::openat2(&self.directory, path, READ, Mode::empty(), CACHED) {
            Ok(descriptor) => Some(Opened::from(descriptor).map_err(io::Error::from)),
            // AGAIN: not in the caches. XDEV: a mount point, or a way out. INVAL: an older kernel.
            Err(Errno::AGAIN | Errno::XDEV | Errno::INVAL) => None,
            Err(error) => Some(Err(error.into())),
        }
    }

    /// Looks at a file or directory, following a link at its end, without opening it for reading.
    pub(crate) fn look(&self, target: &Target) -> io::Result<(FileType, Metadata)> {
        let opened = Opened::from(self.descriptor(target.path(), LOOK)?)?;
        Ok((opened.kind, opened.metadata))
    }

    fn descriptor(&self, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
        match self.way {
            Way::Beneath => self.beneath(path, flags),
            Way::NameByName => self.name_by_name(path, flags),
        }
    }

    fn beneath(&self, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
        let mut last = Errno::AGAIN;
        for _ in 0..ATTEMPTS {
            match rustix::fs::openat2(&self.directory, path, flags, Mode::empty(), INSIDE) {
                Err(Errno::AGAIN | Errno::INTR) => last = Errno::AGAIN,
                other => return other,
            }
        }
        Err(last)
    }

    fn name_by_name(&self, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
        let through = LOOK | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let mut above: Option<OwnedFd> = None;
        let mut names = path.split(|byte| *byte == b'/').peekable();
        while let Some(name) = names.next() {
            if name == b".." {
                return Err(Errno::XDEV);
            }
            let last = names.peek().is_none();
            let flags = if last { flags | OFlags::NOFOLLOW } else { through };
            let from = above.as_ref().unwrap_or(&self.directory);
            let next = rustix::fs::openat(from, name, flags, Mode::empty())?;
            above = Some(next);
        }
        above.ok_or(Errno::NOENT)
    }
}

impl Opened {
    fn from(descriptor: OwnedFd) -> Result<Self, Errno> {
        let stat = rustix::fs::fstat(&descriptor)?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind == FileType::Symlink {
            // Looking name by name stops at a link and opens the link itself.
            return Err(Errno::LOOP);
        }
        Ok(Self { descriptor, kind, metadata: metadata(&stat) })
    }

    /// The regular file in it, cleared of `O_NONBLOCK`: on some file systems io_uring takes the
    /// flag to mean that a read which has to wait for the disk shall fail instead.
    pub(crate) fn into_file(self) -> io::Result<std::fs::File> {
        rustix::fs::fcntl_setfl(&self.descriptor, OFlags::empty())?;
        Ok(self.descriptor.into())
    }

    /// The names in a directory, without `.` and `..`, each with what the entry itself is.
    pub(crate) fn entries(&self) -> io::Result<Vec<(Vec<u8>, FileType, Metadata)>> {
        let mut entries = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.descriptor)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            // An entry that vanished meanwhile, or that may not be looked at, is not shown.
            let own = AtFlags::SYMLINK_NOFOLLOW;
            let Ok(stat) = rustix::fs::statat(&self.descriptor, name, own) else { continue };
            let kind = FileType::from_raw_mode(stat.st_mode);
            entries.push((name.to_bytes().to_vec(), kind, metadata(&stat)));
        }
        Ok(entries)
    }
}

/// The fields that the rest of the server knows.
fn metadata(stat: &Stat) -> Metadata {
    let nanos = |value| u32::try_from(value).unwrap_or(0);
    Metadata {
        length: u64::try_from(stat.st_size).unwrap_or(0),
        modified: Stamp { seconds: stat.st_mtime, nanos: nanos(stat.st_mtime_nsec) },
        changed: Stamp { seconds: stat.st_ctime, nanos: nanos(stat.st_ctime_nsec) },
    }
}

#[cfg(test)]
mod tests;

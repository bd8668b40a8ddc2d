//! Opening a file: what is asked for, and what that is to the kernel.

use super::file::File;
use raddle_driver::op;
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// How to open a file: std's type of this name, with an `open` that does not block.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    read: bool,
    write: bool,
    append: bool,
    truncate: bool,
    create: bool,
    create_new: bool,
    mode: u32,
    custom: i32,
}

impl Default for OpenOptions {
    fn default() -> OpenOptions {
        OpenOptions::new()
    }
}

impl OpenOptions {
    /// Nothing is set.
    pub fn new() -> OpenOptions {
        OpenOptions {
            read: false,
            write: false,
            append: false,
            truncate: false,
            create: false,
            create_new: false,
            mode: 0o666,
            custom: 0,
        }
    }

    /// For reading.
    pub fn read(&mut self, on: bool) -> &mut OpenOptions {
        self.read = on;
        self
    }

    /// For writing.
    pub fn write(&mut self, on: bool) -> &mut OpenOptions {
        self.write = on;
        self
    }

    /// For writing at the end, wherever that is at each write.
    pub fn append(&mut self, on: bool) -> &mut OpenOptions {
        self.append = on;
        self
    }

    /// Cuts an existing file to no length.
    pub fn truncate(&mut self, on: bool) -> &mut OpenOptions {
        self.truncate = on;
        self
    }

    /// Makes the file if there is none.
    pub fn create(&mut self, on: bool) -> &mut OpenOptions {
        self.create = on;
        self
    }

    /// Makes the file, and fails if there is one.
    pub fn create_new(&mut self, on: bool) -> &mut OpenOptions {
        self.create_new = on;
        self
    }

    /// The permissions of a file that is made, minus the process's mask. Default 0o666.
    pub fn mode(&mut self, mode: u32) -> &mut OpenOptions {
        self.mode = mode;
        self
    }

    /// Further flags of `open(2)`. Those of the access mode are ignored.
    pub fn custom_flags(&mut self, flags: i32) -> &mut OpenOptions {
        self.custom = flags;
        self
    }

    /// Opens the file.
    ///
    /// # Errors
    ///
    /// What the kernel says; `InvalidInput` for settings that make no sense together or a path
    /// with a zero byte in it.
    ///
    /// # Cancel safety
    ///
    /// A file that is opened after the future was dropped is closed again. It may have been made.
    pub async fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        let path = CString::new(path.as_ref().as_os_str().as_bytes())?;
        let fd = op::open(path, self.flags()?, self.mode).await?;
        Ok(File::from_fd(fd, self.append))
    }

    /// The flags of `open(2)`.
    fn flags(&self) -> io::Result<i32> {
        let access = match (self.read, self.write, self.append) {
            (true, false, false) => libc::O_RDONLY,
            (false, true, false) => libc::O_WRONLY,
            (true, true, false) => libc::O_RDWR,
            (false, _, true) => libc::O_WRONLY | libc::O_APPEND,
            (true, _, true) => libc::O_RDWR | libc::O_APPEND,
            (false, false, false) => return Err(invalid("opened neither to read nor to write")),
        };
        let makes = self.create || self.create_new;
        if !self.write && !self.append && (self.truncate || makes) {
            return Err(invalid("made or cut without being opened to write"));
        }
        if self.append && self.truncate && !self.create_new {
            return Err(invalid("cut, and opened to append"));
        }
        let creation = match (self.create, self.truncate, self.create_new) {
            (_, _, true) => libc::O_CREAT | libc::O_EXCL,
            (false, false, false) => 0,
            (true, false, false) => libc::O_CREAT,
            (false, true, false) => libc::O_TRUNC,
            (true, true, false) => libc::O_CREAT | libc::O_TRUNC,
        };
        Ok(access | creation | (self.custom & !libc::O_ACCMODE))
    }
}

impl File {
    /// Opens an existing file for reading.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    ///
    /// # Cancel safety
    ///
    /// A file that is opened after the future was dropped is closed again.
    pub async fn open(path: impl AsRef<Path>) -> io::Result<File> {
        OpenOptions::new().read(true).open(path).await
    }

    /// Opens a file for writing; makes it if there is none, empties it otherwise.
    ///
    /// # Cancel safety
    ///
    /// As [`open`](Self::open); the file may have been made.
    pub async fn create(path: impl AsRef<Path>) -> io::Result<File> {
        OpenOptions::new().write(true).create(true).truncate(true).open(path).await
    }

    /// Makes a file for reading and writing; fails with `AlreadyExists` if there is one.
    ///
    /// # Cancel safety
    ///
    /// As [`open`](Self::open); the file may have been made.
    pub async fn create_new(path: impl AsRef<Path>) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create_new(true).open(path).await
    }

    /// Settings for opening a file.
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }
}

fn invalid(text: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

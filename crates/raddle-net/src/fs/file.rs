//! An open file: reading, writing and all else that its descriptor is for.

use super::blocking_file;
use super::exclusive::Exclusive;
use super::job::Job;
use crate::convert::ConvertError;
use crate::io::{IoBuf, IoBufMut, Tail, as_uninit, push_text};
use raddle_driver::op;
use std::fmt;
use std::fs::{Metadata, Permissions};
use std::future::poll_fn;
use std::io::{self, SeekFrom};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;

/// An open file. Reading and writing never block a worker.
///
/// Methods that take `&mut [u8]` read what is cached in place, and otherwise through a buffer of
/// the file's own; those that take a buffer away ([`read_at`](Self::read_at) and so on) use it
/// itself, and any number of them may be under way at once.
///
/// The file keeps its position itself: the kernel's position, which duplicates of the descriptor
/// share, is used only for files opened to append and for those without positions.
///
/// Dropping a file closes it on the calling thread, which on some file systems waits;
/// [`close`](Self::close) does not, and tells of errors. What was written through the traits of
/// `futures-io` and not flushed may be lost by a drop.
pub struct File {
    pub(super) fd: Arc<OwnedFd>,
    pub(super) job: Exclusive<Job>,
}

impl File {
    pub(super) fn from_fd(fd: OwnedFd, append: bool) -> File {
        let job = Exclusive::new(Job::new(&fd, append));
        File { fd: Arc::new(fd), job }
    }

    /// Takes a file of std over, with its position.
    pub fn from_std(file: std::fs::File) -> File {
        // SAFETY: no pointer is passed.
        let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
        File::from_fd(file.into(), flags != -1 && flags & libc::O_APPEND != 0)
    }

    /// The file as std's, with its position, when nothing is under way any more.
    ///
    /// # Errors
    ///
    /// That of an earlier write that nobody waited for, or bytes were read from a pipe that
    /// nobody has taken. The file comes back.
    pub async fn into_std(mut self) -> Result<std::fs::File, ConvertError<File>> {
        if let Err(error) = self.flush().await {
            return Err(ConvertError::new(error, self));
        }
        if self.job.get().holds_bytes() {
            return Err(ConvertError::busy(self));
        }
        if let Some(at) = self.job.get().position() {
            // SAFETY: no pointer is passed. A position the file has had is one it can have.
            unsafe { libc::lseek(self.fd.as_raw_fd(), at.cast_signed(), libc::SEEK_SET) };
        }
        let File { fd, job } = self;
        // Else an operation with a buffer of its own is still under way.
        let fd = Arc::try_unwrap(fd).or_else(|fd| fd.try_clone().map_err(|error| (error, fd)));
        match fd {
            Ok(fd) => Ok(fd.into()),
            Err((error, fd)) => Err(ConvertError::new(error, File { fd, job })),
        }
    }

    /// A second file for the same open file, with a position of its own that begins where this
    /// one's is. Waits for the end of what is under way. Files opened to append, and those without
    /// positions, share the kernel's.
    ///
    /// # Errors
    ///
    /// Descriptors are exhausted; or that of an earlier write that nobody waited for.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn try_clone(&mut self) -> io::Result<File> {
        self.flush().await?;
        let fd = self.fd.try_clone()?;
        let job = Exclusive::new(self.job.get().twin());
        Ok(File { fd: Arc::new(fd), job })
    }

    /// Reads into `buf` from the position on; `Ok(0)` is the end of the file.
    ///
    /// # Cancel safety
    ///
    /// A dropped future has not moved the position.
    pub async fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let (fd, job) = (&self.fd, self.job.get());
        poll_fn(|cx| job.poll_read(fd, cx, as_uninit(buf))).await
    }

    /// Reads exactly as many bytes as `buf` has.
    ///
    /// # Errors
    ///
    /// `UnexpectedEof` if the file ends before.
    ///
    /// # Cancel safety
    ///
    /// Not cancel-safe: the position may have moved.
    pub async fn read_exact(&mut self, buf: &mut [u8]) -> io::Result<()> {
        let mut at = 0;
        while at < buf.len() {
            match self.read(&mut buf[at..]).await? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => at += count,
            }
        }
        Ok(())
    }

    /// Appends all bytes up to the end of the file to `into`, and says how many.
    ///
    /// # Cancel safety
    ///
    /// Not cancel-safe, but nothing is lost: what was read is in `into`.
    pub async fn read_to_end(&mut self, into: &mut Vec<u8>) -> io::Result<usize> {
        let begin = into.len();
        let mut step = 8 << 10;
        loop {
            into.reserve(step);
            let len = into.len();
            let (fd, job) = (&self.fd, self.job.get());
            let count = poll_fn(|cx| job.poll_read(fd, cx, into.spare_capacity_mut())).await?;
            if count == 0 {
                return Ok(len - begin);
            }
            // SAFETY: the read has initialised so many bytes behind the length.
            unsafe { into.set_len(len + count) };
            step = (step * 2).min(1 << 20);
        }
    }

    /// Appends all text up to the end of the file to `into`, and says how many bytes.
    ///
    /// # Errors
    ///
    /// `InvalidData` if it is not UTF-8; `into` is then as it was.
    ///
    /// # Cancel safety
    ///
    /// Not cancel-safe: the position may have moved.
    pub async fn read_to_string(&mut self, into: &mut String) -> io::Result<usize> {
        let mut bytes = Vec::new();
        self.read_to_end(&mut bytes).await?;
        push_text(bytes, into)
    }

    /// Writes of `buf` what one operation takes (at most 1 MiB), at the position, and waits until
    /// the kernel has it. Copies the bytes.
    ///
    /// # Errors
    ///
    /// What the kernel says; or the error of an earlier write that nobody waited for.
    ///
    /// # Cancel safety
    ///
    /// Not cancel-safe: the write goes on. Later operations on the file wait for its end, and
    /// they tell of its error.
    pub async fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let (fd, job) = (&self.fd, self.job.get());
        let mut begun = false;
        poll_fn(|cx| job.poll_write(fd, cx, buf, &mut begun)).await
    }

    /// Writes all of `buf`.
    ///
    /// # Cancel safety
    ///
    /// As [`write`](Self::write).
    pub async fn write_all(&mut self, buf: &[u8]) -> io::Result<()> {
        let mut at = 0;
        while at < buf.len() {
            at += self.write(&buf[at..]).await?;
        }
        Ok(())
    }

    /// Waits until every write that was begun has ended. Does not wait for the disk: see
    /// [`sync_all`](Self::sync_all).
    ///
    /// # Errors
    ///
    /// That of an earlier write that nobody waited for.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn flush(&mut self) -> io::Result<()> {
        let (fd, job) = (&self.fd, self.job.get());
        poll_fn(|cx| job.poll_idle(fd, cx)).await
    }

    /// Changes the position; the new one from the beginning.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a position before the beginning; `NotSeekable` for pipes and the like.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (fd, job) = (&self.fd, self.job.get());
        poll_fn(|cx| job.poll_seek(fd, cx, to)).await
    }

    /// The position.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn stream_position(&mut self) -> io::Result<u64> {
        self.seek(SeekFrom::Current(0)).await
    }

    /// Goes to the beginning.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn rewind(&mut self) -> io::Result<()> {
        self.seek(SeekFrom::Start(0)).await.map(drop)
    }

    /// Reads from `offset` on into a buffer that is given away and comes back with the result; a
    /// `Vec` is filled from its beginning up to its capacity. The position stays.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe; the buffer is dropped when the kernel is done with it.
    pub async fn read_at<B: IoBufMut>(&self, buf: B, offset: u64) -> (io::Result<usize>, B) {
        op::read(&self.fd, buf, Some(offset)).await
    }

    /// Writes a buffer at `offset` (at the end, if the file was opened to append); it comes back
    /// with the number of bytes written. The position stays.
    ///
    /// # Cancel safety
    ///
    /// Not cancel-safe: some or all of it may be written.
    pub async fn write_at<B: IoBuf>(&self, buf: B, offset: u64) -> (io::Result<usize>, B) {
        op::write(&self.fd, buf, Some(offset)).await
    }

    /// As [`write_at`](Self::write_at), until all is written.
    ///
    /// # Cancel safety
    ///
    /// Not cancel-safe: some or all of it may be written.
    pub async fn write_all_at<B: IoBuf>(&self, mut buf: B, offset: u64) -> (io::Result<()>, B) {
        let mut at = 0;
        while at < buf.init_len() {
            let begin = offset.saturating_add(at as u64);
            let (result, tail) = op::write(&self.fd, Tail::new(buf, at), Some(begin)).await;
            buf = tail.into_inner();
            match result {
                Ok(0) => return (Err(io::ErrorKind::WriteZero.into()), buf),
                Ok(count) => at += count,
                Err(error) => return (Err(error), buf),
            }
        }
        (Ok(()), buf)
    }

    /// Waits until data and metadata are on the medium.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe; what was begun goes on.
    pub async fn sync_all(&mut self) -> io::Result<()> {
        self.flush().await?;
        op::fsync(&self.fd, false).await
    }

    /// Waits until data, and what metadata is needed to read it, are on the medium.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe; what was begun goes on.
    pub async fn sync_data(&mut self) -> io::Result<()> {
        self.flush().await?;
        op::fsync(&self.fd, true).await
    }

    /// What the file system says of the file.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn metadata(&self) -> io::Result<Metadata> {
        blocking_file::with(Arc::clone(&self.fd), |file| file.metadata()).await
    }

    /// Cuts or extends the file; the position stays.
    ///
    /// # Cancel safety
    ///
    /// Not cancel-safe: it may be done.
    pub async fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.flush().await?;
        blocking_file::with(Arc::clone(&self.fd), move |file| file.set_len(len)).await
    }

    /// Changes the permissions.
    ///
    /// # Cancel safety
    ///
    /// Not cancel-safe: it may be done.
    pub async fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        blocking_file::with(Arc::clone(&self.fd), move |file| file.set_permissions(permissions))
            .await
    }

    /// Closes the file off the worker, and tells what the close says.
    ///
    /// # Errors
    ///
    /// What the kernel says, or the error of an earlier write. The file is closed all the same.
    ///
    /// # Cancel safety
    ///
    /// The file is closed also if the future is dropped.
    pub async fn close(mut self) -> io::Result<()> {
        let written = self.flush().await;
        let closed = match Arc::try_unwrap(self.fd) {
            Ok(fd) => op::close(fd).await,
            // An operation that is still under way closes it.
            Err(_) => Ok(()),
        };
        written.and(closed)
    }
}

impl From<std::fs::File> for File {
    fn from(file: std::fs::File) -> File {
        File::from_std(file)
    }
}

impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl AsRawFd for File {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("fd", &self.fd.as_raw_fd()).finish_non_exhaustive()
    }
}

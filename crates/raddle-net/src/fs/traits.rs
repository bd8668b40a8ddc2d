//! The traits of `futures-io` for files.
//!
//! Writing through them is buffered: `poll_write` takes the bytes and does not wait for the
//! kernel, `poll_flush` does. An error of the kernel comes with the next call.

use super::file::File;
use super::job::Job;
use crate::io::{AsyncRead, AsyncSeek, AsyncWrite, PollRead, as_uninit};
use std::io::{self, SeekFrom};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

impl AsyncRead for File {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_read_uninit(cx, as_uninit(buf))
    }
}

// SAFETY: the job gives the number of bytes that the kernel, or a copy, has written.
unsafe impl PollRead for File {
    fn poll_read_uninit(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.job.get().poll_read(&this.fd, cx, into)
    }
}

impl AsyncWrite for File {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let job = this.job.get();
        ready!(job.poll_idle(&this.fd, cx))?;
        match job.poll_write(&this.fd, cx, buf, &mut false) {
            // Begun, with a copy of the bytes: they count as written.
            Poll::Pending => Poll::Ready(Ok(Job::portion(buf))),
            ready => ready,
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.job.get().poll_idle(&this.fd, cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

impl AsyncSeek for File {
    fn poll_seek(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: SeekFrom,
    ) -> Poll<io::Result<u64>> {
        let this = self.get_mut();
        this.job.get().poll_seek(&this.fd, cx, to)
    }
}

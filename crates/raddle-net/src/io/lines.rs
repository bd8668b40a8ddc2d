//! The lines of a reader.

use super::AsyncRead;
use super::buf_reader::{BufReader, push_text};
use futures_core::Stream;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Lines of text without their ends, `\n` or `\r\n`. Made by [`BufReader::lines`].
///
/// Also a [`Stream`] of them. There is no limit to the length of a line.
#[derive(Debug)]
pub struct Lines<R> {
    reader: BufReader<R>,
    /// The part of the next line that was read.
    begun: Vec<u8>,
}

impl<R: AsyncRead + Unpin> BufReader<R> {
    /// The lines of the input, one after the other.
    pub fn lines(self) -> Lines<R> {
        Lines { reader: self, begun: Vec::new() }
    }
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// The next line; `None` at the end of input.
    ///
    /// # Errors
    ///
    /// What the reader says; `InvalidData` for a line that is not UTF-8, after which the next one
    /// can be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: what was read of a line is kept.
    pub async fn next_line(&mut self) -> io::Result<Option<String>> {
        poll_fn(|cx| self.poll_next_line(cx)).await
    }

    /// Polls for the next line.
    pub fn poll_next_line(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<String>>> {
        ready!(self.reader.poll_until(cx, b'\n', &mut self.begun))?;
        let mut line = std::mem::take(&mut self.begun);
        if line.is_empty() {
            return Poll::Ready(Ok(None));
        }
        if line.ends_with(b"\n") {
            line.pop();
            if line.ends_with(b"\r") {
                line.pop();
            }
        }
        let mut text = String::new();
        Poll::Ready(push_text(line, &mut text).map(|_| Some(text)))
    }

    /// The reader, without the part of a line that was read and not given out.
    pub fn into_inner(self) -> BufReader<R> {
        self.reader
    }

    /// The reader.
    pub fn get_ref(&self) -> &BufReader<R> {
        &self.reader
    }
}

impl<R: AsyncRead + Unpin> Stream for Lines<R> {
    type Item = io::Result<String>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<String>>> {
        self.get_mut().poll_next_line(cx).map(io::Result::transpose)
    }
}

//! Buffers and copying over readers and writers in memory that take and give a little at a time.

use crate::io::{AsyncRead, AsyncWrite, BufReader, BufWriter, copy, copy_bidirectional};
use futures_core::Stream;
use raddle_sync::block_on;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// Gives its bytes a few at a time and is pending before each; keeps what is written to it, a few
/// bytes at a time too.
struct Slow {
    input: Vec<u8>,
    step: usize,
    pending: bool,
    output: Vec<u8>,
    flushes: usize,
    closed: bool,
}

impl Slow {
    fn new(input: &[u8], step: usize) -> Slow {
        let input = input.to_vec();
        Slow { input, step, pending: false, output: Vec::new(), flushes: 0, closed: false }
    }

    /// Pending every other time.
    fn wait(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.pending = !self.pending;
        match self.pending {
            true => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            false => Poll::Ready(()),
        }
    }
}

impl AsyncRead for Slow {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        std::task::ready!(self.wait(cx));
        let count = self.step.min(buf.len()).min(self.input.len());
        buf[..count].copy_from_slice(&self.input[..count]);
        self.input.drain(..count);
        Poll::Ready(Ok(count))
    }
}

impl AsyncWrite for Slow {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let count = self.step.min(buf.len());
        self.output.extend_from_slice(&buf[..count]);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.flushes += 1;
        Poll::Ready(Ok(()))
    }

    fn poll_close(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.closed = true;
        Poll::Ready(Ok(()))
    }
}

#[test]
fn lines_of_all_kinds() {
    let text = "one\n\ntwo\r\nth\u{fc}r\u{e4}\nlast";
    for (step, capacity) in [(1, 1), (2, 3), (100, 4), (100, 100)] {
        block_on(async {
            let reader = BufReader::with_capacity(capacity, Slow::new(text.as_bytes(), step));
            let mut lines = reader.lines();
            let mut seen = Vec::new();
            while let Some(line) = lines.next_line().await.unwrap() {
                seen.push(line);
            }
            assert_eq!(seen, ["one", "", "two", "th\u{fc}r\u{e4}", "last"]);
            assert_eq!(lines.next_line().await.unwrap(), None);
            assert!(lines.into_inner().into_inner().input.is_empty());
        });
    }
}

/// A wait that is given up loses nothing of the line, and lines are a stream too.
#[test]
fn a_line_survives_dropped_waits() {
    let mut lines = BufReader::with_capacity(2, Slow::new(b"hello\nworld\n", 1)).lines();
    let mut cx = Context::from_waker(Waker::noop());
    let mut seen = Vec::new();
    for _ in 0..100 {
        if let Poll::Ready(Ok(Some(line))) = pin!(lines.next_line()).poll(&mut cx) {
            seen.push(line);
        }
    }
    assert_eq!(seen, ["hello", "world"]);
    let mut lines = BufReader::new(&b"a\nb"[..]).lines();
    let next = block_on(poll_fn(|cx| Pin::new(&mut lines).poll_next(cx)));
    assert_eq!(next.unwrap().unwrap(), "a");
}

#[test]
fn text_that_is_none_is_an_error_and_the_next_line_follows() {
    block_on(async {
        let mut reader = BufReader::new(&b"\xff\nfine\n\xff"[..]);
        let mut line = String::from("kept");
        let error = reader.read_line(&mut line).await.unwrap_err();
        assert_eq!((error.kind(), line.as_str()), (io::ErrorKind::InvalidData, "kept"));
        assert_eq!(reader.read_line(&mut line).await.unwrap(), 5);
        assert_eq!(line, "keptfine\n");
        assert!(reader.read_to_string(&mut line).await.is_err());
        assert_eq!(reader.read_line(&mut line).await.unwrap(), 0);
    });
}

#[test]
fn a_buffered_reader_reads_in_every_way() {
    block_on(async {
        let mut reader = BufReader::with_capacity(4, Slow::new(b"0123456789:abcdefghij", 3));
        let mut two = [0; 2];
        reader.read_exact(&mut two).await.unwrap();
        assert_eq!((&two, reader.buffer()), (b"01", &b"2"[..]));
        assert_eq!(reader.fill_buf().await.unwrap(), b"2");
        reader.consume(1);
        let mut number = Vec::new();
        assert_eq!(reader.read_until(b':', &mut number).await.unwrap(), 8);
        assert_eq!(number, b"3456789:");
        // What is left in the buffer; then past it, since it is empty and no larger.
        assert_eq!(reader.read(&mut [0; 4]).await.unwrap(), 1);
        assert_eq!(reader.read(&mut [0; 4]).await.unwrap(), 3);
        let mut rest = String::new();
        assert_eq!(reader.read_to_string(&mut rest).await.unwrap(), 6);
        assert_eq!(rest, "efghij");
        let error = reader.read_exact(&mut two).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(reader.read_until(b'x', &mut number).await.unwrap(), 0);
    });
}

#[test]
fn a_buffered_writer_writes_when_it_must() {
    block_on(async {
        let mut writer = BufWriter::with_capacity(8, Slow::new(b"", 3));
        writer.write_all(b"01234").await.unwrap();
        assert_eq!((writer.buffer(), writer.get_ref().output.len()), (&b"01234"[..], 0));
        writer.write_all(b"56789").await.unwrap();
        assert_eq!(
            (writer.buffer(), writer.get_ref().output.as_slice()),
            (&b"56789"[..], &b"01234"[..])
        );
        writer.flush().await.unwrap();
        assert_eq!(
            (writer.get_ref().output.as_slice(), writer.get_ref().flushes),
            (&b"0123456789"[..], 1)
        );
        // As long as the buffer: past it.
        writer.write_all(b"abcdefgh").await.unwrap();
        assert_eq!(writer.get_ref().output.len(), 18 - writer.buffer().len());
        writer.shutdown().await.unwrap();
        let inner = writer.into_inner();
        assert!(inner.closed);
        assert_eq!(inner.output, b"0123456789abcdefgh");
    });
}

#[test]
fn copies_flush_and_count() {
    block_on(async {
        let mut to = Slow::new(b"", 2);
        assert_eq!(copy(&mut Slow::new(b"0123456", 3), &mut to).await.unwrap(), 7);
        assert_eq!(to.output, b"0123456");
        assert!(to.flushes > 0 && !to.closed);
        assert_eq!(copy(&mut &b""[..], &mut to).await.unwrap(), 0);
    });
}

#[test]
fn both_ways_are_closed_when_their_input_ends() {
    block_on(async {
        let (mut a, mut b) = (Slow::new(b"from a", 1), Slow::new(b"this comes from b", 5));
        assert_eq!(copy_bidirectional(&mut a, &mut b).await.unwrap(), (6, 17));
        assert_eq!(
            (a.output.as_slice(), b.output.as_slice()),
            (&b"this comes from b"[..], &b"from a"[..])
        );
        assert!(a.closed && b.closed);
    });
}

/// What was written reaches the other side while nothing more comes.
#[test]
fn a_copy_flushes_before_it_waits() {
    struct Stuck(bool);
    impl AsyncRead for Stuck {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _cx: &mut Context<'_>,
            buf: &mut [u8],
        ) -> Poll<io::Result<usize>> {
            if std::mem::replace(&mut self.0, true) {
                return Poll::Pending;
            }
            buf[0] = b'x';
            Poll::Ready(Ok(1))
        }
    }
    let mut writer = BufWriter::new(Slow::new(b"", 9));
    let (mut reader, mut cx) = (Stuck(false), Context::from_waker(Waker::noop()));
    assert!(pin!(copy(&mut reader, &mut writer)).poll(&mut cx).is_pending());
    assert_eq!(writer.get_ref().output, b"x");
}

//! Halves of a stream: two tasks, the end by drop, putting together again.

mod support;

use raddle_net::io::{AsyncRead, AsyncWrite, BufReader, copy_bidirectional};
use raddle_net::{OwnedReadHalf, Tcp};
use std::future::poll_fn;
use std::pin::Pin;
use support::{on_each, pattern, tcp_pair};

#[test]
fn halves_on_two_tasks() {
    on_each(|| async {
        let (a, b) = tcp_pair().await;
        let sent = pattern(2_000_000);
        let (a_read, a_write) = a.into_split();
        let (b_read, b_write) = b.into_split();
        // An echo that reads and writes at its own pace, through the poll functions.
        let echo = raddle::spawn(async move {
            let (mut read, mut write): (OwnedReadHalf<Tcp>, _) = (b_read, b_write);
            let mut buf = vec![0; 30_000];
            loop {
                let count = poll_fn(|cx| Pin::new(&mut read).poll_read(cx, &mut buf)).await;
                let count = count.unwrap();
                if count == 0 {
                    break poll_fn(|cx| Pin::new(&mut write).poll_close(cx)).await.unwrap();
                }
                let mut at = 0;
                while at < count {
                    let rest = &buf[at..count];
                    at += poll_fn(|cx| Pin::new(&mut write).poll_write(cx, rest)).await.unwrap();
                }
            }
        });
        let bytes = sent.clone();
        let writer = raddle::spawn(async move {
            a_write.write_all(&bytes).await.unwrap();
            // The drop of the half ends writing, and the echo with it.
        });
        let mut got = Vec::new();
        a_read.read_to_end(&mut got).await.unwrap();
        assert!(got == sent);
        writer.await.unwrap();
        echo.await.unwrap();
    });
}

#[test]
fn borrowed_halves() {
    on_each(|| async {
        let (mut a, b) = tcp_pair().await;
        {
            let (read, write) = a.split();
            write.write_all(b"to").await.unwrap();
            let mut buf = [0; 2];
            b.read_exact(&mut buf).await.unwrap();
            b.write_all(b"fro").await.unwrap();
            let mut buf = [0; 3];
            read.read_exact(&mut buf).await.unwrap();
            assert_eq!(&buf, b"fro");
        }
        // Their end is not the stream's.
        a.write_all(b"more").await.unwrap();
        assert_eq!(b.read(&mut [0; 8]).await.unwrap(), 4);
    });
}

#[test]
fn reunited_and_forgotten() {
    on_each(|| async {
        let (a, b) = tcp_pair().await;
        let (read, write) = a.into_split();
        let (other_read, other_write) = b.into_split();
        let error = read.reunite(other_write).unwrap_err();
        let a = error.read.reunite(write).expect("halves of one stream");
        let b = error.write.reunite(other_read).expect("halves of one stream");
        a.write_all(b"still open").await.unwrap();
        assert_eq!(b.read(&mut [0; 16]).await.unwrap(), 10);
        // A forgotten half does not end writing; dropping both halves does.
        let (read, write) = a.into_split();
        write.forget();
        assert!(support::polled(b.read(&mut [0; 16]), 3).await.is_none());
        drop(read);
        assert_eq!(b.read(&mut [0; 16]).await.unwrap(), 0);
    });
}

/// A proxy between two connections: everything goes both ways, and so do the ends.
#[test]
fn a_proxy_copies_both_ways() {
    on_each(|| async {
        let (client, mut near) = tcp_pair().await;
        let (mut far, server) = tcp_pair().await;
        let proxy = raddle::spawn(async move { copy_bidirectional(&mut near, &mut far).await });
        let (there, back) = (pattern(700_000), pattern(300_000));
        let (sent, wanted) = (there.clone(), back.clone());
        let serving = raddle::spawn(async move {
            let mut got = Vec::new();
            // The server reads to the end before it answers: the end of one way is passed on.
            server.read_to_end(&mut got).await.unwrap();
            assert!(got == sent);
            server.write_all(&wanted).await.unwrap();
        });
        client.write_all(&there).await.unwrap();
        client.shutdown(std::net::Shutdown::Write).unwrap();
        let mut got = Vec::new();
        client.read_to_end(&mut got).await.unwrap();
        assert!(got == back);
        serving.await.unwrap();
        assert_eq!(proxy.await.unwrap().unwrap(), (700_000, 300_000));
    });
}

#[test]
fn lines_of_a_stream_come_as_they_are_written() {
    on_each(|| async {
        let (a, b) = tcp_pair().await;
        let (read, write) = b.into_split();
        let mut lines = BufReader::new(read).lines();
        a.write_all(b"first\nsec").await.unwrap();
        assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("first"));
        // Given up in the middle of a line.
        assert!(support::polled(lines.next_line(), 3).await.is_none());
        a.write_all(b"ond\n").await.unwrap();
        assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("second"));
        write.write_all(b"text").await.unwrap();
        write.flush().await.unwrap();
        drop(write);
        let mut text = String::new();
        assert_eq!(a.read_to_string(&mut text).await.unwrap(), 4);
        assert_eq!(text, "text");
    });
}

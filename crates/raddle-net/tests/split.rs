//! Halves of a stream: two tasks, the end by drop, putting together again.

mod support;

use raddle_net::io::{AsyncRead, AsyncWrite};
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

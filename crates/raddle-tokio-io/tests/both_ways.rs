//! tokio's helpers on raddle's streams and files, and the traits of `futures-io` on tokio's.

use raddle::net::io::{AsyncRead, AsyncWrite};
use raddle::net::{TcpListener, TcpStream};
use raddle_tokio_io::Compat;
use std::future::poll_fn;
use std::io::SeekFrom;
use std::pin::Pin;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncSeekExt, AsyncWriteExt, BufReader};

#[test]
fn lines_over_tcp() {
    raddle::run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let server = raddle::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let (read, write) = stream.into_split();
            let mut lines = BufReader::new(Compat::new(read)).lines();
            let mut write = Compat::new(write);
            while let Some(line) = lines.next_line().await.unwrap() {
                write.write_all(format!("{line}!\n").as_bytes()).await.unwrap();
            }
            write.shutdown().await.unwrap();
        });
        let mut client = Compat::new(TcpStream::connect(addr).await.unwrap());
        client.write_all(b"one\ntwo\n").await.unwrap();
        client.shutdown().await.unwrap();
        let mut got = String::new();
        client.read_to_string(&mut got).await.unwrap();
        assert_eq!(got, "one!\ntwo!\n");
        server.await.unwrap();
    });
}

#[test]
fn a_file_is_sought() {
    raddle::run(async {
        let path = std::env::temp_dir().join(format!("raddle-compat-{}", std::process::id()));
        let mut file = Compat::new(raddle::fs::File::create_new(&path).await.unwrap());
        file.write_all(b"0123456789").await.unwrap();
        file.flush().await.unwrap();
        assert_eq!(file.seek(SeekFrom::End(-3)).await.unwrap(), 7);
        let mut rest = String::new();
        file.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "789");
        assert_eq!(file.stream_position().await.unwrap(), 10);
        raddle::fs::remove_file(&path).await.unwrap();
    });
}

#[test]
fn a_pipe_of_tokio_has_the_other_traits() {
    raddle::run(async {
        let (a, b) = tokio::io::duplex(64);
        let (mut a, mut b) = (Compat::new(a), Compat::new(b));
        let sent = poll_fn(|cx| AsyncWrite::poll_write(Pin::new(&mut a), cx, b"hello")).await;
        assert_eq!(sent.unwrap(), 5);
        poll_fn(|cx| AsyncWrite::poll_close(Pin::new(&mut a), cx)).await.unwrap();
        let mut buf = [0; 8];
        let got = poll_fn(|cx| AsyncRead::poll_read(Pin::new(&mut b), cx, &mut buf)).await;
        assert_eq!((got.unwrap(), &buf[..5]), (5, &b"hello"[..]));
        let got = poll_fn(|cx| AsyncRead::poll_read(Pin::new(&mut b), cx, &mut buf)).await;
        assert_eq!(got.unwrap(), 0);
    });
}

//! raddle's sockets and files as the cases use them.

use super::tasks::{Raddle, spawn};
use crate::cases::file_read::{BLOCK, Files, Job};
use crate::load::protocol::HELLO;
use crate::rounds::Round;
use crate::served::{Echo, Http, Ready};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{Request, Response, body::Incoming, service::service_fn};
use raddle::net::{TcpListener, TcpStream};
use raddle_hyper::RaddleIo;
use std::convert::Infallible;
use std::future::Future;
use std::path::PathBuf;

impl<const WORKERS: usize, const ON_EPOLL: bool> Files for Raddle<WORKERS, ON_EPOLL> {
    async fn read(path: PathBuf, mut job: Job) -> Round {
        let text = |error: std::io::Error| error.to_string();
        let file = raddle::fs::File::open(path).await.map_err(text)?;
        let mut bytes = vec![0; BLOCK];
        let mut done = 0;
        while let Some(block) = job.next() {
            // A short read of a file that has the block would be a fault: `check` sees it.
            let (result, mut buffer) = file.read_at(bytes, block * BLOCK as u64).await;
            buffer.truncate(result.map_err(text)?);
            bytes = buffer;
            done += job.check(block, &bytes)?;
        }
        Ok(done)
    }
}

impl<const WORKERS: usize, const ON_EPOLL: bool> Echo for Raddle<WORKERS, ON_EPOLL> {
    fn echo(ready: Ready) {
        Self::enter(async { spawn::<WORKERS, _>(serve::<WORKERS, _>(ready, echo)).await })
            .expect("serves")
    }
}

impl<const WORKERS: usize, const ON_EPOLL: bool> Http for Raddle<WORKERS, ON_EPOLL> {
    fn http(ready: Ready) {
        Self::enter(async { spawn::<WORKERS, _>(serve::<WORKERS, _>(ready, http)).await })
            .expect("serves")
    }
}

async fn serve<const WORKERS: usize, F>(ready: Ready, each: fn(TcpStream) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    ready.listening(listener.local_addr().expect("an address"));
    loop {
        let (stream, _) = listener.accept().await.expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        spawn::<WORKERS, _>(each(stream)).detach();
    }
}

async fn echo(stream: TcpStream) {
    let mut buffer = vec![0; 4096];
    while let Ok(n) = stream.read(&mut buffer).await {
        if n == 0 || stream.write_all(&buffer[..n]).await.is_err() {
            return;
        }
    }
}

async fn http(stream: TcpStream) {
    let service = service_fn(|_: Request<Incoming>| async {
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(HELLO.as_bytes()))))
    });
    let server = hyper::server::conn::http1::Builder::new();
    // The load ends by closing its connections: nothing to report.
    let _ = server.serve_connection(RaddleIo::new(stream), service).await;
}

//! tokio: the current-thread runtime, and the multi-thread one with two workers.
//!
//! Its own oneshot, unbounded mpsc, timers, blocking pool, sockets and files. The body is spawned,
//! so that it runs where tasks run and not in `block_on`.

pub(super) mod primitives;
mod service;

use super::table;
use crate::cases::file_read::{BLOCK, Files, Job};
use crate::contender::{Contender, Cpus, Entry};
use crate::hosted::Service;
use crate::load::protocol::HELLO;
use crate::rounds::Round;
use crate::rt::{Offload, Tasks};
use crate::served::{Echo, Http, Ready};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{Request, Response, body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::future::Future;
use std::io::SeekFrom;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot};

pub(super) const CURRENT: Contender = Contender {
    name: "tokio-current",
    about: "tokio, current-thread runtime",
    entries: || with_service::<Tokio<0>>(Cpus::One, None),
    memory: || memory::<Tokio<0>>(Cpus::One),
};

pub(super) const MULTI: Contender = Contender {
    name: "tokio-multi",
    about: "tokio, multi-thread runtime with two workers",
    entries: || with_service::<Tokio<2>>(Cpus::Two, Some(table::scaling_shared::<Tokio<2>>())),
    memory: || memory::<Tokio<2>>(Cpus::Two),
};

fn entries<R: Offload + Files + Echo + Http>(cpus: Cpus, scaling: Option<Entry>) -> Vec<Entry> {
    let mut entries = table::tasks::<R>(cpus);
    entries.extend(table::echo::<R>());
    entries.extend([table::http::<R>(), table::offload::<R>(), table::files::<R>()]);
    entries.extend(scaling);
    entries
}

fn with_service<R: Service + Offload + Files + Echo + Http>(
    cpus: Cpus,
    scaling: Option<Entry>,
) -> Vec<Entry> {
    let mut entries = entries::<R>(cpus, scaling);
    entries.extend(table::service::<R>());
    entries
}

fn memory<R: Tasks + Echo>(cpus: Cpus) -> Vec<Entry> {
    let mut entries = table::memory_of_tasks::<R>(cpus);
    entries.push(table::memory_of_connections::<R>());
    entries
}

/// tokio with so many workers; 0 is the current-thread runtime.
struct Tokio<const WORKERS: usize>;

/// A handle that passes a panic on.
struct Join<T>(tokio::task::JoinHandle<T>);

impl<T> Future for Join<T> {
    type Output = T;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let done = std::task::ready!(Pin::new(&mut self.0).poll(cx));
        Poll::Ready(done.expect("the task ran to its end"))
    }
}

fn runtime(workers: usize) -> Runtime {
    let mut builder = match workers {
        0 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    if workers > 0 {
        builder.worker_threads(workers);
    }
    builder.enable_all().build().expect("tokio starts")
}

impl<const WORKERS: usize> Tasks for Tokio<WORKERS> {
    type Join<T: Send + 'static> = Join<T>;
    type OneTx = oneshot::Sender<u64>;
    type OneRx = oneshot::Receiver<u64>;
    type Tx = mpsc::UnboundedSender<u64>;
    type Rx = mpsc::UnboundedReceiver<u64>;

    fn run<F>(body: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let runtime = runtime(WORKERS);
        let output = runtime.block_on(async { tokio::spawn(body).await });
        runtime.shutdown_background();
        output.expect("the body ran to its end")
    }

    #[inline]
    fn spawn<F>(task: F) -> Join<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Join(tokio::spawn(task))
    }

    #[inline]
    fn detach<T: Send + 'static>(join: Join<T>) {
        drop(join);
    }

    fn spawn_panicking<F>(task: F) -> impl Future<Output = bool> + Send + 'static
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let join = tokio::spawn(task);
        async move { join.await.is_err_and(|error| error.is_panic()) }
    }

    #[inline]
    fn yield_now() -> impl Future<Output = ()> + Send + 'static {
        tokio::task::yield_now()
    }

    #[inline]
    fn sleep(time: Duration) -> impl Future<Output = ()> + Send + 'static {
        tokio::time::sleep(time)
    }

    #[inline]
    fn oneshot() -> (Self::OneTx, Self::OneRx) {
        oneshot::channel()
    }

    #[inline]
    fn send_one(tx: Self::OneTx, value: u64) {
        tx.send(value).expect("the receiver waits");
    }

    #[inline]
    async fn recv_one(rx: Self::OneRx) -> u64 {
        rx.await.expect("the sender sends")
    }

    fn channel() -> (Self::Tx, Self::Rx) {
        mpsc::unbounded_channel()
    }

    #[inline]
    fn send(tx: &Self::Tx, value: u64) {
        tx.send(value).expect("the receiver receives");
    }

    async fn drain(mut rx: Self::Rx) -> (u64, u64) {
        let (mut count, mut sum) = (0u64, 0u64);
        while let Some(value) = rx.recv().await {
            count += 1;
            sum = sum.wrapping_add(value);
        }
        (count, sum)
    }
}

impl<const WORKERS: usize> Offload for Tokio<WORKERS> {
    fn blocking<T, F>(call: F) -> impl Future<Output = T> + Send + 'static
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        Join(tokio::task::spawn_blocking(call))
    }
}

impl<const WORKERS: usize> Files for Tokio<WORKERS> {
    async fn read(path: PathBuf, mut job: Job) -> Round {
        let text = |error: std::io::Error| error.to_string();
        let mut file = tokio::fs::File::open(path).await.map_err(text)?;
        let mut bytes = vec![0; BLOCK];
        let mut done = 0;
        while let Some(block) = job.next() {
            file.seek(SeekFrom::Start(block * BLOCK as u64)).await.map_err(text)?;
            file.read_exact(&mut bytes).await.map_err(text)?;
            done += job.check(block, &bytes)?;
        }
        Ok(done)
    }
}

impl<const WORKERS: usize> Echo for Tokio<WORKERS> {
    fn echo(ready: Ready) {
        runtime(WORKERS).block_on(async { tokio::spawn(serve(ready, echo)).await.expect("serves") })
    }
}

impl<const WORKERS: usize> Http for Tokio<WORKERS> {
    fn http(ready: Ready) {
        runtime(WORKERS).block_on(async { tokio::spawn(serve(ready, http)).await.expect("serves") })
    }
}

async fn serve<F>(ready: Ready, each: fn(TcpStream) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    ready.listening(listener.local_addr().expect("an address"));
    loop {
        let (stream, _) = listener.accept().await.expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        tokio::spawn(each(stream));
    }
}

async fn echo(mut stream: TcpStream) {
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
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}

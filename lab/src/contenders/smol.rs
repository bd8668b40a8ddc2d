//! smol: its executor run by one thread (two in `multi_thread_scaling`) that drives async-io too.
//!
//! smol has no channels of its own: oneshots are futures-channel's, the unbounded channel is
//! async-channel, the sibling crate. Files go through `smol::fs`, blocking calls through
//! `smol::unblock`. Its Task passes a panic on to whoever awaits it.

use super::table;
use crate::cases::file_read::{BLOCK, Files, Job};
use crate::contender::{Contender, Cpus};
use crate::load::protocol::HELLO;
use crate::rounds::Round;
use crate::rt::{Offload, Tasks};
use crate::served::{Echo, Http, Ready};
use futures_channel::oneshot;
use futures_lite::FutureExt;
use futures_lite::future::{self, yield_now};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{Request, Response, body::Incoming, service::service_fn};
use smol::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt, SeekFrom};
use smol::net::{TcpListener, TcpStream};
use smol::{Executor, Task};
use smol_hyper::rt::FuturesIo;
use std::convert::Infallible;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::time::Duration;

pub(super) const SMOL: Contender = Contender {
    name: "smol",
    about: "smol, its executor on one thread",
    entries: || {
        let mut entries = table::tasks::<Smol<1>>(Cpus::One);
        entries.extend(table::echo::<Smol<1>>());
        entries.extend([
            table::http::<Smol<1>>(),
            table::offload::<Smol<1>>(),
            table::files::<Smol<1>>(),
            table::scaling_shared::<Smol<2>>(),
        ]);
        entries
    },
    memory: || {
        let mut entries = table::memory_of_tasks::<Smol<1>>(Cpus::One);
        entries.push(table::memory_of_connections::<Smol<1>>());
        entries
    },
};

static EXECUTOR: Executor<'static> = Executor::new();

/// smol with so many threads on its executor.
struct Smol<const WORKERS: usize>;

impl<const WORKERS: usize> Tasks for Smol<WORKERS> {
    type Join<T: Send + 'static> = Task<T>;
    type OneTx = oneshot::Sender<u64>;
    type OneRx = oneshot::Receiver<u64>;
    type Tx = async_channel::Sender<u64>;
    type Rx = async_channel::Receiver<u64>;

    fn run<F>(body: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        for _ in 1..WORKERS {
            std::thread::spawn(|| smol::block_on(EXECUTOR.run(future::pending::<()>())));
        }
        smol::block_on(EXECUTOR.run(EXECUTOR.spawn(body)))
    }

    #[inline]
    fn spawn<F>(task: F) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        EXECUTOR.spawn(task)
    }

    #[inline]
    fn detach<T: Send + 'static>(join: Task<T>) {
        join.detach();
    }

    fn spawn_panicking<F>(task: F) -> impl Future<Output = bool> + Send + 'static
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let join = EXECUTOR.spawn(task);
        async move { AssertUnwindSafe(join).catch_unwind().await.is_err() }
    }

    #[inline]
    fn yield_now() -> impl Future<Output = ()> + Send + 'static {
        yield_now()
    }

    #[inline]
    async fn sleep(time: Duration) {
        smol::Timer::after(time).await;
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
        async_channel::unbounded()
    }

    #[inline]
    fn send(tx: &Self::Tx, value: u64) {
        tx.try_send(value).expect("the receiver receives");
    }

    async fn drain(rx: Self::Rx) -> (u64, u64) {
        let (mut count, mut sum) = (0u64, 0u64);
        while let Ok(value) = rx.recv().await {
            count += 1;
            sum = sum.wrapping_add(value);
        }
        (count, sum)
    }
}

impl<const WORKERS: usize> Offload for Smol<WORKERS> {
    fn blocking<T, F>(call: F) -> impl Future<Output = T> + Send + 'static
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        smol::unblock(call)
    }
}

impl<const WORKERS: usize> Files for Smol<WORKERS> {
    async fn read(path: PathBuf, mut job: Job) -> Round {
        let text = |error: std::io::Error| error.to_string();
        let mut file = smol::fs::File::open(path).await.map_err(text)?;
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

impl<const WORKERS: usize> Echo for Smol<WORKERS> {
    fn echo(ready: Ready) {
        Self::run(serve(ready, echo));
    }
}

impl<const WORKERS: usize> Http for Smol<WORKERS> {
    fn http(ready: Ready) {
        Self::run(serve(ready, http));
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
        EXECUTOR.spawn(each(stream)).detach();
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
    let _ = server.serve_connection(FuturesIo::new(stream), service).await;
}

//! monoio: one thread, `FusionDriver` (io_uring where the kernel allows it, else epoll).
//!
//! Oneshot and unbounded channel are local-sync, made for it (not atomic, one thread). It does not
//! catch a task's panic, so the panicking tasks catch their own. Blocking calls go to its pool with
//! one thread.
//!
//! monoio has no yield, and a task that wakes itself goes to the *front* of its queue: nothing else
//! would run. So a task that yields leaves its waker in a list, and a small task that wakes the
//! whole list goes to the end of the queue: one such task for all that yield in one turn.

use super::{home::home, table};
use crate::cases::file_read::{BLOCK, Files, Job};
use crate::contender::{Contender, Cpus};
use crate::load::protocol::HELLO;
use crate::rounds::Round;
use crate::rt::{Offload, OneThread, Tasks};
use crate::served::{Echo, Http, Ready};
use futures_lite::FutureExt;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{Request, Response, body::Incoming, service::service_fn};
use local_sync::{mpsc::unbounded, oneshot};
use monoio::blocking::DefaultThreadPool;
use monoio::io::{AsyncReadRent, AsyncWriteRentExt, IntoPollIo};
use monoio::net::{TcpListener, TcpStream};
use monoio::{FusionDriver, RuntimeBuilder};
use monoio_compat::hyper::MonoioIo;
use std::cell::RefCell;
use std::convert::Infallible;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

pub(super) const MONOIO: Contender = Contender {
    name: "monoio",
    about: "monoio, one thread, io_uring where allowed",
    entries: || {
        let mut entries = table::tasks::<Monoio>(Cpus::One);
        entries.extend(table::echo::<Monoio>());
        entries.extend([
            table::http::<Monoio>(),
            table::offload::<Monoio>(),
            table::files::<Monoio>(),
            table::scaling_split::<Monoio>(),
        ]);
        entries
    },
    memory: || {
        let mut entries = table::memory_of_tasks::<Monoio>(Cpus::One);
        entries.push(table::memory_of_connections::<Monoio>());
        entries
    },
};

struct Monoio;

thread_local! {
    /// Who yielded and waits for the task that ends the turn.
    static YIELDED: RefCell<Vec<Waker>> = const { RefCell::new(Vec::new()) };
}

/// One yield: pending once, woken at the end of the queue.
struct Turn(bool);

impl Future for Turn {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 {
            return Poll::Ready(());
        }
        self.0 = true;
        let first = YIELDED.with_borrow_mut(|yielded| {
            yielded.push(cx.waker().clone());
            yielded.len() == 1
        });
        if first {
            monoio::spawn(async { YIELDED.take().into_iter().for_each(Waker::wake) });
        }
        Poll::Pending
    }
}

fn block_on<F: Future>(body: F) -> F::Output {
    RuntimeBuilder::<FusionDriver>::new()
        .enable_timer()
        .attach_thread_pool(Box::new(DefaultThreadPool::new(1)))
        .build()
        .expect("monoio starts")
        .block_on(body)
}

impl Tasks for Monoio {
    type Join<T: Send + 'static> = OneThread<monoio::task::JoinHandle<T>>;
    type OneTx = OneThread<oneshot::Sender<u64>>;
    type OneRx = OneThread<oneshot::Receiver<u64>>;
    type Tx = OneThread<unbounded::Tx<u64>>;
    type Rx = OneThread<unbounded::Rx<u64>>;

    fn run<F>(body: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        block_on(async { monoio::spawn(body).await })
    }

    #[inline]
    fn spawn<F>(task: F) -> Self::Join<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        home(monoio::spawn(task))
    }

    #[inline]
    fn detach<T: Send + 'static>(join: Self::Join<T>) {
        drop(join);
    }

    fn spawn_panicking<F>(task: F) -> impl Future<Output = bool> + Send + 'static
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let join = monoio::spawn(AssertUnwindSafe(task).catch_unwind());
        home(async move { join.await.is_err() })
    }

    #[inline]
    fn yield_now() -> impl Future<Output = ()> + Send + 'static {
        Turn(false)
    }

    #[inline]
    fn sleep(time: Duration) -> impl Future<Output = ()> + Send + 'static {
        home(monoio::time::sleep(time))
    }

    #[inline]
    fn oneshot() -> (Self::OneTx, Self::OneRx) {
        let (tx, rx) = oneshot::channel();
        (home(tx), home(rx))
    }

    #[inline]
    fn send_one(tx: Self::OneTx, value: u64) {
        tx.into_inner().send(value).expect("the receiver waits");
    }

    #[inline]
    async fn recv_one(rx: Self::OneRx) -> u64 {
        rx.await.expect("the sender sends")
    }

    fn channel() -> (Self::Tx, Self::Rx) {
        let (tx, rx) = unbounded::channel();
        (home(tx), home(rx))
    }

    #[inline]
    fn send(tx: &Self::Tx, value: u64) {
        assert!(tx.get().send(value).is_ok(), "the receiver receives");
    }

    fn drain(rx: Self::Rx) -> impl Future<Output = (u64, u64)> + Send + 'static {
        home(async move {
            let mut rx = rx.into_inner();
            let (mut count, mut sum) = (0u64, 0u64);
            while let Some(value) = rx.recv().await {
                count += 1;
                sum = sum.wrapping_add(value);
            }
            (count, sum)
        })
    }
}

impl Offload for Monoio {
    fn blocking<T, F>(call: F) -> impl Future<Output = T> + Send + 'static
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let join = monoio::spawn_blocking(call);
        home(async move { join.await.expect("the call ran to its end") })
    }
}

impl Files for Monoio {
    fn read(path: PathBuf, mut job: Job) -> impl Future<Output = Round> + Send + 'static {
        home(async move {
            let text = |error: std::io::Error| error.to_string();
            let file = monoio::fs::File::open(path).await.map_err(text)?;
            let mut bytes = vec![0; BLOCK];
            let mut done = 0;
            while let Some(block) = job.next() {
                let (result, buffer) = file.read_exact_at(bytes, block * BLOCK as u64).await;
                result.map_err(text)?;
                bytes = buffer;
                done += job.check(block, &bytes)?;
            }
            Ok(done)
        })
    }
}

impl Echo for Monoio {
    fn echo(ready: Ready) {
        block_on(serve(ready, echo));
    }
}

impl Http for Monoio {
    fn http(ready: Ready) {
        block_on(serve(ready, http));
    }
}

async fn serve<F: Future<Output = ()> + 'static>(ready: Ready, each: fn(TcpStream) -> F) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    ready.listening(listener.local_addr().expect("an address"));
    loop {
        let (stream, _) = listener.accept().await.expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        monoio::spawn(each(stream));
    }
}

async fn echo(mut stream: TcpStream) {
    let mut buffer: Vec<u8> = Vec::with_capacity(4096);
    loop {
        let (got, read) = stream.read(buffer).await;
        if !matches!(got, Ok(1..)) {
            return;
        }
        let (sent, written) = stream.write_all(read).await;
        if sent.is_err() {
            return;
        }
        buffer = written;
    }
}

async fn http(stream: TcpStream) {
    let Ok(stream) = stream.into_poll_io() else { return };
    let service = service_fn(|_: Request<Incoming>| async {
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(HELLO.as_bytes()))))
    });
    let server = hyper::server::conn::http1::Builder::new();
    // The load ends by closing its connections: nothing to report.
    let _ = server.serve_connection(MonoioIo::new(stream), service).await;
}

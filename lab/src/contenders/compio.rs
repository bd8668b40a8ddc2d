//! compio: one thread, io_uring where the kernel allows it.
//!
//! compio has no channels: futures-channel's oneshot and unbounded mpsc stand in. It has no yield
//! either: a future that wakes itself does. Dropping its handle cancels, hence `detach`.

use super::{home::home, table};
use crate::cases::file_read::{BLOCK, Files, Job};
use crate::contender::{Contender, Cpus};
use crate::rounds::Round;
use crate::rt::{Offload, OneThread, Tasks, YieldOnce};
use crate::served::{Echo, Ready};
use compio::BufResult;
use compio::io::{AsyncRead, AsyncReadAtExt, AsyncWriteExt};
use compio::net::{TcpListener, TcpStream};
use compio::runtime::{JoinHandle, Runtime};
use futures_channel::{mpsc, oneshot};
use futures_lite::StreamExt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

pub(super) const COMPIO: Contender = Contender {
    name: "compio",
    about: "compio, one thread, io_uring where allowed",
    entries: || {
        let mut entries = table::tasks::<Compio>(Cpus::One);
        entries.extend(table::echo::<Compio>());
        entries.extend([
            table::offload::<Compio>(),
            table::files::<Compio>(),
            table::scaling_split::<Compio>(),
        ]);
        entries
    },
    memory: || {
        let mut entries = table::memory_of_tasks::<Compio>(Cpus::One);
        entries.push(table::memory_of_connections::<Compio>());
        entries
    },
};

struct Compio;

/// A handle that passes a panic on.
struct Join<T>(OneThread<JoinHandle<T>>);

impl<T> Future for Join<T> {
    type Output = T;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        // SAFETY: structural projection of the only field; `Join` has no Drop and does not move it.
        let join = unsafe { self.map_unchecked_mut(|this| &mut this.0) };
        join.poll(cx).map(|done| done.expect("the task ran to its end"))
    }
}

fn block_on<F: Future>(body: F) -> F::Output {
    Runtime::new().expect("compio starts").block_on(body)
}

impl Tasks for Compio {
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
        block_on(async { Self::spawn(body).await })
    }

    #[inline]
    fn spawn<F>(task: F) -> Join<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Join(home(compio::runtime::spawn(task)))
    }

    #[inline]
    fn detach<T: Send + 'static>(join: Join<T>) {
        join.0.into_inner().detach();
    }

    fn spawn_panicking<F>(task: F) -> impl Future<Output = bool> + Send + 'static
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let join = compio::runtime::spawn(task);
        home(async move { join.await.is_err() })
    }

    #[inline]
    fn yield_now() -> impl Future<Output = ()> + Send + 'static {
        YieldOnce::default()
    }

    #[inline]
    fn sleep(time: Duration) -> impl Future<Output = ()> + Send + 'static {
        home(compio::time::sleep(time))
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
        mpsc::unbounded()
    }

    #[inline]
    fn send(tx: &Self::Tx, value: u64) {
        tx.unbounded_send(value).expect("the receiver receives");
    }

    async fn drain(mut rx: Self::Rx) -> (u64, u64) {
        let (mut count, mut sum) = (0u64, 0u64);
        while let Some(value) = rx.next().await {
            count += 1;
            sum = sum.wrapping_add(value);
        }
        (count, sum)
    }
}

impl Offload for Compio {
    fn blocking<T, F>(call: F) -> impl Future<Output = T> + Send + 'static
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        Join(home(compio::runtime::spawn_blocking(call)))
    }
}

impl Files for Compio {
    fn read(path: PathBuf, mut job: Job) -> impl Future<Output = Round> + Send + 'static {
        home(async move {
            let text = |error: std::io::Error| error.to_string();
            let file = compio::fs::File::open(path).await.map_err(text)?;
            let mut bytes = vec![0; BLOCK];
            let mut done = 0;
            while let Some(block) = job.next() {
                let BufResult(result, buffer) =
                    file.read_exact_at(bytes, block * BLOCK as u64).await;
                result.map_err(text)?;
                bytes = buffer;
                done += job.check(block, &bytes)?;
            }
            Ok(done)
        })
    }
}

impl Echo for Compio {
    fn echo(ready: Ready) {
        block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            ready.listening(listener.local_addr().expect("an address"));
            loop {
                let (stream, _) = listener.accept().await.expect("a connection");
                stream.set_nodelay(true).expect("no delay");
                compio::runtime::spawn(echo(stream)).detach();
            }
        });
    }
}

async fn echo(mut stream: TcpStream) {
    let mut buffer: Vec<u8> = Vec::with_capacity(4096);
    loop {
        let BufResult(got, read) = stream.read(buffer).await;
        if !matches!(got, Ok(1..)) {
            return;
        }
        let BufResult(sent, written) = stream.write_all(read).await;
        if sent.is_err() {
            return;
        }
        buffer = written;
    }
}

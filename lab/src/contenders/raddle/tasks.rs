//! raddle's tasks, channels, timers and blocking pool as the cases use them.

use crate::rt::{Offload, Tasks};
use raddle::sync::{mpsc, oneshot};
use raddle::task::JoinHandle;
use raddle::{Backend, Io, LocalRuntime, Runtime};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// The number of workers that stands for the local runtime.
pub(super) const LOCALLY: usize = 0;
/// The number that stands for one worker which nothing watches.
pub(super) const QUIETLY: usize = usize::MAX;

/// raddle with so many workers, or one of the kinds above.
pub(crate) struct Raddle<const WORKERS: usize, const ON_EPOLL: bool>;

/// A handle that passes a panic on.
pub(crate) struct Join<T>(JoinHandle<T>);

impl<T> Future for Join<T> {
    type Output = T;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let done = std::task::ready!(Pin::new(&mut self.0).poll(cx));
        Poll::Ready(done.expect("the task ran to its end"))
    }
}

fn say_if_not_uring(io: &raddle::IoInfo, on_epoll: bool) {
    if !on_epoll && io.backend() != Backend::Uring {
        eprintln!("note: raddle runs on {io}");
    }
}

impl<const WORKERS: usize, const ON_EPOLL: bool> Raddle<WORKERS, ON_EPOLL> {
    /// Runs a future on worker 0, which is this thread.
    pub(super) fn enter<F: Future>(body: F) -> F::Output {
        // Not `Uring`: a machine that refuses io_uring still runs the cases.
        let io = if ON_EPOLL { Io::Epoll } else { Io::Auto };
        if WORKERS == LOCALLY {
            let runtime = LocalRuntime::with_io(io).expect("raddle starts");
            say_if_not_uring(runtime.io(), ON_EPOLL);
            return runtime.run(body);
        }
        let quietly = WORKERS == QUIETLY;
        let builder = Runtime::builder().workers(if quietly { 1 } else { WORKERS }).io(io);
        let built = builder.monitor(!quietly).metrics(!quietly).build();
        let runtime = built.expect("raddle starts");
        say_if_not_uring(runtime.io(), ON_EPOLL);
        runtime.run(body)
    }
}

#[inline]
pub(super) fn spawn<const WORKERS: usize, F>(task: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    if WORKERS == LOCALLY { raddle::spawn_local(task) } else { raddle::spawn(task) }
}

impl<const WORKERS: usize, const ON_EPOLL: bool> Tasks for Raddle<WORKERS, ON_EPOLL> {
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
        Self::enter(async { Self::spawn(body).await })
    }

    #[inline]
    fn spawn<F>(task: F) -> Join<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Join(spawn::<WORKERS, F>(task))
    }

    #[inline]
    fn detach<T: Send + 'static>(join: Join<T>) {
        join.0.detach();
    }

    fn spawn_panicking<F>(task: F) -> impl Future<Output = bool> + Send + 'static
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let join = spawn::<WORKERS, F>(task);
        async move { join.await.is_err_and(|error| error.is_panic()) }
    }

    #[inline]
    fn yield_now() -> impl Future<Output = ()> + Send + 'static {
        raddle::task::yield_now()
    }

    #[inline]
    fn sleep(time: Duration) -> impl Future<Output = ()> + Send + 'static {
        raddle::time::sleep(time)
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

impl<const WORKERS: usize, const ON_EPOLL: bool> Offload for Raddle<WORKERS, ON_EPOLL> {
    fn blocking<T, F>(call: F) -> impl Future<Output = T> + Send + 'static
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        Join(raddle::spawn_blocking(call))
    }
}

//! What a contender must offer, so that one body serves them all.
//!
//! Two faces, since the contenders are of two kinds: [`Tasks`] for async runtimes, [`Stacks`] for
//! what blocks in place (coroutines of may, threads of std). Each adapter uses its runtime's own
//! primitives; where it has none, `lab/CASES.md` says what stands in.
//!
//! The traits ask for `Send` futures everywhere, because one contender (two workers) needs them.
//! Runtimes that live on one thread have handles, timers and sockets that are not `Send`; their
//! adapters wrap these in [`OneThread`], whose argument is that the whole body stays on the thread
//! that runs it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// An async runtime.
pub(crate) trait Tasks: 'static {
    /// Handle of a task; awaiting it gives the output. Dropping it may cancel (see `detach`).
    type Join<T: Send + 'static>: Future<Output = T> + Send + 'static;
    type OneTx: Send + 'static;
    type OneRx: Send + 'static;
    type Tx: Clone + Send + 'static;
    type Rx: Send + 'static;

    /// Starts the runtime, runs `body` as a task on a worker, stops the runtime.
    fn run<F>(body: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    fn spawn<F>(task: F) -> Self::Join<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    /// Lets the task run on without its handle.
    fn detach<T: Send + 'static>(join: Self::Join<T>);

    /// Spawns a task that panics; the future says whether its handle reported the panic.
    fn spawn_panicking<F>(task: F) -> impl Future<Output = bool> + Send + 'static
    where
        F: Future<Output = ()> + Send + 'static;

    fn yield_now() -> impl Future<Output = ()> + Send + 'static;

    fn sleep(time: Duration) -> impl Future<Output = ()> + Send + 'static;

    fn oneshot() -> (Self::OneTx, Self::OneRx);

    fn send_one(tx: Self::OneTx, value: u64);

    /// The value; panics if the sender was dropped without one.
    fn recv_one(rx: Self::OneRx) -> impl Future<Output = u64> + Send + 'static;

    /// An unbounded channel.
    fn channel() -> (Self::Tx, Self::Rx);

    fn send(tx: &Self::Tx, value: u64);

    /// Receives to the end: count and wrapping sum.
    fn drain(rx: Self::Rx) -> impl Future<Output = (u64, u64)> + Send + 'static;
}

/// A runtime that can pass a blocking call to other threads.
pub(crate) trait Offload: Tasks {
    fn blocking<T, F>(call: F) -> impl Future<Output = T> + Send + 'static
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static;
}

/// Something whose units of concurrency block in place.
pub(crate) trait Stacks: 'static {
    type Join<T: Send + 'static>: Send + 'static;
    type OneTx: Send + 'static;
    type OneRx: Send + 'static;
    type Tx: Clone + Send + 'static;
    type Rx: Send + 'static;

    /// Runs `body` on a unit of its own, with so many workers where there are workers.
    fn run<T, F>(workers: usize, body: F) -> T
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static;

    fn spawn<T, F>(body: F) -> Self::Join<T>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static;

    /// Waits for the end; `None` if the body panicked.
    fn join<T: Send + 'static>(join: Self::Join<T>) -> Option<T>;

    fn yield_now();

    fn sleep(time: Duration);

    fn oneshot() -> (Self::OneTx, Self::OneRx);

    fn send_one(tx: Self::OneTx, value: u64);

    fn recv_one(rx: Self::OneRx) -> u64;

    fn channel() -> (Self::Tx, Self::Rx);

    fn send(tx: &Self::Tx, value: u64);

    fn drain(rx: Self::Rx) -> (u64, u64);
}

/// A value that is not `Send`, in a body that never leaves its thread.
pub(crate) struct OneThread<T>(T);

// SAFETY: `OneThread::new` is unsafe; its caller promises that the value is used and dropped only
// on the thread that made it.
unsafe impl<T> Send for OneThread<T> {}

impl<T> OneThread<T> {
    /// # Safety
    ///
    /// The value must be used and dropped on this thread only. Adapters of one-thread runtimes keep
    /// that: `run` polls the body, and `spawn` its tasks, on the calling thread.
    #[inline]
    pub(crate) unsafe fn new(value: T) -> OneThread<T> {
        OneThread(value)
    }

    #[inline]
    pub(crate) fn get(&self) -> &T {
        &self.0
    }

    #[inline]
    pub(crate) fn into_inner(self) -> T {
        self.0
    }
}

impl<T: Clone> Clone for OneThread<T> {
    fn clone(&self) -> OneThread<T> {
        OneThread(self.0.clone())
    }
}

impl<T: Future> Future for OneThread<T> {
    type Output = T::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T::Output> {
        // SAFETY: structural projection of the only field: `OneThread` has no Drop, is Unpin only
        // if T is, and never moves the field out of a pinned place.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(cx)
    }
}

/// A yield for runtimes that have none: wakes itself and is pending once.
#[derive(Debug, Default)]
pub(crate) struct YieldOnce(bool);

impl Future for YieldOnce {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 {
            return Poll::Ready(());
        }
        self.0 = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

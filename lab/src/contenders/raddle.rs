//! raddle: one worker, two workers, and the local runtime, each on io_uring and on epoll.
//!
//! The runtime runs on the calling thread, which becomes worker 0; the body is spawned, as for
//! everybody. `raddle-local` spawns with `spawn_local`. On a machine without io_uring the contenders
//! that ask for it fall back to epoll and say so.

use super::table;
use crate::contender::{Contender, Cpus, Entry};
use crate::rt::{Offload, Tasks};
use futures_channel::{mpsc, oneshot};
use futures_lite::StreamExt;
use raddle::task::JoinHandle;
use raddle::{Backend, Io, LocalRuntime, Runtime};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

pub(super) const ONE: Contender = Contender {
    name: "raddle",
    about: "raddle, one worker, io_uring",
    entries: || entries::<Raddle<1, URING>>(Cpus::One, None),
    memory: || memory::<Raddle<1, URING>>(Cpus::One),
};

pub(super) const ONE_EPOLL: Contender = Contender {
    name: "raddle-epoll",
    about: "raddle, one worker, epoll",
    entries: || on_epoll::<Raddle<1, EPOLL>>(Cpus::One),
    memory: || memory::<Raddle<1, EPOLL>>(Cpus::One),
};

pub(super) const MULTI: Contender = Contender {
    name: "raddle-multi",
    about: "raddle, two workers, io_uring",
    entries: || entries::<Raddle<2, URING>>(Cpus::Two, scaling::<Raddle<2, URING>>()),
    memory: || memory::<Raddle<2, URING>>(Cpus::Two),
};

pub(super) const MULTI_EPOLL: Contender = Contender {
    name: "raddle-multi-epoll",
    about: "raddle, two workers, epoll",
    entries: || on_epoll::<Raddle<2, EPOLL>>(Cpus::Two),
    memory: || memory::<Raddle<2, EPOLL>>(Cpus::Two),
};

pub(super) const LOCAL: Contender = Contender {
    name: "raddle-local",
    about: "raddle, local runtime, io_uring",
    entries: || {
        let split = table::scaling_split::<Raddle<LOCALLY, URING>>();
        entries::<Raddle<LOCALLY, URING>>(Cpus::One, Some(split))
    },
    memory: || memory::<Raddle<LOCALLY, URING>>(Cpus::One),
};

pub(super) const LOCAL_EPOLL: Contender = Contender {
    name: "raddle-local-epoll",
    about: "raddle, local runtime, epoll",
    entries: || on_epoll::<Raddle<LOCALLY, EPOLL>>(Cpus::One),
    memory: || memory::<Raddle<LOCALLY, EPOLL>>(Cpus::One),
};

const URING: bool = false;
const EPOLL: bool = true;
const LOCALLY: usize = 0;

fn entries<R: Offload>(cpus: Cpus, scaling: Option<Entry>) -> Vec<Entry> {
    let mut entries = table::tasks::<R>(cpus);
    entries.push(table::offload::<R>());
    entries.extend(scaling);
    entries
}

fn scaling<R: Tasks>() -> Option<Entry> {
    Some(table::scaling_shared::<R>())
}

/// Only where the driver makes a difference: I/O, timers and idling.
fn on_epoll<R: Tasks>(cpus: Cpus) -> Vec<Entry> {
    let parks = ["many_timers", "timer_lateness", "idle_wakeups"];
    let mut entries = table::tasks::<R>(cpus);
    entries.retain(|entry| parks.contains(&entry.case));
    entries
}

fn memory<R: Tasks>(cpus: Cpus) -> Vec<Entry> {
    table::memory_of_tasks::<R>(cpus)
}

/// raddle with so many workers; 0 is the local runtime.
struct Raddle<const WORKERS: usize, const ON_EPOLL: bool>;

/// A handle that passes a panic on.
struct Join<T>(JoinHandle<T>);

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
    fn enter<F: Future>(body: F) -> F::Output {
        // Not `Uring`: a machine that refuses io_uring still runs the cases.
        let io = if ON_EPOLL { Io::Epoll } else { Io::Auto };
        if WORKERS == LOCALLY {
            let runtime = LocalRuntime::with_io(io).expect("raddle starts");
            say_if_not_uring(runtime.io(), ON_EPOLL);
            return runtime.run(body);
        }
        let built = Runtime::builder().workers(WORKERS).io(io).build();
        let runtime = built.expect("raddle starts");
        say_if_not_uring(runtime.io(), ON_EPOLL);
        runtime.run(body)
    }
}

#[inline]
fn spawn<const WORKERS: usize, F>(task: F) -> JoinHandle<F::Output>
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

impl<const WORKERS: usize, const ON_EPOLL: bool> Offload for Raddle<WORKERS, ON_EPOLL> {
    fn blocking<T, F>(call: F) -> impl Future<Output = T> + Send + 'static
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        Join(raddle::spawn_blocking(call))
    }
}

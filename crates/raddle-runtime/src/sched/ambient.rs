//! Functions that find their runtime by the thread they are called on.

use std::mem::ManuallyDrop;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::sched::current;
use crate::sched::runtime::Handle;
use crate::sched::shared::Shared;
use crate::task::JoinHandle;

/// Runs `f` with this thread's runtime, without touching its count.
#[track_caller]
fn with_shared<R>(f: impl FnOnce(&Arc<Shared>) -> R) -> R {
    let shared = current::scheduler().cast::<Shared>();
    assert!(!shared.is_null(), "{}", current::NO_RUNTIME);
    // SAFETY: entries of `current` point at a `Shared` that an `Arc` on this thread's stack keeps
    // alive; this one is never dropped, so the count is right.
    f(&ManuallyDrop::new(unsafe { Arc::from_raw(shared) }))
}

/// Spawns a task on this thread's runtime: it runs by itself, in parallel with its spawner on
/// runtimes of several workers.
///
/// The task goes to the tail of this worker's rotating queue, from which idle workers steal. It
/// takes one allocation. A panic in it is stored for whoever joins.
///
/// After the runtime has begun to shut down the future is dropped and the handle gives a
/// cancelled error.
///
/// # Panics
///
/// On a thread that belongs to no runtime.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let site = Location::caller();
    with_shared(|shared| shared.spawn(future, None, site))
}

/// Spawns a task that stays on one worker: `make` is run there and its future need not be `Send`.
///
/// On a worker the task stays on that worker; elsewhere the workers are taken in turn. A pinned
/// task is never stolen, so a task that keeps its worker busy keeps its pinned neighbours waiting.
///
/// # Panics
///
/// On a thread that belongs to no runtime.
#[track_caller]
pub fn spawn_pinned<M, F>(make: M) -> JoinHandle<F::Output>
where
    M: FnOnce() -> F + Send + 'static,
    F: Future + 'static,
    F::Output: Send + 'static,
{
    let site = Location::caller();
    with_shared(|shared| {
        let home = current::index_in(shared.address()).unwrap_or_else(|| shared.next_worker());
        // SAFETY: until it is first polled, on its home worker, the future holds `make` only,
        // which is `Send`; the output is `Send`.
        unsafe { shared.spawn_pinned(home, Made::Not(Some(make)), None, site) }
    })
}

/// Spawns a task that stays on this worker; the future need not be `Send`.
///
/// # Panics
///
/// On a thread that is no worker: use [`spawn_pinned`] there.
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
{
    let site = Location::caller();
    with_shared(|shared| {
        let Some(home) = current::index_in(shared.address()) else {
            panic!("spawn_local needs a worker's thread; elsewhere use spawn_pinned")
        };
        // SAFETY: the future was made on this thread, which is worker `home`; the handle of an
        // output that is not `Send` is not `Send` either.
        unsafe { shared.spawn_pinned(home, future, None, site) }
    })
}

/// Runs `f` on a thread that may block, and gives the handle to its output.
///
/// Aborting the handle drops a job that has not begun and has no effect on one that has. A panic
/// of the job is stored for whoever joins. If the pool refuses the job (its queue is full, no
/// thread can be had, or the runtime has begun to shut down), the handle gives a cancelled error
/// that [says why](crate::task::JoinError::refusal).
///
/// Inside the job, [`Handle::current`](crate::Handle::current) is this runtime. A job may wait for
/// others: while it waits for a join handle it does not count as one of the pool's threads.
///
/// # Panics
///
/// On a thread that belongs to no runtime.
#[track_caller]
pub fn spawn_blocking<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let site = Location::caller();
    Handle::current().spawn_blocking_at(f, site)
}

/// A future that is made where it is first polled.
enum Made<M, F> {
    Not(Option<M>),
    Is(F),
}

impl<M: FnOnce() -> F, F: Future> Future for Made<M, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: `Is` is pinned structurally: it is polled in place and dropped in place. `Not`
        // holds no pinned data.
        let this = unsafe { self.get_unchecked_mut() };
        if let Made::Not(make) = this {
            let Some(make) = make.take() else { unreachable!("the closure panicked before") };
            *this = Made::Is(make());
        }
        let Made::Is(future) = this else { unreachable!("just made") };
        // SAFETY: as above.
        unsafe { Pin::new_unchecked(future) }.poll(cx)
    }
}

/// How a task is to be called, before it is spawned.
///
/// ```
/// # use raddle_runtime::{Config, Runtime, park::ThreadDrivers, Builder};
/// # let config = Config { workers: 1, ..Config::default() };
/// # let runtime = Runtime::new(config, Box::new(ThreadDrivers)).unwrap();
/// runtime.run(async {
///     let job = Builder::new().name("adder").spawn(async { 20 + 22 });
///     assert_eq!(job.await.unwrap(), 42);
/// });
/// ```
#[derive(Debug, Default, Clone)]
pub struct Builder {
    name: Option<String>,
}

impl Builder {
    /// A builder without a name.
    pub fn new() -> Self {
        Builder::default()
    }

    /// The name by which dumps and reports call the task. It takes two allocations.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Spawns the task; see [`spawn`].
    ///
    /// # Panics
    ///
    /// As [`spawn`].
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let site = Location::caller();
        let name = self.name.map(|name| Box::new(name.into_boxed_str()));
        with_shared(|shared| shared.spawn(future, name, site))
    }
}

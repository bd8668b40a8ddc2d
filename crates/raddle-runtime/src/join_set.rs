//! A set of tasks: spawn many, take their outputs as they end, leave none behind.
//!
//! Each task of a set has a waker of its own, which puts the task's key on a list of those that
//! have ended and wakes whoever waits for the set. Taking the next output is popping that list: it
//! costs the same with three tasks as with a million. Keys carry a generation, and a task's waker
//! is woken once, when the task is complete.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker, ready};

use raddle_base::context;
use raddle_base::shim::mutex::Mutex;
use raddle_base::slab::{Key, Slab};
use raddle_base::wait::{WaitKind, WaiterCell};

use crate::blocking::shared as blocking;
use crate::sched::ambient;
use crate::sched::runtime::Handle;
use crate::task::{AbortHandle, Id, JoinError, JoinHandle};

/// Tasks with outputs of type `T`, awaited in the order in which they end.
///
/// Dropping the set aborts all tasks in it; [`detach_all`](Self::detach_all) lets them go.
///
/// Spawning takes one allocation beside that of the task.
///
/// ```
/// # use raddle_runtime::{Config, Runtime, park::ThreadDrivers, JoinSet};
/// # let runtime = Runtime::new(Config::default(), Box::new(ThreadDrivers))?;
/// # runtime.run(async {
/// let mut set = JoinSet::new();
/// for n in 0..10 {
///     set.spawn(async move { n * n });
/// }
/// let mut sum = 0;
/// while let Some(square) = set.join_next().await {
///     sum += square.expect("none of them panics");
/// }
/// assert_eq!(sum, 285);
/// # });
/// # std::io::Result::Ok(())
/// ```
pub struct JoinSet<T> {
    tasks: Slab<JoinHandle<T>>,
    ended: Arc<Ended>,
}

/// The tasks of a set that have ended and were not taken.
struct Ended {
    /// Has room for all tasks of the set, so that a waker never allocates.
    keys: Mutex<VecDeque<Key>>,
    waiter: WaiterCell,
}

/// The waker of one task in the set.
struct Member {
    key: Key,
    ended: Arc<Ended>,
}

impl Ended {
    fn push(&self, key: Key) {
        self.keys.lock().push_back(key);
        self.waiter.wake();
    }
}

impl Wake for Member {
    fn wake(self: Arc<Self>) {
        self.ended.push(self.key);
    }
}

impl<T> JoinSet<T> {
    /// An empty set.
    pub fn new() -> Self {
        let ended = Ended { keys: Mutex::new(VecDeque::new()), waiter: WaiterCell::new() };
        JoinSet { tasks: Slab::new(), ended: Arc::new(ended) }
    }

    /// Tasks in the set: those that run, and those that ended and were not taken.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether no task is in the set.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Takes a task into the set that was spawned already.
    pub fn insert(&mut self, task: JoinHandle<T>) -> AbortHandle {
        let abort = task.abort_handle();
        let key = self.tasks.insert(task);
        let mut keys = self.ended.keys.lock();
        let room = self.tasks.len() - keys.len();
        keys.reserve(room);
        drop(keys);
        let waker = Waker::from(Arc::new(Member { key, ended: Arc::clone(&self.ended) }));

        if !self.tasks.get(key).is_some_and(|task| task.register(&waker)) {
            self.ended.push(key);
        }
        abort
    }

    /// Polls for the output of a task that has ended; `None` if the set is empty.
    pub fn poll_join_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        self.poll_next(cx, None).map(|next| next.map(|(_, output)| output))
    }

    fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
        site: Option<&'static Location<'static>>,
    ) -> Poll<Option<(Id, Result<T, JoinError>)>> {
        ready!(context::check_budget(cx));
        let mut next = self.pop();
        if next.is_none() && !self.is_empty() {
            self.ended.waiter.register(cx.waker());
            // The second look: a task may have ended before the waker was there.
            next = self.pop();
            if next.is_none() {
                blocking::waits();
                context::waits(WaitKind::Join, site);
                return Poll::Pending;
            }
        }
        blocking::resumed();
        context::spend();
        Poll::Ready(next)
    }

    /// Takes the output of the first task that has ended.
    fn pop(&mut self) -> Option<(Id, Result<T, JoinError>)> {
        let key = self.ended.keys.lock().pop_front()?;
        let mut task = self.tasks.remove(key)?;
        Some((task.id(), task.take()))
    }

    /// Waits for the next task that ends and gives its output; `None` if the set is empty.
    ///
    /// Outputs come in the order in which the tasks ended.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: an output is taken only when the future returns it.
    #[track_caller]
    pub fn join_next(&mut self) -> impl Future<Output = Option<Result<T, JoinError>>> {
        let site = Some(Location::caller());
        poll_fn(move |cx| self.poll_next(cx, site).map(|next| next.map(|(_, output)| output)))
    }

    /// As [`join_next`](Self::join_next), with the id of the task.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    #[track_caller]
    pub fn join_next_with_id(
        &mut self,
    ) -> impl Future<Output = Option<(Id, Result<T, JoinError>)>> {
        let site = Some(Location::caller());
        poll_fn(move |cx| self.poll_next(cx, site))
    }

    /// The output of a task that has ended, or `None` if none has.
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        self.pop().map(|(_, output)| output)
    }

    /// Waits for all tasks and gives their outputs in the order in which they ended.
    ///
    /// # Panics
    ///
    /// If a task panicked or was aborted; a panic is passed on. The rest is then aborted.
    pub async fn join_all(mut self) -> Vec<T> {
        let mut outputs = Vec::with_capacity(self.len());
        while let Some(output) = self.join_next().await {
            match output {
                Ok(output) => outputs.push(output),
                Err(error) => match error.try_into_panic() {
                    Ok(payload) => std::panic::resume_unwind(payload),
                    Err(error) => panic!("{error}"),
                },
            }
        }
        outputs
    }

    /// Asks all tasks to end. They stay in the set: their errors are taken by
    /// [`join_next`](Self::join_next).
    pub fn abort_all(&self) {
        self.tasks.iter().for_each(|(_, task)| task.abort());
    }

    /// Takes all tasks out of the set and lets them go on by themselves.
    pub fn detach_all(&mut self) {
        self.tasks = Slab::new();
        // Wakers of those tasks have keys of a slab that is gone: they must not reach the new one.
        let ended = Ended { keys: Mutex::new(VecDeque::new()), waiter: WaiterCell::new() };
        self.ended = Arc::new(ended);
    }

    /// Aborts all tasks and waits until they have ended.
    ///
    /// # Cancel safety
    ///
    /// A dropped wait leaves the tasks aborted and in the set.
    pub async fn shutdown(&mut self) {
        self.abort_all();
        while self.join_next().await.is_some() {}
    }
}

impl<T: 'static> JoinSet<T> {
    /// Spawns a task into the set. See [`spawn`](crate::spawn).
    ///
    /// # Panics
    ///
    /// On a thread that belongs to no runtime.
    #[track_caller]
    pub fn spawn<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.insert(ambient::spawn(future))
    }

    /// Spawns a task of the runtime that `handle` belongs to into the set, from any thread.
    #[track_caller]
    pub fn spawn_on<F>(&mut self, future: F, handle: &Handle) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.insert(handle.spawn(future))
    }

    /// Spawns a task of this worker into the set. See [`spawn_local`](crate::spawn_local).
    ///
    /// # Panics
    ///
    /// On a thread that is no worker.
    #[track_caller]
    pub fn spawn_local<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.insert(ambient::spawn_local(future))
    }

    /// Spawns a task of one worker into the set. See [`spawn_pinned`](crate::spawn_pinned).
    ///
    /// # Panics
    ///
    /// On a thread that belongs to no runtime.
    #[track_caller]
    pub fn spawn_pinned<M, F>(&mut self, make: M) -> AbortHandle
    where
        M: FnOnce() -> F + Send + 'static,
        F: Future<Output = T> + 'static,
        T: Send,
    {
        self.insert(ambient::spawn_pinned(make))
    }

    /// Spawns a blocking job into the set. See [`spawn_blocking`](crate::spawn_blocking).
    ///
    /// # Panics
    ///
    /// On a thread that belongs to no runtime.
    #[track_caller]
    pub fn spawn_blocking<F>(&mut self, f: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        self.insert(ambient::spawn_blocking(f))
    }

    /// Spawns a blocking job of the runtime that `handle` belongs to into the set.
    #[track_caller]
    pub fn spawn_blocking_on<F>(&mut self, f: F, handle: &Handle) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        self.insert(handle.spawn_blocking(f))
    }
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        self.abort_all();
    }
}

impl<T> Default for JoinSet<T> {
    fn default() -> Self {
        JoinSet::new()
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet").field("len", &self.len()).finish()
    }
}

/// Spawns each future of an iterator.
impl<T, F> FromIterator<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = F>>(futures: I) -> Self {
        let mut set = JoinSet::new();
        futures.into_iter().for_each(|future| {
            set.spawn(future);
        });
        set
    }
}

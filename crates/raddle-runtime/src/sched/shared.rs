//! What all threads of a runtime share, and how a task gets from anywhere to a worker.

use std::any::Any;
use std::cell::Cell;
use std::panic::Location;
use std::sync::{Arc, OnceLock};
use std::task::Waker;

use raddle_base::fork;
use raddle_base::injector::Injector;
use raddle_base::padded::CachePadded;
use raddle_base::random;
use raddle_base::shim::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};
use raddle_base::shim::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use raddle_base::shim::mutex::Mutex;
use raddle_base::shim::thread::system;

use crate::blocking::{BlockingPool, job};
use crate::sched::config::{Config, PanicPolicy, UnhandledPanic};
use crate::sched::current;
use crate::sched::idle::Idle;
use crate::sched::park::Drivers;
use crate::sched::peer::Peer;
use crate::sched::phase::PhaseWord;
use crate::sched::post::Post;
use crate::sched::queue::{RunQueue, run_queue};
use crate::sched::rest::Rest;
use crate::sched::running::Running;
use crate::sched::service::{EVERY, Stamp};
use crate::sched::sides::Pushed;
use crate::sched::ticks::Ticks;
use crate::task::{JoinHandle, LiveList, Meta, RawTask, Runnable, Schedule, Step, allocate};

/// The owner's ends of a worker's queues, until its thread takes them.
pub(crate) struct Seat {
    pub(crate) rotating: RunQueue,
    pub(crate) served: RunQueue,
}

/// The heart of a runtime.
pub(crate) struct Shared {
    pub(crate) config: Config,
    /// Workers first, then the stand-ins for those in blocking sections.
    pub(crate) peers: Box<[CachePadded<Peer>]>,
    pub(crate) seats: Mutex<Vec<Option<Seat>>>,
    /// Nobody has taken the seat of worker 0 yet.
    first_waits: AtomicBool,
    pub(crate) drivers: Box<dyn Drivers>,
    pub(crate) idle: CachePadded<Idle>,
    /// Tasks spawned by threads that are no workers.
    pub(crate) injector: Injector<Runnable>,
    /// When one of them was spawned.
    pub(crate) injected: Stamp,
    pub(crate) live: LiveList,
    pub(crate) blocking: Arc<BlockingPool>,
    pub(crate) phase: PhaseWord,
    /// Workers whose duties others do just now.
    pub(crate) absent: AtomicUsize,
    /// Stand-ins whose threads have been started.
    pub(crate) stand_ins: AtomicUsize,
    /// The panic by which the policy `Shutdown` ends the runtime.
    pub(crate) panic: Mutex<Option<Box<dyn Any + Send>>>,
    pub(crate) threads: Mutex<Vec<system::JoinHandle<()>>>,
    /// The monitor's sleep.
    pub(crate) rest: Rest,
    /// Who keeps watch over busy siblings.
    pub(crate) watch_post: Post,
    /// How many times the monitor has looked.
    pub(crate) looks: AtomicU64,
    /// The time of the latest look at the clock, for tasks that are put down.
    pub(crate) ticks: CachePadded<Ticks>,
    /// How many threads are at it.
    pub(crate) running: Running,
    /// The process this runtime belongs to, counted in forks.
    generation: u32,
}

impl Shared {
    pub(crate) fn new(config: Config, drivers: Box<dyn Drivers>) -> Arc<Shared> {
        fork::watch();
        let count = config.workers + config.stand_ins();
        let mut seats = Vec::with_capacity(count);
        let peers = (0..count)
            .map(|_| {
                let (rotating, rotating_shared) = run_queue();
                let (served, served_shared) = run_queue();
                seats.push(Some(Seat { rotating, served }));
                CachePadded::new(Peer::new(rotating_shared, served_shared))
            })
            .collect();
        Arc::new(Shared {
            peers,
            seats: Mutex::new(seats),
            first_waits: AtomicBool::new(true),
            drivers,
            idle: CachePadded::new(Idle::new()),
            injector: Injector::new(),
            injected: Stamp::new(),
            live: LiveList::new(count),
            blocking: Arc::new(BlockingPool::new(config.blocking.clone())),
            phase: PhaseWord::new(),
            absent: AtomicUsize::new(0),
            stand_ins: AtomicUsize::new(0),
            panic: Mutex::new(None),
            threads: Mutex::new(Vec::new()),
            rest: Rest::new(),
            watch_post: Post::new(),
            looks: AtomicU64::new(0),
            ticks: CachePadded::new(Ticks::new()),
            running: Running::new(),
            generation: fork::generation(),
            config,
        })
    }

    /// Ends the process if it is a forked child of the one that made this runtime.
    #[inline]
    pub(crate) fn check_fork(&self) {
        if fork::generation() != self.generation {
            fork::abort();
        }
    }

    /// Whether nobody has taken the seat of worker 0 yet: one load.
    #[inline]
    pub(crate) fn first_waits(&self) -> bool {
        // Relaxed: a hint. Who sees it late finds the seat taken, under its lock.
        self.first_waits.load(Relaxed)
    }

    /// Gives `f` the seat of worker 0, if nobody has taken it; it is expected to take it.
    pub(crate) fn with_first<R>(&self, f: impl FnOnce(&mut Option<Seat>) -> R) -> R {
        let mut seats = self.seats.lock();
        let result = f(&mut seats[0]);
        // Relaxed: as in `first_waits`.
        self.first_waits.store(false, Relaxed);
        result
    }

    pub(crate) fn is_forked(&self) -> bool {
        fork::generation() != self.generation
    }

    /// Panics in a forked child of the process that made this runtime.
    #[track_caller]
    pub(crate) fn refuse_fork(&self) {
        assert!(fork::generation() == self.generation, "{}", fork::MESSAGE);
    }

    /// Workers and stand-ins that have a thread.
    pub(crate) fn active(&self) -> usize {
        // Acquire: pairs with the release of the stand-in's start.
        self.config.workers + self.stand_ins.load(Acquire)
    }

    /// The peers that may have work or sleep.
    pub(crate) fn active_peers(&self) -> &[CachePadded<Peer>] {
        &self.peers[..self.active()]
    }

    /// Spawns a free task.
    pub(crate) fn spawn<F>(
        self: &Arc<Self>,
        future: F,
        name: Option<Box<Box<str>>>,
        site: &'static Location<'static>,
    ) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let home = current::index_in(self.address()).unwrap_or_else(|| self.any_worker());
        let place = (home as u32, home as u32);
        let scheduler = Arc::as_ptr(self).cast();
        // SAFETY: the future and its output are `Send`; a `Shared` outlives its unfinished tasks
        // (see `registry`).
        let raw =
            unsafe { allocate::<F, Shared>(future, scheduler, false, place, name, Meta { site }) };
        // SAFETY: the join reference of the new task, whose output is `F::Output`.
        let handle = unsafe { JoinHandle::new(raw) };
        // SAFETY: the run reference of the new task.
        let task = unsafe { Runnable::from_raw_task(raw) };
        self.admit(raw, task, |shared, task| shared.place_new(task));
        handle
    }

    /// Spawns a task that stays on worker `home`.
    ///
    /// # Safety
    ///
    /// `future` was made on that worker's thread, or may be dropped on any (it makes the part
    /// that may not when it is first polled); its output is `Send` or its handle stays on that
    /// thread.
    pub(crate) unsafe fn spawn_pinned<F>(
        self: &Arc<Self>,
        home: usize,
        future: F,
        name: Option<Box<Box<str>>>,
        site: &'static Location<'static>,
    ) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
    {
        let place = (home as u32, home as u32);
        let scheduler = Arc::as_ptr(self).cast();
        // SAFETY: pinned to `home`, whose thread alone polls it, and alone drops what may not be
        // dropped elsewhere, as the caller promises.
        let raw =
            unsafe { allocate::<F, Shared>(future, scheduler, true, place, name, Meta { site }) };
        // SAFETY: the join reference of the new task, whose output is `F::Output`.
        let handle = unsafe { JoinHandle::new(raw) };
        // SAFETY: the run reference of the new task.
        let task = unsafe { Runnable::from_raw_task(raw) };
        self.admit(raw, task, |shared, task| shared.place_pinned(task));
        handle
    }

    /// Enters a new task into the live list and hands it to `place`; once admission is closed it
    /// ends as cancelled instead.
    fn admit(&self, raw: RawTask, task: Runnable, place: impl FnOnce(&Self, Runnable)) {
        if self.live.insert(raw) {
            place(self, task);
            return;
        }
        raw.abort();
        // The claim is taken from birth: this drops the future here, on the spawning thread.
        let Step::Done = task.run_cancelled() else { unreachable!("a cancelled task was polled") };
        // The reference that the list did not take.
        raw.drop_refs(1);
    }

    fn place_new(&self, task: Runnable) {
        let mut task = Some(task);
        let local = current::with(self.address(), |index, sides| {
            if let Some(task) = task.take() {
                sides.push_spawned(&self.peers[index], task);
            }
        });
        if let Some(task) = task {
            self.stamp_injected(&task);
            self.injector.push(task);
        } else if local.is_some() && self.is_alone() {
            return;
        }
        self.notify_any();
    }

    /// Notes when a task is injected, one in so many.
    fn stamp_injected(&self, task: &Runnable) {
        let number = task.header().id.as_u64();
        if self.config.metrics && number.is_multiple_of(u64::from(EVERY)) {
            self.injected.leave(task.address());
        }
    }

    fn place_pinned(&self, task: Runnable) {
        // Relaxed: a pinned task's home never changes.
        let home = task.header().home.load(Relaxed) as usize;
        let mut task = Some(task);
        current::with(self.address(), |index, sides| {
            if index == home
                && let Some(task) = task.take()
            {
                sides.push_pinned(task);
            }
        });
        if let Some(task) = task {
            self.send_pinned(task);
        }
    }

    /// Wakes a task on this thread if it is a worker that may run it; else gives it back.
    #[inline]
    fn wake_here(&self, task: Runnable) -> Option<Runnable> {
        let mut task = Some(task);
        let pushed = current::with(self.address(), |index, sides| {
            let foreign = task.as_ref().is_some_and(|task| {
                // Relaxed: a pinned task's home never changes.
                task.header().state.is_pinned()
                    && task.header().home.load(Relaxed) as usize != index
            });
            if foreign {
                return Pushed::Quiet;
            }
            task.take().map_or(Pushed::Quiet, |task| sides.wake(&self.peers[index], task))
        });
        if pushed == Some(Pushed::Stealable) && !self.is_alone() {
            self.notify_any();
        }
        task
    }

    /// What `current` knows this runtime by.
    #[inline]
    pub(crate) fn address(&self) -> *const () {
        std::ptr::from_ref(self).cast()
    }

    /// Whether there is one worker only, so that nobody need be told of stealable work.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        self.active() == 1
    }

    /// Puts a pinned task into its home worker's inbox.
    pub(crate) fn send_pinned(&self, task: Runnable) {
        // Relaxed: a pinned task's home never changes.
        let home = task.header().home.load(Relaxed) as usize;
        let peer = &self.peers[home];
        peer.service.pushes(task.address(), self.config.metrics);
        peer.pinned_inbox.push(task);
        self.idle.published();
        if self.idle.call(&peer.sleep) {
            peer.service.called();
            peer.unpark();
        }
    }

    /// Puts a free task into the inbox of the worker that polled it last.
    fn send_free(&self, task: Runnable) {
        // Relaxed: any worker of this runtime will do; the last one has the task in its caches.
        let home = task.header().home.load(Relaxed) as usize;
        let peer = &self.peers[home];
        peer.service.pushes(task.address(), self.config.metrics);
        peer.inbox.push(task);
        self.idle.published();
        if self.idle.call(&peer.sleep) {
            peer.service.called();
            peer.unpark();
        } else if self.idle.wants_searcher() {
            // The target is inside a dispatch: a sleeper may take it over.
            self.send_searcher();
        }
    }

    /// Work that anybody may run has been published: makes sure that somebody will look.
    pub(crate) fn notify_any(&self) {
        self.idle.published();
        if self.idle.wants_searcher() {
            self.send_searcher();
        }
    }

    /// Wakes one sleeper to search.
    #[cold]
    pub(crate) fn send_searcher(&self) {
        let peers = self.active_peers();
        let start = random::thread_below(peers.len() as u32) as usize;
        for offset in 0..peers.len() {
            let peer = &peers[(start + offset) % peers.len()];
            if self.idle.send(&peer.sleep) {
                return peer.unpark();
            }
        }
    }

    /// A worker does its duties again; its word says so already.
    pub(crate) fn end_absence(&self) {
        // AcqRel: who sees the count also sees the word.
        let before = self.absent.fetch_sub(1, AcqRel);
        debug_assert!(before != 0, "nobody was absent");
    }

    /// Whether a worker or stand-in runs or looks for work.
    pub(crate) fn is_anybody_awake(&self) -> bool {
        self.active_peers().iter().any(|peer| peer.sleep.is_awake())
    }

    /// Wakes everybody: a phase has begun.
    pub(crate) fn wake_all(&self) {
        self.idle.published();
        self.rest.end();
        for peer in self.active_peers() {
            peer.duty.call();
            // Whether asleep or about to be: the token ends the next park as well.
            let _ = self.idle.call(&peer.sleep);
            peer.unpark();
        }
    }

    fn any_worker(&self) -> usize {
        random::thread_below(self.config.workers as u32) as usize
    }

    /// A worker for a pinned task of a thread that is none: each in turn.
    pub(crate) fn next_worker(&self) -> usize {
        static NEXT: OnceLock<AtomicUsize> = OnceLock::new();
        // Relaxed: only spread matters.
        NEXT.get_or_init(|| AtomicUsize::new(0)).fetch_add(1, Relaxed) % self.config.workers
    }
}

impl Schedule for Shared {
    unsafe fn schedule(data: *const (), task: Runnable) {
        let shared = data.cast::<Shared>();
        // SAFETY: valid while the task has not completed, as the caller promises.
        let Some(task) = (unsafe { &*shared }).wake_here(task) else { return };
        // As soon as the task is published it may complete, and with it the promise that the
        // runtime lives: a count of our own keeps it until the wake-up is sent.
        // SAFETY: the pointer came from an `Arc`, which lives as shown.
        let keep = unsafe {
            Arc::increment_strong_count(shared);
            Arc::from_raw(shared)
        };
        if task.header().state.is_pinned() {
            keep.send_pinned(task);
        } else {
            keep.send_free(task);
        }
    }

    unsafe fn release(data: *const (), task: RawTask) -> bool {
        // SAFETY: valid while the task has not completed, as the caller promises.
        let shared = unsafe { &*data.cast::<Shared>() };
        let was_listed = shared.live.remove(task);
        // SeqCst: the phase is read after the count was lowered; whoever begins a phase writes it
        // before it reads the count.
        if shared.phase.is_closing(SeqCst) && shared.live.is_empty() {
            shared.wake_all();
        }
        was_listed
    }

    #[inline]
    unsafe fn tick(data: *const ()) -> u32 {
        // SAFETY: valid while the task has not completed, as the caller promises.
        unsafe { &*data.cast::<Shared>() }.ticks.now()
    }

    unsafe fn wake_joiner(data: *const (), joiner: Waker) {
        let joiner = Cell::new(Some(joiner));
        let wake = || joiner.take().map_or((), Waker::wake);
        // A joiner joins the rotation and does not jump the queue by the slot: one that waits for
        // many tasks is then polled once for all that ended meanwhile, not once for each.
        if current::with(data, |_, sides| sides.to_the_tail(wake)).is_none() {
            wake();
        }
    }

    fn is_here(data: *const ()) -> bool {
        current::scheduler() == data
    }

    unsafe fn unhandled_panic(data: *const (), task: RawTask, payload: Box<dyn Any + Send>) {
        // SAFETY: the calling thread belongs to the runtime and keeps it alive.
        let shared = unsafe { &*data.cast::<Shared>() };
        shared.unhandled(task, payload);
    }
}

impl Shared {
    fn unhandled(&self, task: RawTask, payload: Box<dyn Any + Send>) {
        match &self.config.panic_policy {
            PanicPolicy::Ignore => {}
            PanicPolicy::Abort => std::process::abort(),
            PanicPolicy::Shutdown => {
                self.panic.lock().get_or_insert(payload);
                self.phase.close_admission();
                self.live.close();
                self.phase.cancel();
                self.wake_all();
                return;
            }
            PanicPolicy::Call(function) => {
                let header = task.header();
                let report = UnhandledPanic {
                    id: header.id,
                    name: header.name.as_deref().map(|name| &**name),
                    spawned_at: header.site,
                    payload: &*payload,
                };
                job::contain(|| function(&report));
            }
        }
        // A payload's destructor is foreign code and may panic too.
        job::contain(|| drop(payload));
    }
}

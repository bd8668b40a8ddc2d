//! A runtime with tasks that wait for events from outside and say at which dispatch they are
//! polled, and the backlogs under which they have to.

use std::io::Write;
use std::os::unix::net::UnixStream as StdStream;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use raddle::net::UnixStream;
use raddle::sync::Notify;
use raddle::task::yield_now;
use raddle::{Backend, Builder, Handle, Io, Runtime};

/// Dispatches between two readings of the clock, at most.
const CLOCK_EVERY: u64 = 256;
/// The time after which epoll is asked at the next reading of the clock.
const POLL_AFTER: Duration = Duration::from_micros(25);

/// Dispatches after which what was prepared has been submitted, and some.
const SUBMIT_AFTER: usize = 70;

/// The backends that this kernel and the environment have.
pub(crate) fn backends() -> Vec<Io> {
    match std::env::var("RADDLE_IO").as_deref() {
        Ok("epoll") => vec![Io::Epoll],
        Ok("uring") => vec![Io::Uring],
        _ => vec![Io::Auto, Io::Epoll],
    }
}

/// What keeps the worker busy.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Load {
    /// So many tasks that yield.
    Yielders(usize),
    /// Two tasks that wake each other, and one that yields.
    Slots,
    /// The same on the free and on the pinned side.
    BothSides,
}

/// Tasks that go on until they are told to end.
pub(crate) struct Backlog {
    stop: Arc<AtomicBool>,
    ended: Arc<AtomicUsize>,
    tasks: usize,
}

/// One of two tasks that wake each other.
type Ringer = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Counts itself when it is dropped.
struct Ends(Arc<AtomicUsize>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

impl Backlog {
    pub(crate) fn new() -> Backlog {
        Backlog { stop: Arc::default(), ended: Arc::default(), tasks: 0 }
    }

    /// A task that yields until the end.
    pub(crate) fn yielder(&mut self) -> impl Future<Output = ()> + Send + use<> {
        self.tasks += 1;
        let (stop, ends) = (self.stop.clone(), Ends(self.ended.clone()));
        async move {
            let _ends = ends;
            while !stop.load(Ordering::Acquire) {
                yield_now().await;
            }
        }
    }

    /// Two tasks that wake each other until the end.
    fn ring_each_other(&mut self, mut spawn: impl FnMut(Ringer)) {
        let bells = [Arc::<Notify>::default(), Arc::default()];
        for me in 0..2 {
            self.tasks += 1;
            let (mine, theirs) = (bells[me].clone(), bells[1 - me].clone());
            let (stop, ends) = (self.stop.clone(), Ends(self.ended.clone()));
            spawn(Box::pin(async move {
                let _ends = ends;
                while !stop.load(Ordering::Acquire) {
                    mine.notified().await;
                    theirs.notify_one();
                }
            }));
        }
        bells[0].notify_one();
    }

    /// Ends all of them, and waits until they have.
    pub(crate) fn end(self) {
        self.stop.store(true, Ordering::Release);
        while self.ended.load(Ordering::Acquire) < self.tasks {
            std::thread::yield_now();
        }
    }
}

/// Who has been polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    /// A task that another thread has woken.
    Woken,
    /// A task that another thread has spawned.
    Spawned,
    /// A task whose descriptor has become ready.
    Ready,
}

/// On which worker, and at which of its dispatches, somebody was polled after an event.
struct Polled {
    who: Who,
    worker: usize,
    dispatch: u64,
}

/// Called inside the poll that is told of.
fn polled(who: Who) -> Polled {
    let thread = std::thread::current();
    let worker = index_of(thread.name().unwrap_or_default());
    Polled { who, worker, dispatch: Handle::current().metrics().workers[worker].dispatches }
}

/// The number of the worker whose thread has this name.
pub(crate) fn index_of(thread: &str) -> usize {
    let number = thread.rsplit('-').next().and_then(|number| number.parse().ok());
    number.expect("a worker's thread ends in its number")
}

/// A runtime, and what waits on it.
pub(crate) struct Rig {
    runtime: Runtime,
    name: &'static str,
    bell: Arc<Notify>,
    /// The other end of the descriptor.
    far: StdStream,
    /// How often the two that wait have begun to.
    waits: Arc<AtomicUsize>,
    rounds: usize,
    told: mpsc::Sender<Polled>,
    polled: mpsc::Receiver<Polled>,
    epoll: bool,
}

impl Rig {
    /// A runtime without a monitor, so that its workers stay the only ones; nobody waits yet.
    pub(crate) fn new(name: &'static str, workers: usize, io: Io) -> Rig {
        let builder = Builder::new().workers(workers).name(name).io(io).monitor(false);
        let runtime = builder.build().unwrap();
        let (told, polled) = mpsc::channel();
        Rig {
            epoll: runtime.io().backend() == Backend::Epoll,
            runtime,
            name,
            bell: Arc::default(),
            far: StdStream::pair().unwrap().0,
            waits: Arc::default(),
            rounds: 0,
            told,
            polled,
        }
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The name of the thread of worker `index`.
    pub(crate) fn thread(&self, index: usize) -> String {
        format!("{}-{index}", self.name)
    }

    pub(crate) fn dispatches(&self, worker: usize) -> u64 {
        self.runtime.metrics().workers[worker].dispatches
    }

    /// Spawns a task that waits to be woken and one that waits for a descriptor.
    pub(crate) fn begin_waiting(&mut self) {
        let (far, near) = StdStream::pair().unwrap();
        self.far = far;
        near.set_nonblocking(true).unwrap();
        let (told, waits, bell) = (self.told.clone(), self.waits.clone(), self.bell.clone());
        let woken = async move {
            loop {
                waits.fetch_add(1, Ordering::AcqRel);
                bell.notified().await;
                told.send(polled(Who::Woken)).unwrap();
            }
        };
        self.runtime.spawn(woken).detach();
        let (told, waits) = (self.told.clone(), self.waits.clone());
        let ready = async move {
            let near = UnixStream::from_std(near).unwrap();
            loop {
                waits.fetch_add(1, Ordering::AcqRel);
                near.read_exact(&mut [0]).await.unwrap();
                told.send(polled(Who::Ready)).unwrap();
            }
        };
        self.runtime.spawn(ready).detach();
    }

    /// Waits until both wait again, and what the driver needs for that is with the kernel.
    pub(crate) fn wait_until_they_wait(&mut self) {
        self.rounds += 1;
        while self.waits.load(Ordering::Acquire) < 2 * self.rounds {
            std::thread::yield_now();
        }
        // They counted themselves inside the polls in which they begin to wait. Those end before
        // this task begins, and what they prepared is submitted while it yields.
        let after = self.runtime.spawn(async {
            for _ in 0..SUBMIT_AFTER {
                yield_now().await;
            }
        });
        self.runtime.block_on(after).unwrap();
    }

    /// Keeps worker 0 busy.
    pub(crate) fn burden(&self, load: Load) -> Backlog {
        let mut backlog = Backlog::new();
        let runtime = &self.runtime;
        let _entered = runtime.handle().enter();
        match load {
            Load::Yielders(count) => {
                (0..count).for_each(|_| runtime.spawn(backlog.yielder()).detach());
            }
            Load::Slots => {
                runtime.spawn(backlog.yielder()).detach();
                backlog.ring_each_other(|ringer| raddle::spawn(ringer).detach());
            }
            Load::BothSides => {
                runtime.spawn(backlog.yielder()).detach();
                backlog.ring_each_other(|ringer| raddle::spawn(ringer).detach());
                let yielder = backlog.yielder();
                raddle::spawn_pinned(|| yielder).detach();
                backlog.ring_each_other(|ringer| raddle::spawn_pinned(|| ringer).detach());
            }
        }
        backlog
    }

    /// Wakes a task, spawns one, and makes a descriptor ready.
    pub(crate) fn make_all_ready(&mut self) {
        let begun = Instant::now();
        self.far.write_all(&[1]).unwrap();
        self.bell.notify_one();
        let told = self.told.clone();
        self.runtime.spawn(async move { told.send(polled(Who::Spawned)).unwrap() }).detach();
        while self.epoll && begun.elapsed() < POLL_AFTER {
            std::hint::spin_loop();
        }
    }

    /// Checks that all three are polled on `worker`, the k-th of them within `factor` times k
    /// dispatches after dispatch `from`.
    pub(crate) fn check_served(&self, what: &str, worker: usize, from: u64, factor: u64) {
        let mut all: Vec<Polled> = (0..3).map(|_| self.polled.recv().unwrap()).collect();
        all.sort_by_key(|polled| polled.dispatch);
        for (polled, k) in all.iter().zip(1..) {
            assert_eq!(polled.worker, worker, "{what}: {:?}", polled.who);
            let asked = self.epoll && polled.who == Who::Ready;
            let limit = factor * k + if asked { CLOCK_EVERY } else { 0 };
            let took = polled.dispatch - from;
            assert!(took <= limit, "{what}: {:?} took {took} dispatches, not {limit}", polled.who);
        }
    }
}

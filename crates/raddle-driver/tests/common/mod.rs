//! A small executor that drives one driver, for the tests of this crate: no runtime here.

#![expect(dead_code, reason = "each test file uses a part of this")]

use raddle_base::clock::Instant;
use raddle_driver::{
    Backend, Choice, Config, Driver, Guard, Offload, OffloadError, RawAddr, Remote, Source,
    SourceKind, choose, install,
};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// Runs each blocking job on a thread of its own.
pub(crate) struct Threads;

impl Offload for Threads {
    fn run(&self, job: Box<dyn FnOnce() + Send>) -> Result<(), OffloadError> {
        thread::Builder::new().spawn(job).map(drop).map_err(|_| OffloadError::Full)
    }
}

/// The backends to test. Says so when one has to be left out.
pub(crate) fn backends() -> Vec<Backend> {
    match choose(Choice::Uring) {
        Ok(_) => vec![Backend::Epoll, Backend::Uring],
        Err(refusal) => {
            println!("io_uring left out: {refusal}");
            vec![Backend::Epoll]
        }
    }
}

/// Runs `test` once for each backend, in a thread with a watchdog of three minutes.
pub(crate) fn on_each(test: fn(&World)) {
    for backend in backends() {
        on(backend, test);
    }
}

/// Runs `test` with a driver of `backend`, under the watchdog.
pub(crate) fn on(backend: Backend, test: fn(&World)) {
    watched(move || {
        let world = World::new(&Config::new(backend, Arc::new(Threads)));
        test(&world);
    });
}

/// Runs `body` in a thread; aborts if it takes more than three minutes, fails if it panics.
pub(crate) fn watched(body: impl FnOnce() + Send + 'static) {
    let done = Arc::new(AtomicBool::new(false));
    let thread = thread::spawn({
        let done = Arc::clone(&done);
        move || {
            struct Mark(Arc<AtomicBool>);
            impl Drop for Mark {
                fn drop(&mut self) {
                    self.0.store(true, Ordering::SeqCst);
                }
            }
            let _mark = Mark(done);
            body();
        }
    });
    let begin = Instant::now();
    while !done.load(Ordering::SeqCst) {
        if begin.elapsed() > Duration::from_secs(180) {
            eprintln!("watchdog: the test did not end within 180 s");
            std::process::abort();
        }
        thread::sleep(Duration::from_millis(1));
    }
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

struct Queue {
    ready: Mutex<VecDeque<usize>>,
    owner: ThreadId,
    remote: Arc<Remote>,
}

struct TaskWaker {
    id: usize,
    queued: AtomicBool,
    queue: Arc<Queue>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        if self.queued.swap(true, Ordering::SeqCst) {
            return;
        }
        self.queue.ready.lock().unwrap().push_back(self.id);
        if thread::current().id() != self.queue.owner {
            self.queue.remote.unpark();
        }
    }
}

type Task = (Pin<Box<dyn Future<Output = ()>>>, Arc<TaskWaker>);

/// One driver and the tasks that run on it.
pub(crate) struct World {
    pub(crate) driver: Driver,
    tasks: RefCell<Vec<Option<Task>>>,
    queue: Arc<Queue>,
    /// Parks so far.
    pub(crate) parks: Cell<usize>,
    /// Turns so far: parks, and looks after tasks have run.
    pub(crate) turns: Cell<usize>,
    _guard: Guard,
}

impl World {
    pub(crate) fn new(config: &Config) -> World {
        let driver = Driver::new(config).expect("a driver");
        let guard = install(&driver);
        let queue = Arc::new(Queue {
            ready: Mutex::new(VecDeque::new()),
            owner: thread::current().id(),
            remote: driver.remote(),
        });
        World {
            driver,
            tasks: RefCell::new(Vec::new()),
            queue,
            parks: Cell::new(0),
            turns: Cell::new(0),
            _guard: guard,
        }
    }

    pub(crate) fn is_uring(&self) -> bool {
        self.driver.backend() == Backend::Uring
    }

    /// Spawns a task; its output waits in the handle.
    pub(crate) fn spawn<T: 'static>(&self, future: impl Future<Output = T> + 'static) -> Handle<T> {
        let slot = Rc::new(RefCell::new(Slot { output: None, waker: None }));
        let out = Rc::clone(&slot);
        let task = async move {
            let output = future.await;
            let waker = {
                let mut slot = out.borrow_mut();
                slot.output = Some(output);
                slot.waker.take()
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        };
        let mut tasks = self.tasks.borrow_mut();
        let id = tasks.len();
        let waker = Arc::new(TaskWaker {
            id,
            queued: AtomicBool::new(false),
            queue: Arc::clone(&self.queue),
        });
        tasks.push(Some((Box::pin(task), Arc::clone(&waker))));
        drop(tasks);
        waker.wake();
        Handle(slot)
    }

    /// Polls every task that is ready once; true if there was one.
    pub(crate) fn run_ready(&self) -> bool {
        let batch: Vec<usize> = self.queue.ready.lock().unwrap().drain(..).collect();
        for &id in &batch {
            let Some((mut future, waker)) = self.tasks.borrow_mut()[id].take() else { continue };
            waker.queued.store(false, Ordering::SeqCst);
            let as_waker = Waker::from(Arc::clone(&waker));
            if future.as_mut().poll(&mut Context::from_waker(&as_waker)).is_pending() {
                self.tasks.borrow_mut()[id] = Some((future, waker));
            }
        }
        !batch.is_empty()
    }

    /// Runs tasks and the driver until `future` is done.
    pub(crate) fn block_on<T: 'static>(&self, future: impl Future<Output = T> + 'static) -> T {
        let handle = self.spawn(future);
        loop {
            if let Some(output) = handle.take() {
                return output;
            }
            self.turn(None);
        }
    }

    /// As [`block_on`](Self::block_on), for a future that borrows.
    pub(crate) fn block_on_local<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let waker = Arc::new(TaskWaker {
            id: usize::MAX,
            queued: AtomicBool::new(false),
            queue: Arc::clone(&self.queue),
        });
        let as_waker = Waker::from(Arc::clone(&waker));
        waker.queued.store(true, Ordering::SeqCst);
        loop {
            if waker.queued.swap(false, Ordering::SeqCst) {
                self.queue.ready.lock().unwrap().retain(|&id| id != usize::MAX);
                if let Poll::Ready(out) = future.as_mut().poll(&mut Context::from_waker(&as_waker))
                {
                    return out;
                }
            }
            self.turn_with(None, || waker.queued.load(Ordering::SeqCst));
        }
    }

    /// One turn: ready tasks, then a look, or a park if there was nothing to do.
    pub(crate) fn turn(&self, deadline: Option<Instant>) {
        self.turn_with(deadline, || false);
    }

    fn turn_with(&self, deadline: Option<Instant>, more: impl Fn() -> bool) {
        self.turns.set(self.turns.get() + 1);
        let queue = &self.queue.ready;
        queue.lock().unwrap().retain(|&id| id != usize::MAX);
        if self.run_ready() {
            let bell = self.driver.doorbell();
            if !self.is_uring() || bell.rung() || bell.prepared() != 0 {
                self.driver.look(256);
            }
            return;
        }
        if !more() && queue.lock().unwrap().is_empty() {
            self.parks.set(self.parks.get() + 1);
            self.driver.park(deadline);
        }
    }

    /// Runs tasks and the driver until `done` or until `limit` has passed.
    pub(crate) fn run_for(&self, limit: Duration, done: impl Fn() -> bool) {
        let end = Instant::now() + limit;
        while !done() && Instant::now() < end {
            self.turn(Some(end));
        }
    }
}

struct Slot<T> {
    output: Option<T>,
    waker: Option<Waker>,
}

/// The output of a spawned task.
pub(crate) struct Handle<T>(Rc<RefCell<Slot<T>>>);

impl<T> Handle<T> {
    pub(crate) fn take(&self) -> Option<T> {
        self.0.borrow_mut().output.take()
    }

    pub(crate) fn is_done(&self) -> bool {
        self.0.borrow().output.is_some()
    }
}

impl<T> Future for Handle<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let mut slot = self.0.borrow_mut();
        match slot.output.take() {
            Some(output) => Poll::Ready(output),
            None => {
                slot.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// Gives way once.
pub(crate) async fn yield_now() {
    let mut yielded = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Polls `future` once and drops it; its output if it was ready.
pub(crate) async fn once<F: Future>(future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    std::future::poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

pub(crate) fn loopback() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}

pub(crate) fn stream(fd: impl Into<OwnedFd>) -> Source {
    Source::from_fd(fd.into(), SourceKind::Stream).expect("a source")
}

/// A connected pair of TCP sockets: a source and std's.
pub(crate) fn tcp_pair() -> (Source, TcpStream) {
    let (a, b) = std_pair();
    (stream(a), b)
}

/// A stream whose peer reads nothing, with the kernel's buffers full.
pub(crate) fn full_pair() -> (Source, UnixStream) {
    let (mut a, b) = UnixStream::pair().unwrap();
    a.set_nonblocking(true).unwrap();
    while a.write(&[b'f'; 4096]).is_ok() {}
    while a.write(b"f").is_ok() {}
    (stream(a), b)
}

pub(crate) fn std_pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind(loopback()).unwrap();
    let a = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (b, _) = listener.accept().unwrap();
    a.set_nodelay(true).unwrap();
    b.set_nodelay(true).unwrap();
    (a, b)
}

pub(crate) fn listener() -> (Source, SocketAddr) {
    let listener = TcpListener::bind(loopback()).unwrap();
    let addr = listener.local_addr().unwrap();
    (Source::from_fd(listener.into(), SourceKind::Listener).unwrap(), addr)
}

pub(crate) fn udp() -> (Source, SocketAddr) {
    let socket = UdpSocket::bind(loopback()).unwrap();
    let addr = socket.local_addr().unwrap();
    (Source::from_fd(socket.into(), SourceKind::Datagram).unwrap(), addr)
}

pub(crate) fn raw(addr: SocketAddr) -> RawAddr {
    RawAddr::from(addr)
}

pub(crate) fn pipe() -> (OwnedFd, OwnedFd) {
    let (reader, writer) = io::pipe().unwrap();
    (reader.into(), writer.into())
}

/// Reads exactly `len` bytes.
pub(crate) async fn read_exact(source: &Source, len: usize) -> Vec<u8> {
    let mut got = vec![0; len];
    let mut at = 0;
    while at < len {
        let count = source.read(&mut got[at..]).await.unwrap();
        assert_ne!(count, 0, "the stream ended after {at} of {len} bytes");
        at += count;
    }
    got
}

pub(crate) async fn write_all(source: &Source, bytes: &[u8]) {
    let mut at = 0;
    while at < bytes.len() {
        at += source.write(&bytes[at..]).await.unwrap();
    }
}

/// Descriptors of this process that are open now.
pub(crate) fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

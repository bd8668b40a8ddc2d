//! The pool with real threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, mpsc};
use std::time::Duration;

use raddle_base::clock::Instant;
use raddle_base::context::{Place, place};

use crate::blocking::config::Config;
use crate::blocking::{BlockingPool, Refusal};
use crate::blocking::{job, shared};

const LONG: Duration = Duration::from_secs(180);

fn later() -> Instant {
    Instant::now() + LONG
}

/// Waits for a condition that others bring about.
fn until(condition: impl Fn() -> bool) {
    let deadline = later();
    while !condition() {
        assert!(Instant::now() < deadline, "still not so");
        std::thread::yield_now();
    }
}

fn pool(max_threads: usize) -> Arc<BlockingPool> {
    Arc::new(BlockingPool::new(Config { max_threads, ..Config::default() }))
}

/// A pool whose thread starts fail while the flag is up, with its keep-alive.
fn unreliable(max_threads: usize, keep_alive: Duration) -> (Arc<BlockingPool>, Arc<AtomicBool>) {
    let fails = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&fails);
    let config = Config {
        max_threads,
        keep_alive,
        start: Arc::new(move |builder, main| match flag.load(SeqCst) {
            true => Err(std::io::Error::from_raw_os_error(libc::EAGAIN)),
            false => builder.spawn(main).map(drop),
        }),
        ..Config::default()
    };
    (Arc::new(BlockingPool::new(config)), fails)
}

/// Occupies one thread of the pool until the sender is dropped.
fn occupy(pool: &BlockingPool) -> mpsc::Sender<()> {
    let (release, held) = mpsc::channel::<()>();
    let (begun, begin) = mpsc::channel();
    pool.submit(Box::new(move || {
        begun.send(()).unwrap();
        let _ = held.recv();
    }))
    .unwrap();
    begin.recv_timeout(LONG).unwrap();
    release
}

/// Tells how a job ended, also when it is dropped.
struct Teller<T>(mpsc::Sender<Result<T, Option<Refusal>>>);

impl<T> Drop for Teller<T> {
    fn drop(&mut self) {
        let _ = self.0.send(Err(job::reason()));
    }
}

/// A job with a receiver in place of a handle.
struct Job<T>(mpsc::Receiver<Result<T, Option<Refusal>>>);

impl<T> Job<T> {
    /// Waits as a join handle does; an error says why the job gave no output, if it was refused.
    fn wait(self) -> Result<T, Option<Refusal>> {
        shared::waits();
        let output = self.0.recv_timeout(LONG).expect("a job that neither ran nor was dropped");
        shared::resumed();
        output
    }
}

fn spawn<T: Send + 'static>(pool: &BlockingPool, f: impl FnOnce() -> T + Send + 'static) -> Job<T> {
    let (sender, receiver) = mpsc::channel();
    let teller = Teller(sender);
    let submitted = pool.submit(Box::new(move || {
        let output = f();
        let _ = teller.0.send(Ok(output));
    }));
    if let Err(error) = submitted {
        job::refuse(error.job, error.refusal);
    }
    Job(receiver)
}

#[test]
fn a_job_runs_and_knows_its_place() {
    let pool = pool(4);
    assert_eq!(spawn(&pool, || (place(), 7)).wait(), Ok((Place::Blocking, 7)));
    assert_eq!(pool.shutdown(later()), 0);
}

/// Panics when dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a destructor that panics");
    }
}

#[test]
fn panics_of_jobs_and_destructors_do_not_end_a_thread() {
    let pool = pool(1);
    assert_eq!(spawn(&pool, || panic!("on purpose")).wait(), Err::<(), _>(None));
    pool.submit(Box::new(|| drop(Bomb))).unwrap();
    assert_eq!(spawn(&pool, || 1).wait(), Ok(1));
    assert_eq!(pool.metrics().threads, 1);
    let hold = occupy(&pool);
    let bomb = Bomb;
    pool.submit(Box::new(move || drop(bomb))).unwrap();
    pool.close();
    drop(hold);
    assert_eq!(pool.shutdown(later()), 0);
}

/// Bursts on two threads that are about to leave all the time: every job is done.
#[test]
fn bursts_with_a_short_keep_alive_lose_nothing() {
    let jobs = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };
    let config =
        Config { max_threads: 2, keep_alive: Duration::from_millis(1), ..Config::default() };
    let pool = BlockingPool::new(config);
    let done = Arc::new(AtomicUsize::new(0));
    let mut submitted = 0;
    let mut burst = 1;
    while submitted < jobs {
        for _ in 0..burst {
            let done = Arc::clone(&done);
            pool.submit(Box::new(move || {
                done.fetch_add(1, SeqCst);
            }))
            .unwrap();
        }
        submitted += burst;
        // The last of a burst is waited for, around the keep-alive: the threads are leaving.
        let wait = Duration::from_micros([0, 900, 1_000, 1_100][submitted % 4]);
        spawn(&pool, move || std::thread::sleep(wait)).wait().unwrap();
        burst = if burst > jobs / 20 { 1 } else { burst * 3 };
    }
    until(|| done.load(SeqCst) == submitted);
    assert!(pool.metrics().threads <= 2);
}

#[test]
fn it_grows_to_the_maximum_and_shrinks_to_nothing() {
    let (pool, _) = unreliable(3, Duration::from_millis(1));
    let meet = Arc::new(Barrier::new(4));
    for _ in 0..3 {
        let meet = Arc::clone(&meet);
        pool.submit(Box::new(move || {
            meet.wait();
        }))
        .unwrap();
    }
    let queued = spawn(&pool, || ());
    assert_eq!((pool.metrics().threads, pool.metrics().queued_jobs), (3, 1));
    meet.wait();
    queued.wait().unwrap();
    until(|| pool.metrics().threads == 0);
    assert_eq!(spawn(&pool, || 3).wait(), Ok(3));
}

/// Depth `n`: each job waits for a job inside it.
fn nested(pool: Arc<BlockingPool>, n: usize) -> usize {
    if n == 0 {
        return 0;
    }
    let inner = Arc::clone(&pool);
    1 + spawn(&pool, move || nested(inner, n - 1)).wait().unwrap()
}

#[test]
fn nested_use_completes_on_one_thread() {
    let pool = pool(1);
    assert_eq!(nested(Arc::clone(&pool), 11), 11);
    // Those that came beyond the maximum leave without waiting for their keep-alive.
    until(|| pool.metrics().threads <= 1);
    assert_eq!(pool.shutdown(later()), 0);
}

#[test]
fn nested_use_without_further_threads_is_refused_with_the_reason() {
    let (pool, fails) = unreliable(1, LONG);
    let inner = Arc::clone(&pool);
    let outer = spawn(&pool, move || {
        fails.store(true, SeqCst);
        spawn(&inner, || ()).wait()
    });
    let refusal = Refusal::NoThread { os_error: Some(libc::EAGAIN) };
    assert_eq!(outer.wait().unwrap(), Err(Some(refusal)));
    assert!(refusal.to_string().starts_with("no thread could be started: "), "{refusal}");
}

#[test]
fn a_thread_that_cannot_be_started_is_an_error_or_others_take_over() {
    let (pool, fails) = unreliable(2, LONG);
    fails.store(true, SeqCst);
    // Nobody is there: the closure comes back.
    let error = pool.submit(Box::new(|| ())).unwrap_err();
    assert!(matches!(error.refusal, Refusal::NoThread { .. }));
    error.into_job()();
    assert_eq!(pool.metrics().threads, 0);
    // Somebody is there: the job waits for that thread.
    fails.store(false, SeqCst);
    let hold = occupy(&pool);
    fails.store(true, SeqCst);
    let queued = spawn(&pool, || 5);
    drop(hold);
    assert_eq!(queued.wait(), Ok(5));
    assert_eq!(pool.metrics().threads, 1);
}

#[test]
fn a_full_queue_gives_the_job_back() {
    let config = Config { max_threads: 1, queue_limit: Some(2), ..Config::default() };
    let pool = BlockingPool::new(config);
    let hold = occupy(&pool);
    let (first, second) = (spawn(&pool, || 1), spawn(&pool, || 2));
    let error = pool.submit(Box::new(|| ())).unwrap_err();
    assert_eq!(error.refusal, Refusal::Full);
    drop(hold);
    assert_eq!((first.wait(), second.wait()), (Ok(1), Ok(2)));
    pool.submit(error.into_job()).unwrap();
}

#[test]
fn shutdown_drops_what_waits_and_counts_what_runs() {
    let pool = pool(2);
    let holds = [occupy(&pool), occupy(&pool)];
    let dropped = Arc::new(());
    let witness = Arc::clone(&dropped);
    let queued = spawn(&pool, move || drop(witness));
    let start = Instant::now();
    assert_eq!(pool.shutdown(start + Duration::from_millis(30)), 2);
    assert!(start.elapsed() >= Duration::from_millis(30));
    assert_eq!(Arc::strong_count(&dropped), 1);
    assert_eq!(queued.wait(), Err(Some(Refusal::Closed)));
    assert_eq!(spawn(&pool, || ()).wait(), Err(Some(Refusal::Closed)));
    drop(holds);
    assert_eq!(pool.shutdown(later()), 0);
}

#[test]
fn shutdown_from_inside_does_not_wait_for_itself() {
    let pool = pool(2);
    let inner = Arc::clone(&pool);
    assert_eq!(spawn(&pool, move || inner.shutdown(later())).wait(), Ok(0));
}

#[test]
fn hooks_come_in_pairs_and_their_panics_are_contained() {
    let count = Arc::new(AtomicUsize::new(0));
    let (start, stop) = (Arc::clone(&count), Arc::clone(&count));
    let pool = BlockingPool::new(Config {
        on_thread_start: Some(Arc::new(move || {
            start.fetch_add(1, SeqCst);
            panic!("a hook that panics");
        })),
        on_thread_stop: Some(Arc::new(move || {
            stop.fetch_add(100, SeqCst);
            panic!("a hook that panics");
        })),
        ..Config::default()
    });
    assert_eq!(spawn(&pool, || 8).wait(), Ok(8));
    assert_eq!(pool.shutdown(later()), 0);
    assert_eq!(count.load(SeqCst), 101);
}

#[test]
fn the_latest_idle_thread_is_called_first() {
    let pool = pool(2);
    let hold = occupy(&pool);
    drop(occupy(&pool));
    drop(hold);
    until(|| pool.metrics().idle_threads == 2);
    let id = || std::thread::current().id();
    let first = spawn(&pool, id).wait();
    until(|| pool.metrics().idle_threads == 2);
    assert_eq!(spawn(&pool, id).wait(), first);
}

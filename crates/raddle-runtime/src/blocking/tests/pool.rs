//! The pool with real threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, mpsc};
use std::time::Duration;

use raddle_base::clock::Instant;
use raddle_base::context::{Place, place};

use crate::blocking::config::Config;
use crate::blocking::tests::support::block_on;
use crate::blocking::{BlockingPool, Refusal};

const LONG: Duration = Duration::from_secs(60);

fn later() -> Instant {
    Instant::now() + LONG
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

#[test]
fn a_job_gives_its_output_and_knows_its_place() {
    let pool = pool(4);
    assert_eq!(block_on(pool.spawn(|| (place(), 7))).unwrap(), (Place::Blocking, 7));
    assert_eq!(pool.shutdown(later()), 0);
}

#[test]
fn a_panic_goes_to_the_handle_and_the_thread_lives_on() {
    let pool = pool(1);
    let error = block_on(pool.spawn(|| panic!("on purpose"))).unwrap_err();
    assert!(error.is_panic() && !error.is_cancelled());
    let payload = error.try_into_panic().unwrap();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"on purpose"));
    pool.submit(Box::new(|| panic!("on purpose, and nobody is told"))).unwrap();
    assert_eq!(block_on(pool.spawn(|| 1)).unwrap(), 1);
    assert_eq!(pool.metrics().threads, 1);
}

/// Panics when dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a destructor that panics");
    }
}

#[test]
fn an_output_nobody_wants_may_panic_in_its_destructor() {
    let pool = pool(1);
    let hold = occupy(&pool);
    pool.spawn(|| Bomb).detach();
    drop(hold);
    assert_eq!(block_on(pool.spawn(|| 2)).unwrap(), 2);
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
        let wait = [0, 900, 1_000, 1_100][submitted % 4];
        block_on(pool.spawn(move || std::thread::sleep(Duration::from_micros(wait)))).unwrap();
        burst = if burst > jobs / 20 { 1 } else { burst * 3 };
    }
    block_on(pool.spawn(|| ())).unwrap();
    let deadline = later();
    while done.load(SeqCst) < submitted {
        assert!(Instant::now() < deadline, "{} of {submitted}", done.load(SeqCst));
        std::thread::yield_now();
    }
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
    let queued = pool.spawn(|| ());
    assert_eq!((pool.metrics().threads, pool.metrics().queued_jobs), (3, 1));
    meet.wait();
    block_on(queued).unwrap();
    let deadline = later();
    while pool.metrics().threads > 0 {
        assert!(Instant::now() < deadline, "threads without work do not leave");
        std::thread::yield_now();
    }
    assert_eq!(block_on(pool.spawn(|| 3)).unwrap(), 3);
}

/// Depth `n`: each job waits for a job inside it.
fn nested(pool: Arc<BlockingPool>, n: usize) -> usize {
    if n == 0 {
        return 0;
    }
    let inner = Arc::clone(&pool);
    1 + block_on(pool.spawn(move || nested(inner, n - 1))).unwrap()
}

#[test]
fn nested_use_completes_on_one_thread() {
    let pool = pool(1);
    let inner = Arc::clone(&pool);
    assert_eq!(block_on(pool.spawn(move || nested(inner, 10))).unwrap(), 10);
    assert_eq!(pool.shutdown(later()), 0);
}

#[test]
fn nested_use_without_further_threads_is_a_named_error() {
    let (pool, fails) = unreliable(1, LONG);
    let inner = Arc::clone(&pool);
    let outer = pool.spawn(move || {
        fails.store(true, SeqCst);
        block_on(inner.spawn(|| ())).unwrap_err()
    });
    let error = block_on(outer).unwrap();
    assert!(matches!(error.refusal(), Some(Refusal::NoThread { os_error: Some(libc::EAGAIN) })));
    assert!(error.to_string().contains("no thread could be started"), "{error}");
}

#[test]
fn surplus_threads_leave_after_nested_use() {
    let (pool, _) = unreliable(1, LONG);
    let inner = Arc::clone(&pool);
    block_on(pool.spawn(move || nested(inner, 3))).unwrap();
    let deadline = later();
    while pool.metrics().threads > 1 {
        assert!(Instant::now() < deadline, "{:?}", pool.metrics());
        std::thread::yield_now();
    }
}

#[test]
fn a_thread_that_cannot_be_started_is_an_error_or_others_take_over() {
    let (pool, fails) = unreliable(2, LONG);
    fails.store(true, SeqCst);
    // Nobody is there: the closure comes back.
    let text = String::from("kept");
    let error = pool.try_spawn(move || text).unwrap_err();
    assert!(matches!(error.refusal, Refusal::NoThread { .. }));
    assert_eq!(error.into_job()(), "kept");
    assert!(pool.submit(Box::new(|| ())).is_err());
    let error = block_on(pool.spawn(|| ())).unwrap_err();
    assert!(error.is_cancelled());
    // Somebody is there: the job waits for that thread.
    fails.store(false, SeqCst);
    let hold = occupy(&pool);
    fails.store(true, SeqCst);
    let queued = pool.try_spawn(|| 5).unwrap();
    drop(hold);
    assert_eq!(block_on(queued).unwrap(), 5);
    assert_eq!(pool.metrics().threads, 1);
}

#[test]
fn a_full_queue_gives_the_job_back() {
    let config = Config { max_threads: 1, queue_limit: Some(2), ..Config::default() };
    let pool = BlockingPool::new(config);
    let hold = occupy(&pool);
    let first = pool.spawn(|| 1);
    let second = pool.spawn(|| 2);
    let error = pool.try_spawn(|| 3).unwrap_err();
    assert_eq!(error.refusal, Refusal::Full);
    assert_eq!(block_on(pool.spawn(|| 4)).unwrap_err().refusal(), Some(Refusal::Full));
    drop(hold);
    assert_eq!((block_on(first).unwrap(), block_on(second).unwrap()), (1, 2));
    assert_eq!(error.into_job()(), 3);
}

#[test]
fn abort_takes_back_what_has_not_begun() {
    let pool = pool(1);
    let hold = occupy(&pool);
    let ran = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&ran);
    let queued = pool.spawn(move || flag.store(true, SeqCst));
    queued.abort();
    assert!(queued.is_finished());
    let error = block_on(queued).unwrap_err();
    assert!(error.is_cancelled() && error.refusal().is_none());
    assert_eq!(Arc::strong_count(&ran), 1, "the closure is dropped at once");
    let running = pool.spawn(|| 6);
    drop(hold);
    assert_eq!(block_on(running).unwrap(), 6);
    assert!(!ran.load(SeqCst));
}

#[test]
fn shutdown_drops_what_waits_and_counts_what_runs() {
    let pool = pool(2);
    let holds = [occupy(&pool), occupy(&pool)];
    let dropped = Arc::new(());
    let witness = Arc::clone(&dropped);
    let queued = pool.spawn(move || drop(witness));
    let plain = Arc::clone(&dropped);
    pool.submit(Box::new(move || drop(plain))).unwrap();
    let start = Instant::now();
    assert_eq!(pool.shutdown(start + Duration::from_millis(30)), 2);
    assert!(start.elapsed() >= Duration::from_millis(30));
    assert_eq!(Arc::strong_count(&dropped), 1);
    assert_eq!(block_on(queued).unwrap_err().refusal(), Some(Refusal::Closed));
    assert_eq!(block_on(pool.spawn(|| ())).unwrap_err().refusal(), Some(Refusal::Closed));
    drop(holds);
    assert_eq!(pool.shutdown(later()), 0);
}

#[test]
fn shutdown_from_inside_does_not_wait_for_itself() {
    let pool = pool(2);
    let inner = Arc::clone(&pool);
    assert_eq!(block_on(pool.spawn(move || inner.shutdown(later()))).unwrap(), 0);
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
    assert_eq!(block_on(pool.spawn(|| 8)).unwrap(), 8);
    assert_eq!(pool.shutdown(later()), 0);
    assert_eq!(count.load(SeqCst), 101);
}

#[test]
fn the_latest_idle_thread_is_called_first() {
    let pool = pool(2);
    let hold = occupy(&pool);
    drop(occupy(&pool));
    drop(hold);
    let deadline = later();
    while pool.metrics().idle_threads < 2 {
        assert!(Instant::now() < deadline);
        std::thread::yield_now();
    }
    let id = || std::thread::current().id();
    let first = block_on(pool.spawn(id)).unwrap();
    while pool.metrics().idle_threads < 2 {
        std::thread::yield_now();
    }
    assert_eq!(block_on(pool.spawn(id)).unwrap(), first);
}

//! A shutdown returns against anything, and tells what it left.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use raddle::net::TcpListener;
use raddle::sync::{CancellationToken, Notify, Semaphore, mpsc as mpsc_of_tasks, oneshot};
use raddle::time::sleep;
use raddle::{Builder, Runtime};
use raddle_tests::{Drops, wants_limits, watched};

/// A runtime with one of each obstacle, and what ends them afterwards.
struct Obstacles {
    runtime: Runtime,
    /// Counts the destructors that must run.
    must: Drops,
    /// Counts those that cannot: of the spinning task and what is pinned behind it.
    cannot: Drops,
    stop: Arc<AtomicBool>,
    _job: mpsc::Sender<()>,
}

const PARKED: usize = 1000;
const PINNED: usize = 10;

/// Parks for good, on a primitive of each kind in turn.
async fn park(n: usize) {
    match n % 6 {
        0 => Notify::new().notified().await,
        1 => drop(Semaphore::new(0).acquire().await),
        2 => {
            let (_sender, receiver) = oneshot::channel::<()>();
            drop(receiver.await);
        }
        3 => {
            let (_sender, mut receiver) = mpsc_of_tasks::channel::<()>(1);
            let _ = receiver.recv().await;
        }
        4 => CancellationToken::new().cancelled().await,
        _ => sleep(Duration::MAX).await,
    }
}

fn obstacles(workers: usize) -> Obstacles {
    let runtime = Builder::new().workers(workers).build().unwrap();
    let (must, cannot) = (Drops::default(), Drops::default());
    let stop = Arc::new(AtomicBool::new(false));
    for n in 0..PARKED {
        let guard = must.guard();
        runtime
            .spawn(async move {
                let _guard = guard;
                park(n).await;
            })
            .detach();
    }
    let guard = must.guard();
    runtime
        .spawn(async move {
            let _guard = guard;
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            loop {
                drop(listener.accept().await);
            }
        })
        .detach();
    let (job, wait) = mpsc::channel::<()>();
    let (begun, in_job) = mpsc::channel();
    let stuck = move || {
        begun.send(()).unwrap();
        // Ends when the test drops the sender.
        let _ = wait.recv();
    };
    runtime.block_on(async { raddle::spawn_blocking(stuck).detach() });
    in_job.recv().unwrap();
    let (begun, spinning) = mpsc::channel();
    let (ended, pinned) = (stop.clone(), cannot.clone());
    runtime
        .spawn(async move {
            let _guard = pinned.guard();
            for _ in 0..PINNED {
                let guard = pinned.guard();
                raddle::spawn_local(async move {
                    let _guard = guard;
                    pending::<()>().await;
                })
                .detach();
            }
            begun.send(()).unwrap();
            // Gives way to other threads, which have to get their work done beside it.
            while !ended.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        })
        .detach();
    spinning.recv().unwrap();
    Obstacles { runtime, must, cannot, stop, _job: job }
}

/// Shuts down within `limit`, which a spinning worker always makes it wait for. How long that took,
/// and how many threads were left: the spinning one, and whoever had not got around to leaving in
/// the moment that they have when the limit is over.
fn check(workers: usize, limit: Duration) -> (Duration, usize) {
    let Obstacles { runtime, must, cannot, stop, _job } = obstacles(workers);
    let begin = Instant::now();
    let report = runtime.shutdown_timeout(limit);
    let took = begin.elapsed();
    assert_eq!(must.count(), PARKED + 1, "destructors that can run have run");
    assert_eq!(cannot.count(), 0, "those of the spinning worker cannot");
    assert_eq!(report.tasks.len(), 1 + PINNED, "{report}");
    assert_eq!(report.blocking_jobs, 1, "{report}");
    assert!((1..=workers).contains(&report.threads), "{report}");
    assert!(report.tasks.iter().all(|task| task.spawned_at.file().ends_with("shutdown.rs")));
    assert!(!report.is_clean());
    stop.store(true, Ordering::Relaxed);
    (took, report.threads)
}

#[test]
fn returns_against_a_spinning_task_a_stuck_job_and_a_thousand_sleepers() {
    // A limit that leaves a busy machine the time for what can be done; side by side, because all
    // of it is waited for.
    let checks = [1, 2, 3].map(|workers| {
        std::thread::spawn(move || {
            watched(move || {
                check(workers, Duration::from_secs(4));
            });
        })
    });
    for check in checks {
        check.join().unwrap();
    }
}

#[test]
fn limit_returns_within_300_ms() {
    if !wants_limits() {
        return;
    }
    for workers in [1, 2] {
        watched(move || {
            let (took, threads) = check(workers, Duration::from_millis(200));
            assert!(took <= Duration::from_millis(300), "{took:?}");
            assert_eq!(threads, 1);
        });
    }
}

#[test]
fn a_clean_shutdown_leaves_nothing_and_joins_its_threads() {
    watched(|| {
        for workers in [1, 2] {
            let runtime = Builder::new().workers(workers).build().unwrap();
            let drops = Drops::default();
            for _ in 0..100 {
                let guard = drops.guard();
                runtime
                    .spawn(async move {
                        let _guard = guard;
                        pending::<()>().await;
                    })
                    .detach();
            }
            let report = runtime.shutdown_timeout(Duration::from_secs(30));
            assert!(report.is_clean(), "{report}");
            assert_eq!(drops.count(), 100);
        }
    });
}

/// A thread that is late, as any may be on a busy machine, is waited for until the limit: what is
/// left behind is kept for ever, with its memory and its descriptors.
#[test]
fn a_thread_that_ends_late_is_not_left_behind() {
    watched(|| {
        let late = |_| std::thread::sleep(Duration::from_millis(150));
        let runtime = Builder::new().workers(2).on_thread_stop(late).build().unwrap();
        runtime.block_on(async {});
        let report = runtime.shutdown_timeout(Duration::from_secs(30));
        assert!(report.is_clean(), "{report}");
    });
}

#[test]
fn a_graceful_shutdown_lets_tasks_end() {
    watched(|| {
        let runtime = Builder::new().workers(1).build().unwrap();
        let (done, wait) = mpsc::channel();
        let notify = Arc::new(Notify::new());
        let theirs = notify.clone();
        runtime
            .spawn(async move {
                theirs.notified().await;
                done.send(()).unwrap();
            })
            .detach();
        notify.notify_one();
        let report = runtime.shutdown_graceful(Duration::from_secs(30), Duration::from_secs(30));
        assert!(report.is_clean(), "{report}");
        wait.try_recv().expect("the task came to its end");
    });
}

#[test]
fn the_last_handle_may_be_dropped_on_a_worker() {
    watched(|| {
        let runtime = Builder::new().workers(2).build().unwrap();
        let handle = runtime.handle().clone();
        let (done, wait) = mpsc::channel();
        handle
            .spawn(async move {
                drop(runtime);
                done.send(()).unwrap();
            })
            .detach();
        // Sent, or dropped with the task: either way the worker did not join itself.
        let _ = wait.recv();
    });
}

#[test]
fn two_runtimes_that_cancel_each_other_end() {
    watched(|| {
        let one = Builder::new().workers(1).build().unwrap();
        let two = Builder::new().workers(1).build().unwrap();
        let in_two = two.spawn(pending::<()>());
        let in_one = one.spawn(in_two);
        let aborter = in_one.abort_handle();
        two.spawn(async move { aborter.abort() }).detach();
        assert!(one.block_on(in_one).unwrap_err().is_cancelled());
        assert!(one.shutdown_timeout(Duration::from_secs(30)).is_clean());
        assert!(two.shutdown_timeout(Duration::from_secs(30)).is_clean());
    });
}

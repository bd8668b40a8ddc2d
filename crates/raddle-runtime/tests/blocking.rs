//! Blocking jobs on a runtime: spawned from tasks, at home in the runtime, bounded at its end.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use raddle_runtime::blocking::Refusal;
use raddle_runtime::park::ThreadDrivers;
use raddle_runtime::time::{sleep, timeout};
use raddle_runtime::{Config, Handle, Runtime, spawn, spawn_blocking};

fn runtime(workers: usize, max_threads: usize) -> Runtime {
    let mut config = Config { workers, ..Config::default() };
    config.blocking.max_threads = max_threads;
    Runtime::new(config, Box::new(ThreadDrivers)).unwrap()
}

#[test]
fn tasks_await_blocking_jobs() {
    for workers in [1, 2] {
        let sum: usize = runtime(workers, 4).run(async {
            let jobs: Vec<_> = (0..100).map(|n| spawn_blocking(move || n)).collect();
            let mut sum = 0;
            for job in jobs {
                sum += job.await.unwrap();
            }
            sum
        });
        assert_eq!(sum, 4950);
    }
}

#[test]
fn jobs_are_at_home_in_the_runtime() {
    let answer = runtime(1, 1).run(async {
        let job = spawn_blocking(|| {
            let task = spawn(async {
                sleep(Duration::from_micros(300)).await;
                6
            });
            Handle::current().block_on(async {
                sleep(Duration::from_micros(300)).await;
                task.await.unwrap() + spawn_blocking(|| 1).await.unwrap()
            })
        });
        job.await.unwrap()
    });
    assert_eq!(answer, 7);
}

#[test]
fn a_stuck_job_is_reported_and_does_not_hold_the_end() {
    // The job ends with `release`, after the run: had the run waited for it, it would not be over.
    let (release, held) = mpsc::channel::<()>();
    let dropped = Arc::new(AtomicUsize::new(0));
    let count = dropped.clone();
    let (_, report) = runtime(1, 1)
        .run_with_limit(
            async move {
                let (begun, begin) = mpsc::channel();
                spawn_blocking(move || {
                    begun.send(()).unwrap();
                    let _ = held.recv();
                })
                .detach();
                begin.recv().unwrap();
                spawn_blocking(move || count.fetch_add(1, SeqCst)).detach();
            },
            Duration::from_millis(50),
        )
        .unwrap();
    assert_eq!(report.blocking_jobs, 1);
    assert_eq!((dropped.load(SeqCst), Arc::strong_count(&dropped)), (0, 1));
    drop(release);
}

#[test]
fn a_time_out_ends_the_wait_and_not_the_job() {
    runtime(1, 1).run(async {
        let (release, held) = mpsc::channel::<()>();
        let mut job = spawn_blocking(move || held.recv().is_err());
        assert!(timeout(Duration::from_millis(1), &mut job).await.is_err());
        drop(release);
        assert!(job.await.unwrap());
    });
}

#[test]
fn refused_jobs_say_why() {
    let mut config = Config { workers: 1, ..Config::default() };
    config.blocking.max_threads = 1;
    config.blocking.queue_limit = Some(0);
    let runtime = Runtime::new(config, Box::new(ThreadDrivers)).unwrap();
    let handle = runtime.handle().clone();
    runtime.run(async {
        let (release, held) = mpsc::channel::<()>();
        let busy = spawn_blocking(move || held.recv().is_err());
        let error = spawn_blocking(|| ()).await.unwrap_err();
        assert!(error.is_cancelled() && !error.is_panic());
        assert_eq!(error.refusal(), Some(Refusal::Full));
        assert!(error.to_string().contains("is full"), "{error}");
        drop(release);
        assert!(busy.await.unwrap());
    });
    let late = handle.block_on(handle.spawn_blocking(|| ()));
    assert_eq!(late.unwrap_err().refusal(), Some(Refusal::Closed));
}

#[test]
fn an_abort_takes_back_what_has_not_begun() {
    runtime(1, 1).run(async {
        let (release, held) = mpsc::channel::<()>();
        let busy = spawn_blocking(move || held.recv().is_err());
        let queued = spawn_blocking(|| panic!("must not run"));
        queued.abort();
        drop(release);
        let error = queued.await.unwrap_err();
        assert!(error.is_cancelled() && error.refusal().is_none());
        assert!(busy.await.unwrap());
    });
}

/// A job of a pool of one thread waits for a task that waits for a job.
#[test]
fn nested_use_completes_on_one_thread_also_through_tasks() {
    fn depth(n: usize) -> usize {
        if n == 0 {
            return 0;
        }
        let task = spawn(async move { spawn_blocking(move || depth(n - 1)).await.unwrap() });
        1 + Handle::current().block_on(task).unwrap()
    }
    for workers in [1, 2] {
        assert_eq!(runtime(workers, 1).run(async { depth_in_job(5).await }), 5);
    }
    async fn depth_in_job(n: usize) -> usize {
        spawn_blocking(move || depth(n)).await.unwrap()
    }
}

/// A bounded queue holds its producer back, gives closures back, and lets nobody wait for ever.
#[test]
fn a_bounded_queue_pushes_back() {
    let mut config = Config { workers: 1, ..Config::default() };
    config.blocking.max_threads = 1;
    config.blocking.queue_limit = Some(1);
    let runtime = Runtime::new(config, Box::new(ThreadDrivers)).unwrap();
    let handle = runtime.handle().clone();
    runtime.run(async {
        let handle = Handle::current();
        let (release, held) = mpsc::channel::<()>();
        let busy = handle.try_spawn_blocking(move || held.recv().is_err()).unwrap();
        let queued = handle.try_spawn_blocking(|| 2).unwrap();
        let text = String::from("given back");
        let error = handle.try_spawn_blocking(move || text).unwrap_err();
        assert_eq!((error.refusal, error.into_job()()), (Refusal::Full, "given back".into()));
        let mut waiting = std::pin::pin!(handle.spawn_blocking_in_turn(|| 3));
        assert!(timeout(Duration::from_millis(1), &mut waiting).await.is_err());
        // One that gives up passes its turn on.
        let given_up = spawn(handle.spawn_blocking_in_turn(|| panic!("given up before its turn")));
        raddle_runtime::task::yield_now().await;
        given_up.abort();
        drop(release);
        assert!(busy.await.unwrap());
        assert_eq!(queued.await.unwrap(), 2);
        assert_eq!(waiting.await.unwrap().await.unwrap(), 3);
        for n in 0..1_000 {
            let job = handle.spawn_blocking_in_turn(move || n).await.unwrap();
            if n % 100 == 0 {
                assert_eq!(job.await.unwrap(), n);
            }
        }
    });
    // Closed while one waits: the closure comes back.
    let late = handle.block_on(handle.spawn_blocking_in_turn(|| 4));
    assert_eq!(late.unwrap_err().refusal, Refusal::Closed);
}

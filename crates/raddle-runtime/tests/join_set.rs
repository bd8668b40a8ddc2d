//! `JoinSet`: outputs as tasks end, aborts, panics, and what a drop does.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc;
use std::time::Duration;

use raddle_runtime::park::ThreadDrivers;
use raddle_runtime::task::yield_now;
use raddle_runtime::time::{sleep, timeout};
use raddle_runtime::{Config, JoinSet, Runtime, select, spawn};

fn run<F: Future>(workers: usize, future: F) -> F::Output {
    let config = Config { workers, ..Config::default() };
    Runtime::new(config, Box::new(ThreadDrivers)).unwrap().run(future)
}

/// Counts its drops.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn outputs_come_as_tasks_end() {
    run(1, async {
        let mut set = JoinSet::new();
        assert!(set.join_next().await.is_none());
        for n in [3u64, 1, 2] {
            set.spawn(async move {
                // Turns and not times: a clock goes on while the thread is stopped between two.
                for _ in 0..10 * n {
                    yield_now().await;
                }
                n
            });
        }
        assert_eq!(set.len(), 3);
        assert!(set.try_join_next().is_none());
        let mut order = Vec::new();
        while let Some(n) = set.join_next().await {
            order.push(n.unwrap());
        }
        assert_eq!(order, [1, 2, 3]);
        assert!(set.is_empty());
    });
}

#[test]
fn many_tasks_on_several_workers_are_all_taken_once() {
    const TASKS: u64 = 20_000;
    for workers in [1, 2] {
        let sum = run(workers, async {
            let mut set: JoinSet<u64> = (0..TASKS)
                .map(|n| async move {
                    if n % 3 == 0 {
                        yield_now().await;
                    }
                    n
                })
                .collect();
            let mut sum = 0;
            while let Some(n) = set.join_next().await {
                sum += n.unwrap();
            }
            sum
        });
        assert_eq!(sum, TASKS * (TASKS - 1) / 2);
    }
}

#[test]
fn all_kinds_of_tasks_are_in_one_set() {
    run(2, async {
        let mut set = JoinSet::new();
        set.spawn(async { 1 });
        set.spawn_pinned(|| async { 2 });
        set.spawn_local(async { 3 });
        set.spawn_blocking(|| 4);
        set.insert(spawn(async { 5 }));
        let mut all = set.join_all().await;
        all.sort_unstable();
        assert_eq!(all, [1, 2, 3, 4, 5]);
    });
}

#[test]
fn panics_and_aborts_are_errors_of_their_task() {
    run(1, async {
        let mut set = JoinSet::new();
        let broken = set.spawn(async { panic!("on purpose") }).id();
        let stopped = set.spawn(std::future::pending());
        stopped.abort();
        for _ in 0..2 {
            let (id, output) = set.join_next_with_id().await.unwrap();
            let error: raddle_runtime::task::JoinError = Result::<(), _>::unwrap_err(output);
            assert_eq!(error.is_panic(), id == broken);
            assert_eq!(error.is_cancelled(), id == stopped.id());
        }
        assert!(set.join_next().await.is_none());
    });
}

#[test]
fn a_drop_aborts_and_a_detach_lets_go() {
    let drops = Arc::new(AtomicUsize::new(0));
    run(1, async {
        let mut set = JoinSet::new();
        for _ in 0..10 {
            let counted = Counted(drops.clone());
            set.spawn(async move {
                let _counted = counted;
                std::future::pending::<()>().await;
            });
        }
        yield_now().await;
        drop(set);
        while drops.load(SeqCst) < 10 {
            yield_now().await;
        }
        let (told, tell) = mpsc::channel();
        let mut set = JoinSet::new();
        let told_again = told.clone();
        set.spawn(async move { told.send(1).unwrap() });
        set.detach_all();
        assert!(set.is_empty());
        // The detached task's waker must not reach the task that is in the set now.
        let waits = set.spawn(std::future::pending());
        told_again.send(2).unwrap();
        for _ in 0..10 {
            yield_now().await;
        }
        assert_eq!(tell.try_iter().count(), 2);
        assert!(set.try_join_next().is_none() && !waits.is_finished());
    });
}

#[test]
fn shutdown_ends_all() {
    let drops = Arc::new(AtomicUsize::new(0));
    run(2, async {
        let mut set = JoinSet::new();
        for _ in 0..100 {
            let counted = Counted(drops.clone());
            set.spawn(async move {
                let _counted = counted;
                sleep(Duration::from_secs(3600)).await;
            });
        }
        set.shutdown().await;
        assert!(set.is_empty());
        assert_eq!(drops.load(SeqCst), 100);
    });
}

#[test]
fn a_dropped_wait_loses_nothing() {
    run(1, async {
        let mut set = JoinSet::new();
        let (release, held) = mpsc::channel::<()>();
        set.spawn_blocking(move || held.recv().is_err());
        assert!(timeout(Duration::from_millis(1), set.join_next()).await.is_err());
        drop(release);
        let mut ticks = 0;
        let output = loop {
            select! {
                output = set.join_next() => break output,
                () = yield_now() => ticks += 1,
            }
        };
        assert_eq!(output.map(Result::unwrap), Some(true), "after {ticks} yields");
    });
}

/// A loop over outputs that are all there gives way to the task's siblings.
#[test]
fn joining_spends_budget() {
    run(1, async {
        let mut set: JoinSet<usize> = (0..1000).map(|n| async move { n }).collect();
        while !set.is_empty() && set.try_join_next().is_none() {
            yield_now().await;
        }
        let joiner = spawn(async move {
            let mut taken = 0;
            while set.join_next().await.is_some() {
                taken += 1;
            }
            taken
        });
        let mut joiner = pin!(joiner);
        let mut turns = 0;
        let taken = loop {
            select! {
                biased;
                taken = &mut joiner => break taken.unwrap(),
                () = yield_now() => turns += 1,
            }
        };
        assert_eq!(taken, 999);
        assert!(turns >= 999 / 128, "{turns} turns");
    });
}

/// A job that waits for a set of jobs gives its thread of a pool of one to them.
#[test]
fn a_set_in_a_blocking_job_does_not_hold_the_pool() {
    let mut config = Config { workers: 1, ..Config::default() };
    config.blocking.max_threads = 1;
    let runtime = Runtime::new(config, Box::new(ThreadDrivers)).unwrap();
    let sum = runtime.run(async {
        let job = raddle_runtime::spawn_blocking(|| {
            let mut set = JoinSet::new();
            for n in 0..5 {
                set.spawn_blocking(move || n);
            }
            raddle_runtime::Handle::current().block_on(set.join_all()).into_iter().sum::<i32>()
        });
        job.await.unwrap()
    });
    assert_eq!(sum, 10);
}

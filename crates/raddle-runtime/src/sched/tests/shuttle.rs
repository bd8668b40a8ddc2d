//! Whole runtimes on schedules drawn by shuttle: threads that sleep, wake, steal and end, without
//! drivers, monitor or real time.
//!
//! Each run ends with everything completed, and until its shutdown the run's clock never jumped:
//! nobody slept through a wake and was saved by a deadline. A deadlock fails by itself. The seeds
//! are fixed; a failure prints the seed and the schedule.

use std::sync::Arc;
use std::time::Duration;

use raddle_base::shim::atomic::AtomicUsize;
use raddle_base::shim::atomic::Ordering::{AcqRel, Acquire};
use raddle_base::shim::model::shuffle;
use raddle_base::shim::thread;
use raddle_base::shim::world;
use raddle_sync::{Notify, oneshot};

use crate::park::ThreadDrivers;
use crate::task::yield_now;
use crate::{Config, Handle, Runtime, block_in_place, spawn, spawn_local};

/// Iterations of each kind of schedule.
const ITERATIONS: usize = 400;

fn runtime(workers: usize) -> Runtime {
    let config = Config { workers, monitor: false, stand_ins: Some(2), ..Config::default() };
    Runtime::new(config, Box::new(ThreadDrivers)).unwrap()
}

/// Runs `f` with a runtime of `workers` and shuts that down; all is to be done before.
fn with_runtime(workers: usize, f: impl FnOnce(&Runtime)) {
    let runtime = runtime(workers);
    f(&runtime);
    assert_eq!(world::jumps(), 0, "somebody was woken by a deadline only");
    let report = runtime.shutdown_timeout(Duration::from_secs(1));
    assert!(report.is_clean(), "{report}");
}

/// A task that spawns two, each of which spawns two, and joins them; how many there were.
fn tree(depth: usize) -> std::pin::Pin<Box<dyn Future<Output = usize> + Send>> {
    Box::pin(async move {
        if depth == 0 {
            return 1;
        }
        let (left, right) = (spawn(tree(depth - 1)), spawn(tree(depth - 1)));
        left.await.unwrap() + right.await.unwrap()
    })
}

#[test]
fn shuttle_trees_of_tasks_are_joined() {
    shuffle(1, ITERATIONS, || {
        with_runtime(2, |runtime| {
            assert_eq!(runtime.block_on(runtime.spawn(tree(2))).unwrap(), 4);
        });
    });
}

#[test]
fn shuttle_wakes_from_other_threads_arrive() {
    shuffle(2, ITERATIONS, || {
        with_runtime(2, |runtime| {
            let bell = Arc::new(Notify::new());
            let heard = Arc::new(AtomicUsize::new(0));
            let tasks: Vec<_> = (0..2)
                .map(|_| {
                    let (bell, heard) = (bell.clone(), heard.clone());
                    runtime.spawn(async move {
                        bell.notified().await;
                        heard.fetch_add(1, AcqRel);
                    })
                })
                .collect();
            let ringers: Vec<_> = (0..2)
                .map(|_| {
                    let bell = bell.clone();
                    thread::spawn(move || bell.notify_one())
                })
                .collect();
            ringers.into_iter().for_each(|ringer| ringer.join().unwrap());
            // Two permits at once are one: ring again for whoever waits still.
            while heard.load(Acquire) < 2 {
                bell.notify_one();
                thread::yield_now();
            }
            tasks.into_iter().for_each(|task| runtime.block_on(task).unwrap());
        });
    });
}

#[test]
fn shuttle_a_burst_of_one_worker_is_stolen_by_the_other() {
    shuffle(3, ITERATIONS, || {
        with_runtime(2, |runtime| {
            let burst = runtime.spawn(async {
                // More than a ring of the model's holds.
                let tasks: Vec<_> = (0..6)
                    .map(|n| {
                        spawn(async move {
                            yield_now().await;
                            n
                        })
                    })
                    .collect();
                let mut sum = 0;
                for task in tasks {
                    sum += task.await.unwrap();
                }
                sum
            });
            assert_eq!(runtime.block_on(burst).unwrap(), 15);
        });
    });
}

#[test]
fn shuttle_a_blocking_section_is_stood_in_for() {
    shuffle(4, ITERATIONS, || {
        with_runtime(1, |runtime| {
            let section = runtime.spawn(async {
                let (done, wait) = oneshot::channel();
                spawn(async move { done.send(7).unwrap() }).detach();
                // Only a stand-in can run the other task.
                block_in_place(|| raddle_sync::block_on(wait)).unwrap()
            });
            assert_eq!(runtime.block_on(section).unwrap(), 7);
        });
    });
}

#[test]
fn shuttle_pinned_and_free_tasks_wake_each_other() {
    shuffle(5, ITERATIONS, || {
        with_runtime(2, |runtime| {
            let task = runtime.spawn(async {
                let (to_free, from_pinned) = oneshot::channel();
                let (to_pinned, from_free) = oneshot::channel();
                let pinned = spawn_local(async move {
                    to_free.send(1).unwrap();
                    from_free.await.unwrap()
                });
                let free = spawn(async move {
                    let got: i32 = from_pinned.await.unwrap();
                    to_pinned.send(got + 1).unwrap();
                });
                free.await.unwrap();
                pinned.await.unwrap()
            });
            assert_eq!(runtime.block_on(task).unwrap(), 2);
        });
    });
}

#[test]
fn shuttle_workers_fall_asleep_and_are_woken_again() {
    shuffle(6, ITERATIONS, || {
        with_runtime(2, |runtime| {
            for n in 0..4 {
                assert_eq!(runtime.block_on(runtime.spawn(async move { n })).unwrap(), n);
            }
        });
    });
}

#[test]
fn shuttle_the_callers_thread_is_a_worker_too() {
    shuffle(7, ITERATIONS, || {
        let sum = runtime(2).run(async {
            let tasks: Vec<_> = (0..3).map(|n| spawn(async move { n })).collect();
            let mut sum = 0;
            for task in tasks {
                sum += task.await.unwrap();
            }
            assert_eq!(world::jumps(), 0, "somebody was woken by a deadline only");
            sum
        });
        assert_eq!(sum, 3);
    });
}

/// Counts its drop.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, AcqRel);
    }
}

#[test]
fn shuttle_a_shutdown_drops_what_is_alive_once() {
    shuffle(8, ITERATIONS, || {
        let (runtime, drops) = (runtime(2), Arc::new(AtomicUsize::new(0)));
        let task = |handle: &Handle| {
            let counted = Counted(drops.clone());
            handle
                .spawn(async move {
                    let _counted = counted;
                    let inner = Notify::new();
                    yield_now().await;
                    inner.notified().await;
                })
                .detach();
        };
        (0..2).for_each(|_| task(runtime.handle()));
        let handle = runtime.handle().clone();
        let counted = Counted(drops.clone());
        let late = thread::spawn(move || {
            handle
                .spawn(async move {
                    let _counted = counted;
                    loop {
                        yield_now().await;
                    }
                })
                .detach();
        });
        let report = runtime.shutdown_timeout(Duration::from_secs(1));
        assert!(report.is_clean(), "{report}");
        late.join().unwrap();
        assert_eq!(drops.load(Acquire), 3);
    });
}

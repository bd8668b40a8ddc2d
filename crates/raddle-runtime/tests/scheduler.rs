//! The scheduler through its public face, without a kernel: spawn, join, abort, yield, fairness.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use raddle_runtime::park::ThreadDrivers;
use raddle_runtime::task::yield_now;
use raddle_runtime::{
    Config, Handle, Runtime, block_in_place, spawn, spawn_blocking, spawn_local, spawn_pinned,
};

#[path = "scheduler/settling.rs"]
mod settling;

fn runtime(workers: usize) -> Runtime {
    let config = Config { workers, ..Config::default() };
    Runtime::new(config, Box::new(ThreadDrivers)).unwrap()
}

#[test]
fn run_gives_the_output_and_borrows_from_the_stack() {
    for workers in [1, 2, 4] {
        let text = String::from("borrowed");
        let length = runtime(workers).run(async { text.len() });
        assert_eq!(length, 8);
    }
}

#[test]
fn spawned_tasks_give_their_outputs() {
    for workers in [1, 2] {
        let sum: usize = runtime(workers).run(async {
            let tasks: Vec<_> = (0..1000).map(|n| spawn(async move { n })).collect();
            let mut sum = 0;
            for task in tasks {
                sum += task.await.unwrap();
            }
            sum
        });
        assert_eq!(sum, 499_500);
    }
}

#[test]
fn yields_rotate_strictly_beyond_the_ring() {
    // One worker, and no stand-in however long a poll takes on this machine: the order is its own.
    let config = Config { workers: 1, monitor: false, ..Config::default() };
    Runtime::new(config, Box::new(ThreadDrivers)).unwrap().run(async {
        const TASKS: usize = 1000;
        let rounds: Arc<Vec<AtomicUsize>> =
            Arc::new((0..TASKS).map(|_| AtomicUsize::new(0)).collect());
        let worst = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..TASKS)
            .map(|me| {
                let (rounds, worst) = (rounds.clone(), worst.clone());
                spawn(async move {
                    for round in 0..100 {
                        rounds[me].store(round, Ordering::Relaxed);
                        // In strict rotation nobody is more than one round from a neighbour.
                        let next = rounds[(me + 1) % TASKS].load(Ordering::Relaxed);
                        worst.fetch_max(round.abs_diff(next), Ordering::Relaxed);
                        yield_now().await;
                    }
                    rounds[me].store(100, Ordering::Relaxed);
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert!(worst.load(Ordering::Relaxed) <= 1, "{worst:?}");
    });
}

#[test]
fn a_panic_reaches_the_joiner() {
    runtime(1).run(async {
        let error = spawn(async { panic!("boom") }).await.unwrap_err();
        assert!(error.is_panic());
        assert_eq!(error.panic_message(), Some("boom"));
    });
}

#[test]
fn an_abort_drops_the_future_and_resolves_the_handle() {
    struct Dropped(Arc<AtomicUsize>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    runtime(1).run(async {
        let drops = Arc::new(AtomicUsize::new(0));
        let guard = Dropped(drops.clone());
        let task = spawn(async move {
            let _guard = guard;
            std::future::pending::<()>().await;
        });
        yield_now().await;
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        assert_eq!(drops.load(Ordering::SeqCst), 1);
        // Aborted before it ever ran.
        let guard = Dropped(drops.clone());
        let task = spawn(async move { drop(guard) });
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        assert_eq!(drops.load(Ordering::SeqCst), 2);
    });
}

#[test]
fn pinned_tasks_may_hold_anything_and_stay() {
    for workers in [1, 3] {
        runtime(workers).run(async {
            let tasks: Vec<_> = (0..100)
                .map(|n| {
                    spawn_pinned(move || async move {
                        let shared = Rc::new(Cell::new(n));
                        let home = std::thread::current().id();
                        for _ in 0..10 {
                            yield_now().await;
                            assert_eq!(std::thread::current().id(), home);
                            shared.set(shared.get() + 1);
                        }
                        shared.get()
                    })
                })
                .collect();
            for (n, task) in tasks.into_iter().enumerate() {
                assert_eq!(task.await.unwrap(), n + 10);
            }
            let local = Rc::new(5);
            let theirs = local.clone();
            assert_eq!(*spawn_local(async move { theirs }).await.unwrap(), 5);
            drop(local);
        });
    }
}

#[test]
fn foreign_threads_spawn_and_block() {
    for workers in [1, 2] {
        let runtime = runtime(workers);
        let handle = runtime.handle().clone();
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let handle = handle.clone();
                std::thread::spawn(move || {
                    (0..200)
                        .map(|n| handle.block_on(handle.spawn(async move { n })).unwrap())
                        .sum::<usize>()
                })
            })
            .collect();
        let total: usize =
            runtime.block_on(async { threads.into_iter().map(|t| t.join().unwrap()).sum() });
        assert_eq!(total, 4 * 19_900);
        assert!(runtime.shutdown_timeout(std::time::Duration::from_secs(60)).is_clean());
    }
}

#[test]
fn tasks_that_are_left_are_dropped_when_the_main_future_ends() {
    struct Dropped(Arc<AtomicUsize>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    for workers in [1, 2] {
        let drops = Arc::new(AtomicUsize::new(0));
        runtime(workers).run(async {
            for n in 0..100 {
                let guard = Dropped(drops.clone());
                spawn(async move {
                    let _guard = guard;
                    match n % 3 {
                        0 => std::future::pending().await,
                        1 => loop {
                            yield_now().await;
                        },
                        _ => {}
                    }
                })
                .detach();
                let guard = Dropped(drops.clone());
                spawn_pinned(move || async move {
                    let _guard = guard;
                    std::future::pending::<()>().await;
                })
                .detach();
            }
            yield_now().await;
        });
        assert_eq!(drops.load(Ordering::SeqCst), 200);
    }
}

#[test]
fn many_tasks_wake_each_other_across_workers() {
    runtime(3).run(async {
        let hops = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..50)
            .map(|_| {
                let hops = hops.clone();
                spawn(async move {
                    for _ in 0..100 {
                        let hops = hops.clone();
                        spawn(async move { hops.fetch_add(1, Ordering::Relaxed) }).await.unwrap();
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(hops.load(Ordering::Relaxed), 5000);
    });
}

#[test]
fn spawning_after_the_end_gives_a_cancelled_handle() {
    let runtime = runtime(1);
    let handle = runtime.handle().clone();
    runtime.block_on(async {});
    drop(runtime);
    let task = handle.spawn(async { 1 });
    assert!(handle.block_on(task).unwrap_err().is_cancelled());
    assert!(Handle::try_current().is_none());
}

#[test]
#[should_panic(expected = "belongs to no raddle runtime")]
fn spawn_without_a_runtime_says_so() {
    drop(spawn(async {}));
}

#[test]
fn block_on_inside_a_task_is_refused_with_advice() {
    runtime(1).run(async {
        let handle = Handle::current();
        let error = spawn(async move { handle.block_on(async {}) }).await.unwrap_err();
        assert!(error.panic_message().unwrap().contains("await the future instead"));
    });
}

#[test]
fn blocking_jobs_give_outputs_and_panics() {
    runtime(1).run(async {
        assert_eq!(spawn_blocking(|| 7).await.unwrap(), 7);
        let error = spawn_blocking(|| -> u32 { panic!("job") }).await.unwrap_err();
        assert_eq!(error.panic_message(), Some("job"));
        let nested = spawn_blocking(|| Handle::current().block_on(spawn(async { 3 })).unwrap());
        assert_eq!(nested.await.unwrap(), 3);
    });
}

#[test]
fn a_blocking_section_hands_the_other_tasks_over() {
    for workers in [1, 2] {
        runtime(workers).run(async {
            for _ in 0..3 {
                let (done, wait) = std::sync::mpsc::channel();
                let section = spawn(async move {
                    // Queued behind this very task: somebody else must run it.
                    let neighbour = spawn(async move { done.send(()).unwrap() });
                    block_in_place(|| wait.recv().unwrap());
                    neighbour.await.unwrap();
                    5
                });
                assert_eq!(section.await.unwrap(), 5);
            }
        });
    }
}

#[test]
fn timers_fire_while_their_worker_is_in_a_blocking_section() {
    use raddle_runtime::time::sleep;
    use std::time::Duration;
    runtime(1).run(async {
        let (done, wait) = std::sync::mpsc::channel();
        let timer = spawn(async move {
            sleep(Duration::from_millis(1)).await;
            done.send(()).unwrap();
        });
        yield_now().await;
        spawn(async move { block_in_place(|| wait.recv().unwrap()) }).await.unwrap();
        timer.await.unwrap();
    });
}

#[test]
fn a_busy_stand_in_looks_after_the_worker_that_is_away() {
    runtime(1).run(async {
        let stop = Arc::new(AtomicUsize::new(0));
        let flag = stop.clone();
        // Keeps the stand-in busy for as long as the section lasts.
        let yielder = spawn(async move {
            while flag.load(Ordering::Relaxed) == 0 {
                yield_now().await;
            }
        });
        yield_now().await;
        let (done, wait) = std::sync::mpsc::channel();
        let section = spawn(async move {
            let handle = Handle::current();
            block_in_place(move || {
                // Comes from a foreign thread, and is woken there as well.
                let outside = std::thread::spawn(move || {
                    let answer = handle.block_on(handle.spawn(async { 9 })).unwrap();
                    done.send(answer).unwrap();
                });
                assert_eq!(wait.recv().unwrap(), 9);
                outside.join().unwrap();
            });
        });
        section.await.unwrap();
        stop.store(1, Ordering::Relaxed);
        yielder.await.unwrap();
    });
}

/// Spawns a task and waits until it has run, which needs somebody else to run it.
fn wait_for_another() {
    let (tell, told) = std::sync::mpsc::channel();
    spawn(async move { tell.send(()).unwrap() }).detach();
    told.recv().unwrap();
}

#[test]
fn a_section_in_what_another_section_blocks_on_is_a_part_of_it() {
    runtime(1).run(async {
        spawn(async {
            block_in_place(|| raddle_sync::block_on(async { block_in_place(|| ()) }));
            block_in_place(|| {
                raddle_sync::block_on(async { block_in_place(wait_for_another) });
                wait_for_another();
            });
            block_in_place(wait_for_another);
        })
        .await
        .unwrap();
    });
}

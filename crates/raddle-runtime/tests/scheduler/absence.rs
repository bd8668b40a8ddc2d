//! Workers that are absent: who looks after them, and stand-ins that cannot be had.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use raddle_runtime::blocking::BlockingPool;
use raddle_runtime::park::{Driver, Drivers, Remote, ThreadDrivers};
use raddle_runtime::task::yield_now;
use raddle_runtime::{Config, Others, Runtime, block_in_place, spawn, spawn_pinned};

use crate::runtime;

/// Longer than anything here takes; a wait that ends by it has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// Makes no driver for a stand-in until it was asked so many times.
struct Scarce {
    workers: usize,
    refusals: AtomicUsize,
}

impl Drivers for Scarce {
    fn make(
        &self,
        worker: usize,
        blocking: &Arc<BlockingPool>,
    ) -> io::Result<(Box<dyn Driver>, Arc<dyn Remote>)> {
        let refuse = |left: usize| left.checked_sub(1);
        let refused = worker >= self.workers
            && self.refusals.fetch_update(Ordering::AcqRel, Ordering::Acquire, refuse).is_ok();
        if refused {
            return Err(io::Error::other("no descriptors are left"));
        }
        ThreadDrivers.make(worker, blocking)
    }
}

fn scarce(config: Config, refusals: usize) -> Runtime {
    let drivers = Scarce { workers: config.workers, refusals: AtomicUsize::new(refusals) };
    Runtime::new(config, Box::new(drivers)).unwrap()
}

#[test]
fn a_stand_in_that_cannot_be_had_is_tried_for_again() {
    for refusals in [1, 3] {
        let runtime = scarce(Config { workers: 1, ..Config::default() }, refusals);
        let (done, wait) = mpsc::channel();
        let section = runtime.spawn(async move {
            // Queued behind this very task: somebody else must run it.
            spawn(async move { done.send(()).unwrap() }).detach();
            block_in_place(|| wait.recv_timeout(PATIENCE))
        });
        assert_eq!(runtime.block_on(section).unwrap(), Ok(()));
    }
}

#[test]
fn a_report_says_that_nobody_could_take_over() {
    let (tell, told) = mpsc::channel();
    let config = Config {
        workers: 1,
        report_after: Some(Duration::from_millis(20)),
        on_stuck_task: Some(Arc::new(move |task| {
            // The test may be over.
            let _ = tell.send(task.others);
        })),
        ..Config::default()
    };
    let runtime = scarce(config, usize::MAX);
    let stuck = runtime.spawn(async move {
        spawn(async {}).detach();
        told.recv_timeout(PATIENCE)
    });
    assert_eq!(runtime.block_on(stuck).unwrap(), Ok(Others::NoStandIn));
    assert_eq!(runtime.block_on(runtime.spawn(async { 7 })).unwrap(), 7);
}

/// Not the last one's destructor decides when a worker's thread ends, but the limit.
#[test]
fn a_worker_drops_queued_tasks_until_the_limit() {
    const TASKS: usize = 300;
    /// Takes its time, and counts.
    struct Slow(Arc<AtomicUsize>);
    impl Drop for Slow {
        fn drop(&mut self) {
            std::thread::sleep(Duration::from_millis(1));
            self.0.fetch_add(1, Ordering::AcqRel);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let (tell, told) = mpsc::channel();
    let count = dropped.clone();
    let stopped = move |_| tell.send(count.load(Ordering::Acquire)).unwrap();
    let config =
        Config { workers: 1, on_thread_stop: Some(Arc::new(stopped)), ..Config::default() };
    let runtime = Runtime::new(config, Box::new(ThreadDrivers)).unwrap();
    let started = Arc::new(AtomicUsize::new(0));
    let entered = runtime.handle().enter();
    for _ in 0..TASKS {
        let (slow, started) = (Slow(dropped.clone()), started.clone());
        spawn_pinned(move || async move {
            let _slow = slow;
            started.fetch_add(1, Ordering::AcqRel);
            loop {
                yield_now().await;
            }
        })
        .detach();
    }
    drop(entered);
    while started.load(Ordering::Acquire) < TASKS {
        std::thread::yield_now();
    }
    let report = runtime.shutdown_timeout(Duration::from_millis(1));
    assert!(!report.tasks.is_empty());
    assert!(told.recv_timeout(PATIENCE).unwrap() < TASKS);
}

#[test]
fn one_sleeper_and_not_all_visits_a_worker_that_is_absent() {
    let runtime = runtime(5);
    let done = Arc::new(AtomicBool::new(false));
    let (entered, is_in) = mpsc::channel();
    let flag = done.clone();
    let section = runtime.spawn(async move {
        block_in_place(|| {
            entered.send(()).unwrap();
            while !flag.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
        });
    });
    is_in.recv().unwrap();
    let parks = || -> Vec<u64> {
        runtime.handle().metrics().workers.iter().map(|worker| worker.parks).collect()
    };
    let before = parks();
    let (most, all) = loop {
        let more: Vec<_> = parks().iter().zip(&before).map(|(now, then)| now - then).collect();
        let (most, all) = (more.iter().max().copied().unwrap(), more.iter().sum::<u64>());
        if most >= 60 {
            break (most, all);
        }
        std::thread::yield_now();
    };
    done.store(true, Ordering::Release);
    runtime.block_on(section).unwrap();
    assert!(all - most < most / 2, "{most} sleeps of the watcher, {} of others", all - most);
}

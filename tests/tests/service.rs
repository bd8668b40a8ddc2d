//! Bounded service: what other tasks do on the only worker does not decide who is served.
//!
//! Everything here is counted in turns, not in time: with endless yielders on the one worker, an
//! event from outside must come through before any of them has ended. There is no monitor, so that
//! the one worker stays the only one however slow the machine is.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use raddle::net::UnixStream;
use raddle::sync::Notify;
use raddle::task::yield_now;
use raddle::time::sleep;
use raddle::{Builder, Runtime};
use raddle_tests::watched;

/// A one-worker runtime with `yielders` tasks that yield until the flag is set.
fn busy(yielders: usize) -> (Runtime, Arc<AtomicBool>) {
    let runtime = Builder::new().workers(1).monitor(false).build().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    for _ in 0..yielders {
        let stop = stop.clone();
        runtime
            .spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    yield_now().await;
                }
            })
            .detach();
    }
    (runtime, stop)
}

#[test]
fn remote_spawns_are_served_between_yields() {
    watched(|| {
        for yielders in [1, 64, 5000] {
            let (runtime, stop) = busy(yielders);
            for n in 0..100 {
                assert_eq!(runtime.block_on(runtime.spawn(async move { n })).unwrap(), n);
            }
            stop.store(true, Ordering::Relaxed);
        }
    });
}

#[test]
fn timers_fire_between_yields() {
    watched(|| {
        let (runtime, stop) = busy(64);
        let task = runtime.spawn(async {
            for _ in 0..20 {
                sleep(Duration::from_micros(200)).await;
            }
        });
        runtime.block_on(task).unwrap();
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn ready_io_is_served_between_yields() {
    watched(|| {
        let (runtime, stop) = busy(64);
        let task = runtime.spawn(async {
            let (near, far) = UnixStream::pair().unwrap();
            let echo = raddle::spawn(async move {
                let mut byte = [0];
                while far.read(&mut byte).await.unwrap() == 1 {
                    far.write_all(&byte).await.unwrap();
                }
            });
            for n in 0..50 {
                near.write_all(&[n]).await.unwrap();
                let mut byte = [0];
                near.read_exact(&mut byte).await.unwrap();
                assert_eq!(byte, [n]);
            }
            drop(near);
            echo.await.unwrap();
        });
        runtime.block_on(task).unwrap();
        stop.store(true, Ordering::Relaxed);
    });
}

/// What worker 0 did while it yielded: looks at the driver, and readings of the clock.
async fn cost_of_yields(runtime: &Runtime) -> (u64, u64) {
    let before = runtime.metrics().workers.remove(0);
    for _ in 0..50_000 {
        yield_now().await;
    }
    let after = runtime.metrics().workers.remove(0);
    (after.looks - before.looks, after.clock_reads - before.clock_reads)
}

#[test]
fn a_worker_nobody_waits_on_for_io_asks_neither_clock_nor_kernel() {
    watched(|| {
        let runtime = Arc::new(Builder::new().workers(1).monitor(false).build().unwrap());
        let inner = runtime.clone();
        let task = runtime.spawn(async move {
            let (near, far) = UnixStream::pair().unwrap();
            let reader = raddle::spawn(async move {
                let mut byte = [0];
                far.read_exact(&mut byte).await.unwrap();
                far
            });
            yield_now().await;
            near.write_all(&[7]).await.unwrap();
            let far = reader.await.unwrap();
            // Both ends are known to the driver, nobody waits for either, no timer is armed.
            // What was prepared by then goes to the kernel first.
            sleep(Duration::from_millis(1)).await;
            assert_eq!(cost_of_yields(&inner).await, (0, 0));
            // And with somebody waiting, whoever has to be asked is asked.
            let waiter = raddle::spawn(async move { far.read(&mut [0]).await });
            yield_now().await;
            let (looks, _) = cost_of_yields(&inner).await;
            assert!(looks > 0 || inner.io().backend() == raddle::Backend::Uring);
            drop((near, inner));
            assert_eq!(waiter.await.unwrap().unwrap(), 0);
        });
        runtime.block_on(task).unwrap();
    });
}

#[test]
fn two_tasks_that_wake_each_other_do_not_starve_a_third() {
    watched(|| {
        let runtime = Builder::new().workers(1).monitor(false).build().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let bells = [Arc::new(Notify::new()), Arc::new(Notify::new())];
        let rounds = Arc::new(AtomicU64::new(0));
        for me in 0..2 {
            let (mine, theirs) = (bells[me].clone(), bells[1 - me].clone());
            let (stop, rounds) = (stop.clone(), rounds.clone());
            runtime
                .spawn(async move {
                    while !stop.load(Ordering::Relaxed) {
                        mine.notified().await;
                        rounds.fetch_add(1, Ordering::Relaxed);
                        theirs.notify_one();
                    }
                })
                .detach();
        }
        bells[0].notify_one();
        let (count, seen) = (rounds.clone(), stop.clone());
        let third = runtime.spawn(async move {
            while count.load(Ordering::Relaxed) == 0 {
                yield_now().await;
            }
            let begin = count.load(Ordering::Relaxed);
            for _ in 0..1000 {
                yield_now().await;
            }
            seen.store(true, Ordering::Relaxed);
            count.load(Ordering::Relaxed) - begin
        });
        let others = runtime.block_on(third).unwrap();
        // Three slot runs, then the queues: the third runs at least once in eight dispatches.
        assert!(others <= 8 * 1000, "{others} runs of the pair for 1000 of the third");
    });
}

#[test]
fn free_and_pinned_tasks_take_turns() {
    watched(|| {
        let runtime = Builder::new().workers(1).monitor(false).build().unwrap();
        let counts = [Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0))];
        let (free, pinned) = (counts[0].clone(), counts[1].clone());
        let (ratio, wait) = mpsc::channel();
        runtime
            .spawn(async move {
                let endless = |count: Arc<AtomicU64>| async move {
                    loop {
                        count.fetch_add(1, Ordering::Relaxed);
                        yield_now().await;
                    }
                };
                raddle::spawn(endless(free.clone())).detach();
                raddle::spawn_local(endless(pinned.clone())).detach();
                while free.load(Ordering::Relaxed) + pinned.load(Ordering::Relaxed) < 10_000 {
                    yield_now().await;
                }
                ratio.send((free.load(Ordering::Relaxed), pinned.load(Ordering::Relaxed))).unwrap();
                pending::<()>().await;
            })
            .detach();
        let (free, pinned) = wait.recv().unwrap();
        // This task and the free counter share the free side.
        assert!(free * 3 > pinned && pinned * 3 > free, "{free} free, {pinned} pinned");
    });
}

#[test]
fn an_unloaded_worker_takes_what_a_busy_one_has_queued() {
    watched(|| {
        let runtime = Builder::new().workers(2).build().unwrap();
        let (done, wait) = mpsc::channel();
        let task = runtime.spawn(async move {
            for n in 0..10 {
                let done = done.clone();
                raddle::spawn(async move { done.send(n).unwrap() }).detach();
            }
            drop(done);
            // Busy until all ten have run, which only the other worker can do.
            let mut ran: Vec<i32> = wait.iter().collect();
            ran.sort_unstable();
            assert_eq!(ran, (0..10).collect::<Vec<_>>());
        });
        runtime.block_on(task).unwrap();
    });
}

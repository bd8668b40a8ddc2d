//! Timers on a runtime: never early, none lost, on whichever thread they are armed.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use raddle_base::random::Rng;
use raddle_runtime::park::ThreadDrivers;
use raddle_runtime::task::yield_now;
use raddle_runtime::time::{
    Instant, MissedTickBehavior, interval, interval_at, sleep, sleep_until, timeout,
};
use raddle_runtime::{Config, JoinSet, Runtime, select, spawn};

fn runtime(workers: usize) -> Runtime {
    let config = Config { workers, ..Config::default() };
    Runtime::new(config, Box::new(ThreadDrivers)).unwrap()
}

fn run<F: Future>(workers: usize, future: F) -> F::Output {
    runtime(workers).run(future)
}

fn micros(n: u64) -> Duration {
    Duration::from_micros(n)
}

#[test]
fn many_sleeps_are_never_early_and_all_fire() {
    const TASKS: u64 = 10_000;
    for workers in [1, 2] {
        run(workers, async {
            let mut set = JoinSet::new();
            let mut rng = Rng::new(7);
            for _ in 0..TASKS {
                let time = micros(u64::from(rng.below(10_000)));
                set.spawn(async move {
                    let start = Instant::now();
                    sleep(time).await;
                    start.elapsed() >= time
                });
            }
            let mut count = 0;
            while let Some(in_time) = set.join_next().await {
                assert!(in_time.unwrap(), "early");
                count += 1;
            }
            assert_eq!(count, TASKS);
        });
    }
}

/// Sleeps dropped and reset at random among those that are awaited, on two workers.
#[test]
fn cancelled_and_reset_sleeps_leave_the_others_alone() {
    run(2, async {
        let fired = Arc::new(AtomicUsize::new(0));
        let mut set = JoinSet::new();
        for seed in 0..500 {
            let fired = fired.clone();
            set.spawn(async move {
                let mut rng = Rng::new(seed);
                for _ in 0..20 {
                    let short = micros(u64::from(rng.below(400)));
                    // The long one is armed by the select, and dropped by it.
                    select! {
                        biased;
                        () = sleep(Duration::from_secs(3600)) => unreachable!(),
                        () = sleep(short) => fired.fetch_add(1, SeqCst),
                    };
                    let mut moved = pin!(sleep(Duration::from_secs(3600)));
                    assert!(timeout(micros(10), &mut moved).await.is_err());
                    let deadline = Instant::now() + short;
                    moved.as_mut().reset(deadline);
                    moved.await;
                    assert!(Instant::now() >= deadline);
                    fired.fetch_add(1, SeqCst);
                }
            });
        }
        set.join_all().await;
        assert_eq!(fired.load(SeqCst), 500 * 40);
    });
}

/// A thread that only blocks on futures arms its timers with a worker, which it has to wake.
#[test]
fn timers_of_other_threads_fire() {
    let runtime = runtime(1);
    let handle = runtime.handle().clone();
    for time in [300, 100, 10, 0] {
        let start = Instant::now();
        runtime.block_on(sleep(micros(time)));
        assert!(start.elapsed() >= micros(time));
    }
    let threads: Vec<_> = (1..4)
        .map(|n| {
            let handle = handle.clone();
            std::thread::spawn(move || {
                for _ in 0..100 {
                    handle.block_on(sleep(micros(50 * n)));
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// A due timer is served among tasks that yield for ever.
#[test]
fn timers_are_served_while_tasks_spin() {
    for workers in [1, 2] {
        run(workers, async {
            let mut spinners = JoinSet::new();
            for _ in 0..64 {
                spinners.spawn(async {
                    loop {
                        yield_now().await;
                    }
                });
            }
            for _ in 0..50 {
                spawn(sleep(micros(100))).await.unwrap();
            }
        });
    }
}

#[test]
fn an_interval_ticks_by_the_clock_and_not_by_the_consumer() {
    run(1, async {
        let period = micros(500);
        let start = Instant::now() + period;
        let mut ticks = interval_at(start, period);
        for n in 0..20 {
            let due = ticks.tick().await;
            assert_eq!(due, start + period * n);
            assert!(Instant::now() >= due);
        }
        // Away for longer than what counts as late: skipped ticks do not come back.
        let mut ticks = interval(Duration::from_millis(1));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let first = ticks.tick().await;
        sleep(Duration::from_millis(20)).await;
        let late = ticks.tick().await;
        let next = ticks.tick().await;
        assert_eq!(late, first + Duration::from_millis(1));
        assert!(next >= first + Duration::from_millis(20));
        assert_eq!((next - first).as_nanos() % 1_000_000, 0, "still on the grid");
    });
}

#[test]
fn extremes_are_legal() {
    run(1, async {
        sleep(Duration::ZERO).await;
        sleep_until(Instant::from_nanos(0)).await;
        assert!(timeout(Duration::ZERO, sleep(Duration::MAX)).await.is_err());
        assert_eq!(timeout(Duration::MAX, async { 5 }).await, Ok(5));
        let never = spawn(sleep_until(Instant::FAR_FUTURE));
        sleep(micros(200)).await;
        assert!(!never.is_finished());
        never.abort();
        assert!(never.await.unwrap_err().is_cancelled());
    });
}

/// A sleep that was armed inside a runtime, and is polled after its end.
#[test]
fn after_the_end_a_sleep_panics_with_the_reason() {
    let mut armed = Box::pin(sleep(Duration::from_secs(3600)));
    run(1, async {
        assert!(timeout(micros(100), &mut armed).await.is_err());
    });
    let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        let _ = armed.as_mut().poll(&mut cx);
    }))
    .unwrap_err();
    let text = payload.downcast_ref::<String>().unwrap();
    assert!(text.contains("has shut down"), "{text}");
}

//! Each figure gets samples when there is something to measure, and none with sampling off.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use raddle::metrics::WorkerMetrics;
use raddle::net::UnixStream;
use raddle::sync::Notify;
use raddle::task::{JoinHandle, yield_now};
use raddle::time::sleep;
use raddle::{Builder, Io, Runtime, spawn};
use raddle_tests::watched;

use super::{runtime, until, wait_of};

/// A task that yields until the flag is set.
fn yielder(runtime: &Runtime, stop: &Arc<AtomicBool>) -> JoinHandle<()> {
    let stop = stop.clone();
    runtime.spawn(async move {
        while !stop.load(Ordering::Relaxed) {
            yield_now().await;
        }
    })
}

async fn echo(rounds: usize) {
    let (near, far) = UnixStream::pair().unwrap();
    let other = spawn(async move {
        let mut byte = [0];
        while far.read(&mut byte).await.unwrap() == 1 {
            far.write_all(&byte).await.unwrap();
        }
    });
    for _ in 0..rounds {
        near.write_all(&[1]).await.unwrap();
        near.read_exact(&mut [0]).await.unwrap();
    }
    drop(near);
    other.await.unwrap();
}

/// Events of each class, from outside and inside, beside a task that yields.
fn work(runtime: &Runtime) {
    let stop = Arc::new(AtomicBool::new(false));
    let busy = yielder(runtime, &stop);
    runtime.block_on(async {
        for _ in 0..100 {
            runtime.spawn(async {}).await.unwrap();
        }
        let notify = Arc::new(Notify::new());
        let theirs = notify.clone();
        let woken = runtime.spawn(async move {
            for _ in 0..100 {
                theirs.notified().await;
            }
        });
        while !woken.is_finished() {
            notify.notify_one();
            std::thread::yield_now();
        }
        runtime.spawn(echo(100)).await.unwrap();
        let sleeps = runtime.spawn(async {
            for _ in 0..70 {
                sleep(Duration::from_micros(20)).await;
            }
        });
        sleeps.await.unwrap();
    });
    stop.store(true, Ordering::Relaxed);
    runtime.block_on(busy).unwrap();
}

fn histograms(metrics: &WorkerMetrics) -> [(&str, u64); 5] {
    [
        ("remote", metrics.remote_to_poll.count()),
        ("io", metrics.io_to_poll.count()),
        ("timer", metrics.timer_to_poll.count()),
        ("lateness", metrics.timer_lateness.count()),
        ("dispatch", metrics.dispatch_length.count()),
    ]
}

/// On each backend and with one worker and two.
fn on_each(test: fn(Builder)) {
    for io in [Io::Auto, Io::Epoll] {
        for workers in [1, 2] {
            watched(move || test(Builder::new().workers(workers).io(io)));
        }
    }
}

#[test]
fn all_classes_are_sampled() {
    on_each(|builder| {
        let began = Instant::now();
        let runtime = builder.build().unwrap();
        while histograms(&runtime.metrics().total()).iter().any(|(_, count)| *count == 0) {
            work(&runtime);
        }
        let total = runtime.metrics().total();
        let spent = began.elapsed();
        for histogram in [&total.remote_to_poll, &total.io_to_poll, &total.timer_to_poll] {
            assert!(histogram.max() <= spent, "{total}: longer than the whole test");
            assert!(histogram.percentile(0.5) > Duration::ZERO, "{total}");
        }
        let text = runtime.metrics().to_string();
        assert!(text.contains("remote wake to poll: p50"), "{text}");
    });
}

#[test]
fn without_sampling_only_counts_are_kept() {
    on_each(|builder| {
        let runtime = builder.metrics(false).build().unwrap();
        work(&runtime);
        let total = runtime.metrics().total();
        for (name, count) in histograms(&total) {
            assert!((count == 0) != (name == "lateness"), "{name}: {total}");
        }
        assert!(total.dispatches > 0 && total.remote_wakes > 0, "{total}");
    });
}

#[test]
fn the_monitor_measures_what_reads_no_clock() {
    watched(|| {
        let runtime = runtime(1);
        let stop = Arc::new(AtomicBool::new(false));
        let busy = yielder(&runtime, &stop);
        let lengths = loop {
            let worker = runtime.metrics().workers.remove(0);
            // The first wake of the worker may be one of those that are measured.
            if worker.dispatch_length.count() > 10_000 {
                assert_eq!(worker.clock_reads, 0, "{worker}");
                break worker.dispatch_length;
            }
            std::thread::yield_now();
        };
        assert!(lengths.percentile(0.5) < Duration::from_millis(2), "{lengths}");
        stop.store(true, Ordering::Relaxed);
        runtime.block_on(busy).unwrap();
    });
}

#[test]
fn a_long_dispatch_is_counted_by_itself() {
    watched(|| {
        let runtime = runtime(1);
        let long = Duration::from_millis(8);
        while runtime.metrics().total().dispatch_length.max() < Duration::from_millis(2) {
            let task = runtime.spawn(async move {
                let began = Instant::now();
                while began.elapsed() < long {
                    std::hint::spin_loop();
                }
                for _ in 0..100_000 {
                    yield_now().await;
                }
            });
            runtime.block_on(task).unwrap();
        }
    });
}

#[test]
fn wakes_of_a_sleeping_worker_are_sent_and_those_of_a_busy_one_are_not() {
    watched(|| {
        // On a machine that is short of processors a worker looks stuck now and then.
        let runtime = Builder::new().workers(1).rescue_after(None).build().unwrap();
        let notify = Arc::new(Notify::new());
        let (theirs, stop) = (notify.clone(), Arc::new(AtomicBool::new(false)));
        let seen = stop.clone();
        let task = runtime.spawn(async move {
            while !seen.load(Ordering::Relaxed) {
                theirs.notified().await;
            }
        });
        let sent = |metrics: WorkerMetrics| metrics.remote_wakes - metrics.wakes_coalesced;
        // Asleep in between: each of these has to be sent.
        for n in 1..=5 {
            let parks = runtime.metrics().total().parks;
            until(&runtime, |dump| {
                (dump.workers[0].asleep && wait_of(dump, task.id()).is_some()).then_some(())
            });
            notify.notify_one();
            while runtime.metrics().total().parks == parks {
                std::thread::yield_now();
            }
            assert!(sent(runtime.metrics().total()) >= n);
        }
        // Busy: none is.
        let busy = yielder(&runtime, &stop);
        let before = runtime.metrics().total();
        while runtime.metrics().total().remote_wakes < before.remote_wakes + 100 {
            notify.notify_one();
            std::thread::yield_now();
        }
        let after = runtime.metrics().total();
        assert!(after.wakes_coalesced - before.wakes_coalesced >= 90, "{after}");
        stop.store(true, Ordering::Relaxed);
        notify.notify_one();
        runtime.block_on(async { (task.await.unwrap(), busy.await.unwrap()) });
    });
}

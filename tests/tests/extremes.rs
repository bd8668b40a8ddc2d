//! Durations of zero, of the longest kind, and deadlines that never come are legal wherever a
//! duration is taken.

use std::future::{pending, ready};
use std::time::Duration;

use raddle::net::{TcpListener, TcpStream, tcp};
use raddle::sync::wait_timeout;
use raddle::time::{Instant, interval, interval_at, sleep, sleep_until, timeout, timeout_at};
use raddle::{Builder, LocalRuntime, Runtime};
use raddle_tests::watched;

const EXTREMES: [Duration; 2] = [Duration::ZERO, Duration::MAX];

fn runtime(workers: usize) -> Runtime {
    Builder::new().workers(workers).build().unwrap()
}

#[test]
fn sleeps_and_time_outs() {
    watched(|| {
        for workers in [1, 2] {
            runtime(workers).run(timers());
        }
        LocalRuntime::new().unwrap().run(timers());
    });
}

async fn timers() {
    sleep(Duration::ZERO).await;
    sleep_until(Instant::from_nanos(0)).await;
    for never in [sleep(Duration::MAX), sleep_until(Instant::FAR_FUTURE)] {
        let mut never = Box::pin(never);
        assert!(timeout(Duration::from_micros(100), &mut never).await.is_err());
        never.as_mut().reset(Instant::now());
        never.await;
    }
    for duration in EXTREMES {
        assert_eq!(timeout(duration, ready(1)).await, Ok(1));
        assert_eq!(timeout_at(Instant::now() + duration, ready(2)).await, Ok(2));
    }
    assert!(timeout(Duration::ZERO, pending::<()>()).await.is_err());
    assert!(timeout_at(Instant::from_nanos(0), pending::<()>()).await.is_err());
    // The first tick is at once; the second never.
    let mut slow = interval(Duration::MAX);
    slow.tick().await;
    assert!(timeout(Duration::from_micros(100), slow.tick()).await.is_err());
    slow.reset_after(Duration::ZERO);
    slow.tick().await;
    let mut never = interval_at(Instant::FAR_FUTURE, Duration::from_nanos(1));
    assert!(timeout(Duration::from_micros(100), never.tick()).await.is_err());
    // A timer that is far away does not hold up one that is near.
    let far = raddle::spawn(sleep(Duration::from_secs(u64::MAX / 4_000_000_000)));
    sleep(Duration::from_micros(200)).await;
    assert!(!far.is_finished());
}

#[test]
fn waits_of_threads() {
    watched(|| {
        for limit in EXTREMES {
            assert_eq!(wait_timeout(ready(1), limit), Some(1));
        }
        assert_eq!(wait_timeout(pending::<()>(), Duration::ZERO), None);
    });
}

#[test]
fn limits_of_a_shutdown() {
    watched(|| {
        for workers in [1, 2] {
            for limit in EXTREMES {
                let used = runtime(workers);
                assert_eq!(used.block_on(used.spawn(async { 1 })).unwrap(), 1);
                used.spawn(pending::<()>()).detach();
                used.shutdown_timeout(limit);
                let graceful = runtime(workers);
                graceful.spawn(async {}).detach();
                graceful.shutdown_graceful(limit, Duration::MAX);
                let (output, report) = runtime(workers)
                    .run_with_limit(async { raddle::spawn_blocking(|| 2).await.unwrap() }, limit)
                    .unwrap();
                assert_eq!(output, 2);
                assert!(limit.is_zero() || report.tasks.is_empty(), "{report}");
            }
        }
    });
}

#[test]
fn blocking_threads_that_never_or_always_stay() {
    watched(|| {
        for keep_alive in EXTREMES {
            let built = Builder::new().workers(1).blocking_keep_alive(keep_alive).build().unwrap();
            built.run(async {
                for n in 0..50 {
                    assert_eq!(raddle::spawn_blocking(move || n).await.unwrap(), n);
                }
            });
        }
    });
}

#[test]
fn options_of_sockets() {
    watched(|| {
        runtime(1).run(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            for duration in EXTREMES {
                // What the kernel has no number for is an error or cut to its longest, no panic.
                let _ = stream.set_linger(Some(duration));
                let _ = stream.set_keepalive(Some(tcp::Keepalive::after(duration)));
            }
            stream.set_linger(None).unwrap();
            stream.set_keepalive(None).unwrap();
        });
    });
}

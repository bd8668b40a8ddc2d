//! What sleeps is not woken without need: counted in parks, not in time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use raddle::sync::Notify;
use raddle::task::yield_now;
use raddle::{Builder, Io, Runtime};
use raddle_tests::watched;

fn parks(runtime: &Runtime) -> u64 {
    runtime.metrics().workers.iter().map(|worker| worker.parks).sum()
}

/// One task that yields has nothing for anybody else: the other workers stay asleep.
#[test]
fn a_yielding_task_wakes_no_idle_worker() {
    watched(|| {
        let runtime = Builder::new().workers(32).build().unwrap();
        let task = runtime.spawn(async {
            for _ in 0..1000 {
                yield_now().await;
            }
        });
        runtime.block_on(task).unwrap();
        let before = parks(&runtime);
        let yields = 100_000;
        let task = runtime.spawn(async move {
            for _ in 0..yields {
                yield_now().await;
            }
        });
        runtime.block_on(task).unwrap();
        let woken = parks(&runtime) - before;
        // Less than one wake in a hundred yields; those to begin with may have to settle.
        assert!(woken < yields / 100, "{woken} parks in {yields} yields");
    });
}

/// Nothing is periodic: workers that have nothing to do park once and stay there.
#[test]
fn idle_workers_stay_asleep() {
    watched(|| {
        for io in [Io::Auto, Io::Epoll] {
            let runtime = Builder::new().workers(8).io(io).build().unwrap();
            runtime.block_on(runtime.spawn(async {})).unwrap();
            // A timer and a socket that wait cost nothing either.
            runtime
                .spawn(async {
                    let socket = raddle::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
                    let mut buf = [0; 8];
                    let far = raddle::time::sleep(Duration::from_secs(3600));
                    raddle::select! {
                        () = far => {}
                        _ = socket.recv(&mut buf) => {}
                    }
                })
                .detach();
            // The first sleeps may come late on a busy machine; what is periodic never ends.
            let mut windows = (0..50).map(|_| {
                let before = parks(&runtime);
                std::thread::sleep(Duration::from_millis(200));
                parks(&runtime) - before
            });
            assert!(windows.any(|woken| woken <= 2), "idle workers park again and again");
        }
    });
}

/// A task in the slot of a worker that is busy for long is found by one that searches.
#[test]
fn a_woken_task_runs_elsewhere_while_its_waker_computes() {
    watched(|| {
        let runtime = Builder::new().workers(2).build().unwrap();
        for _ in 0..100 {
            let (bell, ran) = (Arc::new(Notify::new()), Arc::new(AtomicBool::new(false)));
            let waiting = Arc::new(AtomicU32::new(0));
            let (theirs, told, here) = (bell.clone(), ran.clone(), waiting.clone());
            let woken = runtime.spawn(async move {
                here.store(1, Ordering::SeqCst);
                theirs.notified().await;
                told.store(true, Ordering::SeqCst);
            });
            let busy = runtime.spawn(async move {
                while waiting.load(Ordering::SeqCst) == 0 {
                    yield_now().await;
                }
                bell.notify_one();
                // Gives the other worker a reason to wake and search; that it then finds the slot
                // too is what this is about.
                raddle::spawn(async {}).detach();
                while !ran.load(Ordering::SeqCst) {
                    std::hint::spin_loop();
                }
            });
            runtime.block_on(async move {
                woken.await.unwrap();
                busy.await.unwrap();
            });
        }
    });
}

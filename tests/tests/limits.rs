//! Times in milliseconds of what is promised in turns: only looked at when asked for, one at a
//! time, on a machine that does nothing else (`cargo xtask stress --limits`).

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use raddle::net::{TcpListener, TcpStream, UnixStream};
use raddle::task::yield_now;
use raddle::{Builder, Io, Runtime};
use raddle_tests::{wants_limits, watched};

/// The backends that this kernel and the environment have.
fn backends() -> Vec<Io> {
    match std::env::var("RADDLE_IO").as_deref() {
        Ok("epoll") => vec![Io::Epoll],
        Ok("uring") => vec![Io::Uring],
        _ => vec![Io::Auto, Io::Epoll],
    }
}

/// Runs `test` on each backend if times are wanted.
fn on_each(test: impl Fn(Io) + Send + Copy + 'static) {
    if wants_limits() {
        for io in backends() {
            watched(move || test(io));
        }
    }
}

/// One worker on which 64 tasks compute for `poll` and yield, for ever.
fn saturated(io: Io, poll: Duration) -> (Runtime, Arc<AtomicBool>) {
    let runtime = Builder::new().workers(1).io(io).build().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    for _ in 0..64 {
        let stop = stop.clone();
        runtime
            .spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    let begin = Instant::now();
                    while begin.elapsed() < poll {
                        std::hint::spin_loop();
                    }
                    yield_now().await;
                }
            })
            .detach();
    }
    (runtime, stop)
}

/// The 99th percentile.
fn p99(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[(times.len() * 99).div_ceil(100) - 1]
}

const POLLS: [Duration; 3] =
    [Duration::from_micros(1), Duration::from_micros(100), Duration::from_micros(1000)];

/// Two milliseconds, or three polls.
fn allowed(poll: Duration) -> Duration {
    Duration::from_millis(2).max(poll * 3)
}

#[test]
fn limit_submissions_of_other_threads_on_a_saturated_worker() {
    on_each(|io| {
        for poll in POLLS {
            let (runtime, stop) = saturated(io, poll);
            let times = (0..300)
                .map(|_| {
                    std::thread::sleep(Duration::from_micros(300));
                    let begin = Instant::now();
                    let task = runtime.spawn(async move { begin.elapsed() });
                    runtime.block_on(task).unwrap()
                })
                .collect();
            let found = p99(times);
            stop.store(true, Ordering::Relaxed);
            assert!(found <= allowed(poll), "{io:?}, polls of {poll:?}: {found:?}");
        }
    });
}

#[test]
fn limit_ready_io_on_a_saturated_worker() {
    on_each(|io| {
        for poll in POLLS {
            let (runtime, stop) = saturated(io, poll);
            let (mut ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
            let (told, woken) = std::sync::mpsc::channel();
            let reader = runtime.spawn(async move {
                let stream = UnixStream::from_std(theirs).unwrap();
                while stream.read(&mut [0; 1]).await.unwrap() == 1 {
                    told.send(Instant::now()).unwrap();
                }
            });
            let times = (0..300)
                .map(|_| {
                    std::thread::sleep(Duration::from_micros(300));
                    let begin = Instant::now();
                    ours.write_all(b"x").unwrap();
                    woken.recv().unwrap().saturating_duration_since(begin)
                })
                .collect();
            let found = p99(times);
            drop(ours);
            runtime.block_on(reader).unwrap();
            stop.store(true, Ordering::Relaxed);
            assert!(found <= allowed(poll), "{io:?}, polls of {poll:?}: {found:?}");
        }
    });
}

#[test]
fn limit_timers_on_a_saturated_worker() {
    on_each(|io| {
        for poll in POLLS {
            let (runtime, stop) = saturated(io, poll);
            let task = runtime.spawn(async {
                let mut times = Vec::new();
                for _ in 0..200 {
                    let due = raddle::time::Instant::now() + Duration::from_micros(500);
                    raddle::time::sleep_until(due).await;
                    times.push(raddle::time::Instant::now() - due);
                }
                times
            });
            let found = p99(runtime.block_on(task).unwrap());
            stop.store(true, Ordering::Relaxed);
            assert!(found <= allowed(poll), "{io:?}, polls of {poll:?}: {found:?}");
        }
    });
}

#[test]
fn limit_connects_on_a_saturated_worker() {
    on_each(|io| {
        let (runtime, stop) = saturated(io, Duration::from_micros(100));
        let task = runtime.spawn(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let addr = listener.local_addr().unwrap();
            let mut times = Vec::new();
            for _ in 0..200 {
                let begin = Instant::now();
                let (stream, accepted) = raddle::join!(TcpStream::connect(addr), listener.accept());
                times.push(begin.elapsed());
                drop((stream.unwrap(), accepted.unwrap()));
            }
            times
        });
        let found = p99(runtime.block_on(task).unwrap());
        stop.store(true, Ordering::Relaxed);
        assert!(found <= Duration::from_millis(2), "{io:?}: {found:?}");
    });
}

/// Posts to an idle runtime at gaps of 0 to 5 ms, the first before its first sleep.
#[test]
fn limit_posts_to_a_sleeping_worker() {
    on_each(|io| {
        for workers in [1, 2] {
            let runtime = Builder::new().workers(workers).io(io).build().unwrap();
            let mut dice = raddle_base::random::Rng::new(7);
            for n in 0..1000 {
                let begin = Instant::now();
                let task = runtime.spawn(async move { begin.elapsed() });
                let found = runtime.block_on(task).unwrap();
                assert!(found <= Duration::from_millis(5), "{io:?}, post {n}: {found:?}");
                std::thread::sleep(Duration::from_micros(dice.below(5000).into()));
            }
        }
    });
}

/// What fell due while a task computed for long is served as soon as it ends.
#[test]
fn limit_timers_that_fell_due_behind_a_long_poll() {
    on_each(|io| {
        let runtime = Builder::new().workers(1).io(io).build().unwrap();
        let task = runtime.spawn(async move {
            let due = raddle::time::Instant::now() + Duration::from_millis(20);
            let sleepers: Vec<_> = (0..100)
                .map(|_| {
                    raddle::spawn(async move {
                        raddle::time::sleep_until(due).await;
                        Instant::now()
                    })
                })
                .collect();
            yield_now().await;
            let begin = Instant::now();
            while begin.elapsed() < Duration::from_millis(200) {
                std::hint::spin_loop();
            }
            let end = Instant::now();
            // Others have turns as well.
            for _ in 0..1000 {
                raddle::spawn(async { yield_now().await }).detach();
            }
            for sleeper in sleepers {
                let late = sleeper.await.unwrap() - end;
                assert!(late <= Duration::from_millis(2), "{io:?}: {late:?}");
            }
        });
        runtime.block_on(task).unwrap();
    });
}

/// All workers compute for half a second, with events of each kind every millisecond.
#[test]
fn limit_events_while_all_workers_are_stuck() {
    on_each(|io| {
        for workers in [1, 2] {
            let runtime = Builder::new().workers(workers).io(io).build().unwrap();
            let (mut ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
            let (told, woken) = std::sync::mpsc::channel();
            let reader = runtime.spawn(async move {
                let stream = UnixStream::from_std(theirs).unwrap();
                while stream.read(&mut [0; 1]).await.unwrap() == 1 {
                    told.send(Instant::now()).unwrap();
                }
            });
            let stuck: Vec<_> = (0..workers)
                .map(|_| {
                    runtime.spawn(async {
                        let begin = Instant::now();
                        while begin.elapsed() < Duration::from_millis(500) {
                            std::hint::spin_loop();
                        }
                    })
                })
                .collect();
            let (mut reads, mut posts, mut sleeps) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..100 {
                std::thread::sleep(Duration::from_millis(1));
                let begin = Instant::now();
                ours.write_all(b"x").unwrap();
                reads.push(woken.recv().unwrap().saturating_duration_since(begin));
                let begin = Instant::now();
                let post = runtime.spawn(async move { begin.elapsed() });
                posts.push(runtime.block_on(post).unwrap());
                let due = raddle::time::Instant::now() + Duration::from_millis(1);
                let sleep = runtime.spawn(async move {
                    raddle::time::sleep_until(due).await;
                    raddle::time::Instant::now() - due
                });
                sleeps.push(runtime.block_on(sleep).unwrap());
            }
            assert!(
                stuck.iter().all(|task| !task.is_finished()),
                "they were to be stuck meanwhile"
            );
            drop(ours);
            runtime.block_on(reader).unwrap();
            let limit = Duration::from_millis(5);
            for (kind, times) in [("reads", reads), ("posts", posts), ("sleeps", sleeps)] {
                let found = p99(times);
                assert!(found <= limit, "{io:?}, {workers} workers, {kind}: {found:?}");
            }
        }
    });
}

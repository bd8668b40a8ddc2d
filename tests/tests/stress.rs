//! Everything at once, by chance: spawns, aborts, channels, permits, timers, sockets, blocking
//! jobs and shutdowns, with what must hold counted at the end of each round.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use raddle::net::{TcpListener, TcpStream};
use raddle::sync::{Semaphore, mpsc, oneshot};
use raddle::task::{JoinSet, yield_now};
use raddle::time::{Instant, sleep, timeout};
use raddle_base::random::Rng;
use raddle_tests::Drops;
use raddle_tests::stress::{any_runtime, dice_of, rounds};

/// Lets time or turns go by, by chance.
async fn pause(dice: &mut Rng) {
    match dice.below(4) {
        0 => {}
        1 => yield_now().await,
        2 => sleep(Duration::from_micros(dice.below(200).into())).await,
        _ => {
            for _ in 0..dice.below(20) {
                yield_now().await;
            }
        }
    }
}

/// A duration after which something may be given up.
fn patience(dice: &mut Rng) -> Duration {
    Duration::from_micros(dice.below(300).into())
}

/// Every handle resolves, every future is dropped once, whoever aborts whom.
#[test]
fn stress_tasks_of_all_kinds() {
    rounds(|dice| {
        let runtime = any_runtime(dice);
        let drops = Drops::default();
        let (theirs, mut own) = (drops.clone(), dice_of(dice));
        let spawned = runtime.run(async move { spawn_and_abort(&mut own, &theirs).await });
        assert_eq!(drops.count(), spawned, "each future is dropped once");
    });
}

async fn spawn_and_abort(dice: &mut Rng, drops: &Drops) -> usize {
    let mut set = JoinSet::new();
    let count = 200 + dice.below(200) as usize;
    for n in 0..count {
        let (guard, mut own) = (drops.guard(), dice_of(dice));
        let body = async move {
            let _guard = guard;
            pause(&mut own).await;
            assert!(own.below(20) > 0, "on purpose");
            pause(&mut own).await;
            n
        };
        let abort = match dice.below(4) {
            0 => set.spawn_pinned(move || body),
            1 => set.spawn_local(body),
            2 => {
                let handle = raddle::Handle::current();
                set.spawn_blocking(move || handle.block_on(body))
            }
            _ => set.spawn(body),
        };
        if dice.below(3) == 0 {
            let mut own = dice_of(dice);
            raddle::spawn(async move {
                pause(&mut own).await;
                abort.abort();
            })
            .detach();
        }
    }
    let mut seen = 0;
    while let Some(ended) = set.join_next().await {
        seen += 1;
        match ended {
            Ok(n) => assert!(n < count),
            Err(error) => assert!(error.is_panic() || error.is_cancelled()),
        }
    }
    assert_eq!(seen, count, "every handle resolves");
    count
}

/// What was sent is received in order, once; what was not accepted is not; permits add up.
#[test]
fn stress_values_and_permits() {
    rounds(|dice| {
        let runtime = any_runtime(dice);
        let mut own = dice_of(dice);
        runtime.run(async move { send_and_receive(&mut own).await });
    });
}

async fn send_and_receive(dice: &mut Rng) {
    let capacity = 1 + dice.below(8) as usize;
    let (sender, mut receiver) = mpsc::channel(capacity);
    let permits = Arc::new(Semaphore::new(3));
    let senders: Vec<_> = (0..4_u64)
        .map(|from| {
            let (sender, permits, mut dice) = (sender.clone(), permits.clone(), dice_of(dice));
            raddle::spawn(async move {
                let mut accepted = Vec::new();
                for n in 0..200_u64 {
                    let permit = timeout(patience(&mut dice), permits.acquire()).await;
                    if permit.is_ok() && dice.below(4) == 0 {
                        pause(&mut dice).await;
                    }
                    let value = from * 1000 + n;
                    match timeout(patience(&mut dice), sender.send(value)).await {
                        Ok(sent) => {
                            sent.expect("the receiver is there");
                            accepted.push(value);
                        }
                        Err(_) => assert!(!sender.is_closed()),
                    }
                }
                accepted
            })
        })
        .collect();
    drop(sender);
    let mut received = Vec::new();
    loop {
        match timeout(patience(dice), receiver.recv()).await {
            Ok(Some(value)) => received.push(value),
            Ok(None) => break,
            Err(_) => pause(dice).await,
        }
    }
    for (from, sender) in senders.into_iter().enumerate() {
        let accepted = sender.await.expect("no panic");
        let of_this = |value: &&u64| **value / 1000 == from as u64;
        let got: Vec<u64> = received.iter().filter(of_this).copied().collect();
        assert_eq!(got, accepted, "in order, none lost, none twice");
    }
    assert_eq!(permits.available_permits(), 3);
}

/// Bytes arrive in order and whole, though reads are given up and connections end by chance.
#[test]
fn stress_connections() {
    rounds(|dice| {
        let runtime = any_runtime(dice);
        let mut own = dice_of(dice);
        runtime.run(async move { connect_and_transfer(&mut own).await });
    });
}

async fn connect_and_transfer(dice: &mut Rng) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let server_dice = dice_of(dice);
    let server = raddle::spawn(async move {
        let mut dice = server_dice;
        loop {
            let accepted = timeout(patience(&mut dice), listener.accept()).await;
            let Ok(accepted) = accepted else { continue };
            let own = dice_of(&mut dice);
            raddle::spawn(echo(accepted.unwrap().0, own)).detach();
        }
    });
    let clients: Vec<_> = (0..20)
        .map(|_| {
            let mut dice = dice_of(dice);
            raddle::spawn(async move {
                let stream = TcpStream::connect(addr).await.unwrap();
                match dice.below(4) {
                    0 => pause(&mut dice).await,
                    _ => transfer(stream, dice).await,
                }
            })
        })
        .collect();
    for client in clients {
        client.await.expect("every byte came back");
    }
    server.abort();
    assert!(server.await.unwrap_err().is_cancelled());
}

async fn echo(stream: TcpStream, mut dice: Rng) {
    let mut buf = vec![0; 1 + dice.below(9000) as usize];
    loop {
        let Ok(read) = timeout(patience(&mut dice), stream.read(&mut buf)).await else { continue };
        let count = match read {
            Ok(0) | Err(_) => return,
            Ok(count) => count,
        };
        if stream.write_all(&buf[..count]).await.is_err() {
            return;
        }
    }
}

async fn transfer(stream: TcpStream, mut dice: Rng) {
    let length = 1 + dice.below(200_000) as usize;
    let sent: Vec<u8> = (0..length).map(|n| (n ^ (n >> 8)) as u8).collect();
    let (read, write) = stream.into_split();
    let mut own = dice_of(&mut dice);
    let bytes = sent.clone();
    let writer = raddle::spawn(async move {
        for part in bytes.chunks(1 + own.below(20_000) as usize) {
            write.write_all(part).await.unwrap();
            pause(&mut own).await;
        }
        write
    });
    let mut got = Vec::new();
    let mut buf = [0; 4096];
    while got.len() < length {
        if let Ok(count) = timeout(patience(&mut dice), read.read(&mut buf)).await {
            let count = count.unwrap();
            assert!(count > 0, "no end before all is there");
            got.extend_from_slice(&buf[..count]);
        }
    }
    assert!(got == sent);
    drop(writer.await.unwrap());
}

/// Never early, each fires once, a reset counts, whichever thread does what.
#[test]
fn stress_timers() {
    rounds(|dice| {
        let runtime = any_runtime(dice);
        let fired = Arc::new(AtomicU64::new(0));
        let tasks: Vec<_> = (0..200)
            .map(|_| {
                let (fired, mut dice) = (fired.clone(), dice_of(dice));
                runtime.spawn(async move {
                    let mut deadline = Instant::now() + patience(&mut dice) * 10;
                    let mut sleep = Box::pin(raddle::time::sleep_until(deadline));
                    while dice.below(3) == 0 {
                        let _ = timeout(patience(&mut dice), &mut sleep).await;
                        deadline = Instant::now() + patience(&mut dice) * 10;
                        sleep.as_mut().reset(deadline);
                    }
                    sleep.await;
                    assert!(Instant::now() >= deadline, "early");
                    fired.fetch_add(1, Ordering::Relaxed);
                })
            })
            .collect();
        runtime.block_on(async move {
            for task in tasks {
                task.await.expect("never early");
            }
        });
        assert_eq!(fired.load(Ordering::Relaxed), 200);
    });
}

/// Threads that are no workers post at any moment, also to workers that are about to sleep.
#[test]
fn stress_wakes_of_other_threads() {
    rounds(|dice| {
        let runtime = any_runtime(dice);
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let (handle, mut dice) = (runtime.handle().clone(), dice_of(dice));
                std::thread::spawn(move || {
                    for n in 0..200_u32 {
                        let (ask, asked) = oneshot::channel::<u32>();
                        let (answer, answered) = oneshot::channel::<u32>();
                        let task = handle.spawn(async move {
                            let _ = answer.send(asked.await.expect("asked") + 1);
                        });
                        if dice.below(2) == 0 {
                            std::thread::sleep(Duration::from_micros(dice.below(200).into()));
                        }
                        ask.send(n).expect("the task waits");
                        assert_eq!(raddle::sync::block_on(answered), Ok(n + 1));
                        handle.block_on(task).unwrap();
                    }
                })
            })
            .collect();
        runtime.block_on(async {});
        threads.into_iter().for_each(|thread| thread.join().expect("nothing was lost"));
    });
}

/// Jobs come in bursts while threads leave for want of them: all run.
#[test]
fn stress_blocking_jobs() {
    rounds(|dice| {
        let builder = raddle::Builder::new().workers(1).max_blocking_threads(2);
        let runtime = builder.blocking_keep_alive(Duration::from_millis(1)).build().unwrap();
        let done = Arc::new(AtomicUsize::new(0));
        let mut jobs = 0;
        for _ in 0..20 {
            let burst = 1 + dice.below(500);
            let handles: Vec<_> = (0..burst)
                .map(|_| {
                    let done = done.clone();
                    runtime.spawn_blocking(move || done.fetch_add(1, Ordering::Relaxed))
                })
                .collect();
            jobs += burst as usize;
            if dice.below(2) == 0 {
                std::thread::sleep(Duration::from_micros(dice.below(2500).into()));
            }
            runtime.block_on(async move {
                for handle in handles {
                    handle.await.expect("each job runs");
                }
            });
        }
        assert_eq!(done.load(Ordering::Relaxed), jobs);
    });
}

/// Runtimes end in the midst of everything: every destructor runs.
#[test]
fn stress_shutdowns_in_the_midst() {
    rounds(|dice| {
        let runtime = any_runtime(dice);
        let drops = Drops::default();
        let mut spawned = 0;
        for _ in 0..50 {
            let (guard, mut own) = (drops.guard(), dice_of(dice));
            spawned += 1;
            let body = async move {
                let _guard = guard;
                match own.below(4) {
                    0 => send_and_receive(&mut own).await,
                    1 => connect_and_transfer(&mut own).await,
                    2 => sleep(Duration::from_secs(3600)).await,
                    _ => loop {
                        pause(&mut own).await;
                    },
                }
            };
            runtime.spawn(body).detach();
        }
        std::thread::sleep(Duration::from_micros(dice.below(5000).into()));
        let report = runtime.shutdown_timeout(Duration::from_secs(50));
        assert!(report.tasks.is_empty() && report.blocking_jobs == 0, "{report}");
        assert_eq!(drops.count(), spawned);
    });
}

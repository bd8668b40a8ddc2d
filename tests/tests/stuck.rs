//! A task that does not return hurts nobody but what is pinned to its worker.
//!
//! The stuck task of each test computes until the others have been served, so a runtime that does
//! not serve them hangs, and the watchdog ends it. Times are checked in `limits`.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use raddle::net::{TcpListener, TcpStream};
use raddle::sync::{Notify, oneshot};
use raddle::task::yield_now;
use raddle::time::sleep;
use raddle::{Builder, Io, LocalRuntime, Others, Runtime, StuckTask};
use raddle_tests::stress::rounds;
use raddle_tests::watched;

/// The backends that this kernel and the environment have.
fn backends() -> Vec<Io> {
    match std::env::var("RADDLE_IO").as_deref() {
        Ok("epoll") => vec![Io::Epoll],
        Ok("uring") => vec![Io::Uring],
        _ => vec![Io::Auto, Io::Epoll],
    }
}

fn runtime(workers: usize, io: Io) -> Runtime {
    Builder::new().workers(workers).io(io).build().unwrap()
}

/// Computes until the flag is set.
fn compute_until(done: &AtomicBool) {
    while !done.load(Ordering::Acquire) {
        std::hint::spin_loop();
    }
}

/// As many tasks as workers, each computing in one poll until the flag is set.
fn jam(runtime: &Runtime, workers: usize, done: &Arc<AtomicBool>) {
    let computing = Arc::new(AtomicUsize::new(0));
    for _ in 0..workers {
        let (done, computing) = (done.clone(), computing.clone());
        runtime
            .spawn(async move {
                computing.fetch_add(1, Ordering::AcqRel);
                compute_until(&done);
            })
            .detach();
    }
    // Spawns from here go to whoever is free, so each of them takes one.
    while computing.load(Ordering::Acquire) < workers {
        std::thread::yield_now();
    }
}

/// On each backend, with one worker and with two.
fn on_each(test: impl Fn(Io, usize) + Send + Copy + 'static) {
    for io in backends() {
        for workers in [1, 2] {
            watched(move || test(io, workers));
        }
    }
}

#[test]
fn remote_spawns_and_wakes_go_on() {
    on_each(|io, workers| {
        let runtime = runtime(workers, io);
        let bell = Arc::new(Notify::new());
        let waits = bell.clone();
        let waiter = runtime.spawn(async move {
            for _ in 0..20 {
                waits.notified().await;
            }
        });
        let done = Arc::new(AtomicBool::new(false));
        jam(&runtime, workers, &done);
        for n in 0..20 {
            assert_eq!(runtime.block_on(runtime.spawn(async move { n })).unwrap(), n);
            bell.notify_one();
        }
        // Permits merge while nobody waits, so ring until all have been taken.
        while !waiter.is_finished() {
            bell.notify_one();
            std::thread::yield_now();
        }
        done.store(true, Ordering::Release);
    });
}

#[test]
fn timers_go_on() {
    on_each(|io, workers| {
        let runtime = runtime(workers, io);
        let done = Arc::new(AtomicBool::new(false));
        let (armed, is_armed) = mpsc::channel();
        let tasks: Vec<_> = (0..2 * workers)
            .map(|_| {
                let armed = armed.clone();
                runtime.spawn(async move {
                    let first = sleep(Duration::from_millis(20));
                    armed.send(()).unwrap();
                    first.await;
                    for _ in 0..10 {
                        sleep(Duration::from_micros(300)).await;
                    }
                })
            })
            .collect();
        tasks.iter().for_each(|_| is_armed.recv().unwrap());
        jam(&runtime, workers, &done);
        for task in tasks {
            runtime.block_on(task).unwrap();
        }
        done.store(true, Ordering::Release);
    });
}

#[test]
fn established_connections_and_new_ones_are_served() {
    on_each(|io, workers| {
        let runtime = runtime(workers, io);
        let done = Arc::new(AtomicBool::new(false));
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        runtime
            .spawn(async move {
                loop {
                    let (stream, _) = listener.accept().await.unwrap();
                    raddle::spawn(echo(stream)).detach();
                }
            })
            .detach();
        let mut clients: Vec<_> = (0..4).map(|_| Client::connect(address)).collect();
        clients.iter_mut().for_each(Client::exchange);
        jam(&runtime, workers, &done);
        for _ in 0..50 {
            clients.iter_mut().for_each(Client::exchange);
        }
        for _ in 0..20 {
            Client::connect(address).exchange();
        }
        done.store(true, Ordering::Release);
        // Everything goes on once the workers are back.
        for _ in 0..50 {
            clients.iter_mut().for_each(Client::exchange);
            Client::connect(address).exchange();
        }
    });
}

#[test]
fn io_begun_on_other_threads_goes_on() {
    on_each(|io, workers| {
        let runtime = runtime(workers, io);
        let done = Arc::new(AtomicBool::new(false));
        jam(&runtime, workers, &done);
        // No worker polls this: its requests are posted to drivers of workers that are stuck.
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let (near, accepted) = raddle::join!(
                TcpStream::connect(listener.local_addr().unwrap()),
                listener.accept()
            );
            let (near, (far, _)) = (near.unwrap(), accepted.unwrap());
            let sent = vec![7; 1 << 20];
            let mut received = vec![0; 1 << 20];
            let (written, read) =
                raddle::join!(near.write_all(&sent), far.read_exact(&mut received));
            written.unwrap();
            read.unwrap();
            assert_eq!(received, sent);
        });
        done.store(true, Ordering::Release);
    });
}

/// An idle sibling looks after a stuck worker sooner than the monitor does, and must not hide from
/// it what a sibling may not do.
#[test]
fn io_of_one_stuck_worker_goes_on_while_the_other_is_idle() {
    const ROUNDS: usize = 20;
    for io in backends() {
        watched(move || {
            let runtime = runtime(2, io);
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let server = std::thread::spawn(move || {
                use std::io::Write;
                for stream in listener.incoming().take(2 * ROUNDS) {
                    // Late, so that the client has its driver wait for it.
                    std::thread::sleep(Duration::from_millis(1));
                    stream.unwrap().write_all(b"pong").unwrap();
                }
            });
            for _ in 0..ROUNDS {
                let done = Arc::new(AtomicBool::new(false));
                jam(&runtime, 1, &done);
                // Posted to each of both workers in turn.
                for _ in 0..2 {
                    runtime.block_on(async {
                        let near = TcpStream::connect(address).await.unwrap();
                        near.read_exact(&mut [0; 4]).await.unwrap();
                    });
                }
                done.store(true, Ordering::Release);
            }
            server.join().unwrap();
        });
    }
}

async fn echo(stream: TcpStream) {
    let mut bytes = [0; 64];
    while let Ok(count @ 1..) = stream.read(&mut bytes).await {
        stream.write_all(&bytes[..count]).await.unwrap();
    }
}

/// A blocking client, on a plain thread.
struct Client(std::net::TcpStream);

impl Client {
    fn connect(address: std::net::SocketAddr) -> Client {
        Client(std::net::TcpStream::connect(address).unwrap())
    }

    fn exchange(&mut self) {
        use std::io::{Read, Write};
        self.0.write_all(b"ping").unwrap();
        let mut answer = [0; 4];
        self.0.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"ping");
    }
}

#[test]
fn a_task_woken_by_one_that_goes_on_computing_starts_elsewhere() {
    on_each(|io, workers| {
        let runtime = runtime(workers, io);
        let (wake, woken) = oneshot::channel();
        let done = Arc::new(AtomicBool::new(false));
        let flag = done.clone();
        let other = runtime.spawn(async move {
            woken.await.unwrap();
            flag.store(true, Ordering::Release);
        });
        let waker = runtime.spawn(async move {
            // The other waits by now, or will find the value.
            yield_now().await;
            wake.send(()).unwrap();
            compute_until(&done);
        });
        runtime.block_on(waker).unwrap();
        runtime.block_on(other).unwrap();
    });
}

#[test]
fn one_stuck_task_after_the_other_is_stood_in_for() {
    on_each(|io, workers| {
        let runtime = runtime(workers, io);
        let done = Arc::new(AtomicBool::new(false));
        // One more than there are workers: the last of them jams a stand-in.
        jam(&runtime, workers + 1, &done);
        assert_eq!(runtime.block_on(runtime.spawn(async { 7 })).unwrap(), 7);
        assert!(runtime.metrics().workers.iter().map(|worker| worker.rescues).sum::<u64>() > 0);
        done.store(true, Ordering::Release);
        // And when they are back, all goes on without stand-ins.
        let tasks: Vec<_> = (0..100).map(|n| runtime.spawn(async move { n })).collect();
        for (n, task) in tasks.into_iter().enumerate() {
            assert_eq!(runtime.block_on(task).unwrap(), n);
        }
    });
}

/// Keeps what is reported.
fn reporting(builder: Builder) -> (Builder, Arc<Mutex<Vec<StuckTask>>>, mpsc::Receiver<()>) {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let (told, wait) = mpsc::channel();
    let (keep, told) = (reports.clone(), Mutex::new(told));
    let builder = builder.on_stuck_task(move |task| {
        keep.lock().unwrap().push(task.clone());
        // The test may be over.
        let _ = told.lock().unwrap().send(());
    });
    (builder, reports, wait)
}

#[test]
fn a_stuck_task_is_reported_once_with_its_name() {
    watched(|| {
        let builder = Builder::new().workers(1).report_after(Some(Duration::from_millis(5)));
        let (builder, reports, told) = reporting(builder);
        let runtime = builder.build().unwrap();
        let entered = runtime.handle().enter();
        let line = line!() + 1;
        let task = raddle::task::Builder::new().name("cruncher").spawn(async move {
            told.recv().unwrap();
            // Several looks more: no second report.
            assert!(told.recv_timeout(Duration::from_millis(20)).is_err());
        });
        drop(entered);
        let id = task.id();
        runtime.block_on(task).unwrap();
        let reports = reports.lock().unwrap();
        let [report] = reports.as_slice() else { panic!("{} reports", reports.len()) };
        assert_eq!((report.id, report.worker), (id, 0));
        assert_eq!(report.name.as_deref(), Some("cruncher"));
        assert_eq!((report.spawned_at.file(), report.spawned_at.line()), (file!(), line));
        assert!(report.running_for >= Duration::from_millis(5));
        assert_eq!(report.others, Others::None);
        assert!(report.to_string().contains("(cruncher)"), "{report}");
    });
}

#[test]
fn a_local_runtime_reports_and_rescues_nothing() {
    watched(|| {
        let builder = Builder::new().report_after(Some(Duration::from_millis(5)));
        let (builder, reports, told) = reporting(builder);
        LocalRuntime::make(builder).unwrap().run(async move {
            let ran = Arc::new(AtomicBool::new(false));
            let runs = ran.clone();
            let task = raddle::spawn_local(async move {
                raddle::spawn(async move { runs.store(true, Ordering::Release) }).detach();
                told.recv().unwrap();
                assert!(!ran.load(Ordering::Acquire), "taken over by another thread");
            });
            task.await.unwrap();
        });
        assert_eq!(reports.lock().unwrap()[0].others, Others::NotRescued);
    });
}

#[test]
fn without_a_monitor_nothing_is_taken_over() {
    watched(|| {
        let runtime = Builder::new().workers(1).monitor(false).build().unwrap();
        let ran = Arc::new(AtomicBool::new(false));
        let runs = ran.clone();
        let stuck = runtime.spawn(async move {
            raddle::spawn(async move { runs.store(true, Ordering::Release) }).detach();
            // Far more than any look of a monitor would take.
            std::thread::sleep(Duration::from_millis(50));
            ran.load(Ordering::Acquire)
        });
        assert!(!runtime.block_on(stuck).unwrap());
    });
}

/// Again and again: workers become stuck at all moments of their neighbours' lives.
#[test]
fn stress_stuck_workers_are_stood_in_for_each_time() {
    rounds(|dice| {
        let workers = 1 + dice.below(3) as usize;
        let backends = backends();
        let runtime = runtime(workers, backends[dice.below(backends.len() as u32) as usize]);
        for _ in 0..10 {
            let done = Arc::new(AtomicBool::new(false));
            jam(&runtime, workers, &done);
            let (wake, woken) = oneshot::channel();
            let waiter = runtime.spawn(async move { woken.await.unwrap() });
            let pause = Duration::from_micros(dice.below(3000).into());
            let timer = runtime.spawn(sleep(pause));
            wake.send(7).unwrap();
            assert_eq!(runtime.block_on(waiter).unwrap(), 7);
            runtime.block_on(timer).unwrap();
            done.store(true, Ordering::Release);
        }
    });
}

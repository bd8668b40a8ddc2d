//! Processes on a whole runtime: every kind of wait in blocking style, on both drivers, beside
//! processes that panic, are killed, or do not return.

use std::arch::asm;
use std::cell::RefCell;
use std::io;
use std::process::Command;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{self, Arc};
use std::thread;
use std::time::{Duration, Instant};

use raddle::actor::{self, Address, Cx, ExitReason};
use raddle::net::{TcpListener, TcpStream, UnixStream};
use raddle::sync::{Mutex, Wait, oneshot};
use raddle::{Builder, Io, Runtime};
use raddle_tests::{Drops, locals, watched};

fn each_driver(test: impl Fn(Runtime) + Send + 'static) {
    watched(move || {
        for io in [Io::Auto, Io::Epoll] {
            for workers in [1, 2] {
                test(Builder::new().workers(workers).io(io).build().unwrap());
            }
        }
    });
}

fn echo(stream: TcpStream, crashes: &AtomicUsize) -> io::Result<()> {
    let mut buffer = [0; 512];
    loop {
        let count = stream.read(&mut buffer).wait()?;
        match buffer[..count] {
            [] => return Ok(()),
            [b'!', ..] => {
                crashes.fetch_add(1, SeqCst);
                panic!("the handler crashes");
            }
            ref bytes => stream.write_all(bytes).wait()?,
        }
    }
}

/// A client whose connection is served well, whatever becomes of the others.
fn well_served(address: std::net::SocketAddr, me: u8) -> io::Result<usize> {
    let stream = TcpStream::connect(address).wait()?;
    let mut sum = 0;
    for turn in 0..20 {
        let sent = [b'x', me, turn];
        stream.write_all(&sent).wait()?;
        let mut got = [0; 3];
        stream.read_exact(&mut got).wait()?;
        assert_eq!(got, sent);
        sum += got.len();
    }
    Ok(sum)
}

/// A client that makes its handler crash, and sees the end of the stream.
fn crashing(address: std::net::SocketAddr) -> io::Result<usize> {
    let stream = TcpStream::connect(address).wait()?;
    stream.write_all(b"!").wait()?;
    match stream.read(&mut [0; 8]).wait() {
        Ok(count) => Ok(count),
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(0),
        Err(error) => Err(error),
    }
}

#[test]
fn a_handler_that_crashes_loses_no_other_connection() {
    each_driver(|runtime| {
        let crashed = Arc::new(AtomicUsize::new(0));
        let counter = crashed.clone();
        let total = runtime.run(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let server = actor::spawn(move |cx: &mut Cx<()>| {
                cx.trap_exit(true);
                while let Ok((stream, _)) = listener.accept().wait() {
                    let counter = counter.clone();
                    actor::Builder::new()
                        .name("handler")
                        .spawn_link(cx, move |_: &mut Cx<()>| echo(stream, &counter))
                        .detach();
                }
            });
            let clients: Vec<_> = (0..64u8)
                .map(|me| {
                    actor::spawn(move |_: &mut Cx<()>| match me % 4 {
                        0 => crashing(address),
                        _ => well_served(address, me),
                    })
                })
                .collect();
            let mut total = 0;
            for client in clients {
                total += client.join().await.unwrap().unwrap();
            }
            server.process().kill();
            assert_eq!(server.join().await.unwrap_err(), ExitReason::Killed);
            total
        });
        assert_eq!(total, 48 * 20 * 3);
        assert_eq!(crashed.load(SeqCst), 16);
    });
}

#[test]
fn files_timers_tasks_and_locks_in_one_process() {
    each_driver(|runtime| {
        runtime.run(async {
            let process = actor::spawn(|cx: &mut Cx<()>| {
                let path = std::env::temp_dir().join(format!("raddle-actor-{}", cx.pid()));
                raddle::fs::write(&path, b"on a stack").wait().unwrap();
                let text = raddle::fs::read(&path).wait().unwrap();
                raddle::fs::remove_file(&path).wait().unwrap();
                assert_eq!(text, b"on a stack");
                let before = Instant::now();
                cx.sleep(Duration::from_millis(3));
                assert!(before.elapsed() >= Duration::from_millis(3));
                let lock = Arc::new(Mutex::new(0));
                let guard = lock.lock().wait();
                assert!(lock.lock().wait_timeout(Duration::from_millis(1)).is_none());
                drop(guard);
                let theirs = lock.clone();
                let task = raddle::spawn(async move { *theirs.lock().await += 1 });
                let job = raddle::spawn_blocking(|| 2);
                task.wait().unwrap();
                let sum = *lock.lock().wait() + job.wait().unwrap();
                assert!(raddle::task::block_in_place(|| sum == 3));
                sum
            });
            assert_eq!(process.join().await.unwrap(), 3);
        });
    });
}

#[test]
fn a_killed_read_takes_no_bytes_with_it() {
    each_driver(|runtime| {
        runtime.run(async {
            for _ in 0..50 {
                let (a, b) = UnixStream::pair().unwrap();
                let a = Arc::new(a);
                let reader = a.clone();
                let (tx, begun) = oneshot::channel();
                let process = actor::spawn(move |_: &mut Cx<()>| {
                    tx.send(()).unwrap();
                    reader.read(&mut [0; 16]).wait().unwrap_or(0)
                });
                begun.await.unwrap();
                process.process().kill();
                b.write_all(b"0123456789").await.unwrap();
                let taken = process.join().await.unwrap_or(0);
                drop(b);
                let mut rest = Vec::new();
                a.read_to_end(&mut rest).await.unwrap();
                assert_eq!(taken + rest.len(), 10);
            }
        });
    });
}

#[test]
fn a_process_that_does_not_return_leaves_the_others_their_sockets() {
    each_driver(|runtime| {
        runtime.run(async {
            let (tx, stuck) = oneshot::channel();
            let (go, stop) = std::sync::mpsc::channel::<()>();
            let process = actor::spawn(move |_: &mut Cx<()>| {
                tx.send(()).unwrap();
                // Blocks its worker, as it should not.
                let _ = stop.recv();
            });
            let other = raddle::spawn(async move {
                stuck.await.unwrap();
                let (a, b) = UnixStream::pair().unwrap();
                let writer = raddle::spawn(async move { b.write_all(b"through").await });
                let mut got = [0; 7];
                a.read_exact(&mut got).await.unwrap();
                writer.await.unwrap().unwrap();
                raddle::time::sleep(Duration::from_millis(2)).await;
                go.send(()).unwrap();
                got
            });
            assert_eq!(&other.await.unwrap(), b"through");
            process.await.unwrap();
        });
    });
}

#[test]
fn the_end_of_the_runtime_reaches_processes_in_any_wait() {
    each_driver(|runtime| {
        let drops = Drops::default();
        let guards = drops.clone();
        runtime.run(async move {
            let (begun_tx, mut begun) = raddle::sync::mpsc::channel(64);
            let listener = Arc::new(TcpListener::bind("127.0.0.1:0").await.unwrap());
            for n in 0..60 {
                let (guard, listener) = (guards.guard(), listener.clone());
                let begun = begun_tx.clone();
                actor::spawn(move |cx: &mut Cx<()>| {
                    let _guard = guard;
                    begun.send(()).wait().unwrap();
                    match n % 4 {
                        0 => cx.sleep(Duration::from_secs(3600)),
                        1 => drop(listener.accept().wait()),
                        2 => drop(cx.receive_any()),
                        _ => actor::blocking(|| ()),
                    }
                    cx.sleep(Duration::from_secs(3600));
                })
                .detach();
            }
            for _ in 0..60 {
                begun.recv().await.unwrap();
            }
        });
        assert_eq!(drops.count(), 60);
    });
}

#[test]
fn a_process_is_no_place_to_start_a_runtime() {
    each_driver(|runtime| {
        let handle = runtime.handle().clone();
        let refused = runtime.run(async move {
            let process = actor::spawn(move |_: &mut Cx<()>| handle.block_on(async {}));
            process.join().await.unwrap_err()
        });
        assert!(refused.to_string().contains("inside an async task"), "{refused}");
    });
}

/// The name of the environment variable that makes this program overflow a stack.
const OVERFLOW: &str = "RADDLE_TEST_OVERFLOW";

#[test]
fn an_overflow_names_the_actor() {
    fn deep(n: u64) -> u64 {
        let block = std::hint::black_box([n; 64]);
        if n == u64::MAX { 0 } else { deep(n + 1) + block[usize::from(n as u8) % 64] }
    }
    if std::env::var_os(OVERFLOW).is_some() {
        let _ = actor::run(|_| {
            let builder = actor::Builder::new().name("bottomless");
            let process = builder.spawn(|_: &mut Cx<()>| std::hint::black_box(deep(0)));
            process.join().wait().unwrap()
        });
        return;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "an_overflow_names_the_actor", "--nocapture"])
        .env(OVERFLOW, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{text}");
    assert!(text.contains("bottomless") && text.contains("overflow"), "{text}");
}

#[test]
fn a_message_to_a_process_that_ended_comes_back() {
    each_driver(|runtime| {
        runtime.run(async {
            let process = actor::spawn(|_: &mut Cx<String>| ());
            let address: Address<String> = process.address().clone();
            process.await.unwrap();
            let error = address.send(String::from("late")).await.unwrap_err();
            assert_eq!(error.into_inner(), "late");
        });
    });
}

/// Counts yields after which the thread is another, or a thread-local is elsewhere, and gives the
/// thread back. What lies on the stack is of one thread.
fn stays(cx: &mut Cx<()>, yields: usize) -> (usize, thread::ThreadId) {
    let lock = sync::Mutex::new(0);
    let (me, first) = (thread::current().id(), locals::addresses());
    let (held, guard) = (Rc::new(RefCell::new(0)), lock.lock().unwrap());
    let mut strange = 0;
    for n in 0..yields {
        *held.borrow_mut() += 1;
        let borrowed = held.borrow();
        locals::PLAIN.set(n);
        if n % 512 == 511 {
            cx.sleep(Duration::from_micros(1))
        } else {
            cx.yield_now()
        }
        let same = me == thread::current().id() && first == locals::addresses();
        strange += usize::from(!same || *borrowed != n + 1);
    }
    drop(guard);
    (strange, me)
}

/// The stealing load: tasks that are spawned on one worker and keep several busy.
async fn stealing_load(over: Arc<AtomicBool>) {
    while !over.load(SeqCst) {
        let tasks: Vec<_> = (0..32).map(|_| raddle::spawn(raddle::task::yield_now())).collect();
        for task in tasks {
            task.await.unwrap();
        }
    }
}

/// To be run by hand with `CARGO_PROFILE_RELEASE_LTO=fat cargo test --release` as well.
#[test]
fn stacks_find_their_threads_variables() {
    watched(|| {
        let runtime = Builder::new().workers(4).build().unwrap();
        runtime.run(async {
            let over = Arc::new(AtomicBool::new(false));
            let load = raddle::spawn(stealing_load(over.clone()));
            let all: Vec<_> =
                (0..20).map(|_| actor::spawn(|cx: &mut Cx<()>| stays(cx, 5_000))).collect();
            for process in all {
                assert_eq!(process.join().await.unwrap().0, 0);
            }
            over.store(true, SeqCst);
            load.await.unwrap();
        });
    });
}

fn mxcsr() -> u32 {
    let mut word = 0_u32;
    // SAFETY: stores a control word.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack)) };
    word
}

fn x87() -> u16 {
    let mut word = 0_u16;
    // SAFETY: stores a control word.
    unsafe { asm!("fnstcw [{}]", in(reg) &raw mut word, options(nostack)) };
    word
}

/// Sets rounding mode and precision to those of number `n`; what the words are then.
fn set_fp(n: u16) -> (u32, u16) {
    let sse = mxcsr() & !0x6000 | u32::from(n % 4) << 13;
    let (x87, precision) = (x87() & !0x0f00, [0, 2, 3][usize::from(n % 3)]);
    let x87 = x87 | precision << 8 | (n % 4) << 10;
    // SAFETY: rounding and precision only; the process has the words for itself, and what is
    // computed here is whole numbers.
    unsafe {
        asm!("ldmxcsr [{}]", in(reg) &raw const sse, options(nostack));
        asm!("fldcw [{}]", in(reg) &raw const x87, options(nostack));
    }
    (sse, x87)
}

#[test]
fn processes_keep_their_rounding_to_themselves() {
    watched(|| {
        let runtime = Builder::new().workers(1).build().unwrap();
        runtime.run(async {
            let mut all = Vec::new();
            for n in 0..8_u16 {
                let own = actor::Builder::new().own_fp_env();
                all.push(own.spawn(move |cx: &mut Cx<()>| {
                    let set = set_fp(n);
                    (0..5000).filter(|_| ((mxcsr(), x87()) != set, cx.yield_now()).0).count()
                }));
                // One without words of its own sees the thread's, always.
                all.push(actor::spawn(|cx: &mut Cx<()>| {
                    let before = (mxcsr() & 0xffc0, x87());
                    let here = |_: &u32| ((mxcsr() & 0xffc0, x87()) != before, cx.yield_now()).0;
                    (0..5000).filter(here).count()
                }));
            }
            for process in all {
                assert_eq!(process.join().await.unwrap(), 0);
            }
        });
    });
}

//! Ends that go wrong: destructors that panic, exit, kill, wait or spawn; handles that are
//! forgotten; signals at any moment.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::{Dropped, runtime};
use raddle_actor::{self as actor, Actor, Builder, Cx, ExitReason};
use raddle_runtime::time::{Sleep, sleep};
use raddle_runtime::{block_in_place, task};
use raddle_sync::{Wait, oneshot};

const LONG: Duration = Duration::from_secs(3600);

/// Calls a function when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// A process that waits with `on_stack` in its hands, and is killed.
async fn killed_with<T: Send + 'static>(on_stack: T) -> ExitReason {
    let (tx, begun) = oneshot::channel();
    let process = actor::spawn(move |cx: &mut Cx<()>| {
        let _on_stack = on_stack;
        tx.send(()).unwrap();
        cx.sleep(LONG);
    });
    begun.await.unwrap();
    process.process().kill();
    process.join().await.unwrap_err()
}

#[test]
fn destructors_do_what_they_like() {
    runtime(1).run(async {
        assert_eq!(killed_with(OnDrop(actor::yield_now)).await, ExitReason::Killed);
        assert_eq!(killed_with(OnDrop(actor::check)).await, ExitReason::Killed);
        let nap = OnDrop(|| actor::sleep(Duration::from_millis(1)));
        assert_eq!(killed_with(nap).await, ExitReason::Killed);
        let blocks = OnDrop(|| assert_eq!(actor::blocking(|| 3), 3));
        assert_eq!(killed_with(blocks).await, ExitReason::Killed);
        let section = OnDrop(|| block_in_place(actor::yield_now));
        assert_eq!(killed_with(section).await, ExitReason::Killed);
        // Its exit is refused, and what it catches is its own affair.
        let exits = OnDrop(|| {
            let exit = || actor::exit(ExitReason::Shutdown);
            assert!(catch_unwind(exit).is_err());
        });
        assert_eq!(killed_with(exits).await, ExitReason::Killed);
        let spawns = OnDrop(|| assert_eq!(actor::spawn(|_: &mut Cx<()>| 4).join().wait(), Ok(4)));
        assert_eq!(killed_with(spawns).await, ExitReason::Killed);
    });
}

#[test]
fn payloads_whose_destructors_panic_stop_nobody() {
    runtime(1).run(async {
        let bad = || {
            OnDrop(|| {
                if !thread::panicking() {
                    panic!("a payload's destructor")
                }
            })
        };
        let process = actor::spawn(move |_: &mut Cx<()>| panic_any(bad()));
        let reason = process.join().await.unwrap_err();
        assert!(matches!(reason, ExitReason::Panicked(_)), "{reason}");
        assert!(catch_unwind(AssertUnwindSafe(|| drop(reason))).is_err());
        // With nobody to join it, and through a handler.
        actor::spawn(move |_: &mut Cx<()>| panic_any(bad())).detach();
        let process =
            actor::spawn(move |_: &mut Cx<()>| OnDrop(|| panic!("a result's destructor")));
        process.detach();
        task::yield_now().await;
        task::yield_now().await;
        assert_eq!(actor::spawn(|_: &mut Cx<()>| 1).join().await, Ok(1));
    });
}

#[test]
fn a_kill_that_was_caught_is_no_weapon() {
    runtime(1).run(async {
        let (tx, caught) = oneshot::channel();
        let (begin, begun) = oneshot::channel();
        let process = actor::spawn(move |cx: &mut Cx<()>| {
            begin.send(()).unwrap();
            let payload = catch_unwind(AssertUnwindSafe(|| cx.sleep(LONG))).unwrap_err();
            let _ = tx.send(payload);
        });
        begun.await.unwrap();
        process.process().kill();
        assert_eq!(process.join().await, Err(ExitReason::Killed));
        let payload = caught.await.unwrap();
        let other = actor::spawn(move |_: &mut Cx<()>| resume_unwind(payload));
        let reason = other.join().await.unwrap_err();
        assert!(matches!(reason, ExitReason::Panicked(_)), "{reason}");
    });
}

#[test]
fn a_wait_beyond_the_end_of_time_is_a_wait() {
    runtime(1).run(async {
        let process = actor::spawn(|cx: &mut Cx<u8>| {
            assert_eq!(cx.receive_timeout(Duration::MAX), Ok(1));
            assert_eq!(cx.receive_where_timeout(Duration::MAX, |n| *n == 2), Ok(2));
            cx.sleep(Duration::MAX);
        });
        process.address().send(1).await.unwrap();
        process.address().send(2).await.unwrap();
        task::yield_now().await;
        process.process().exit(ExitReason::Shutdown);
        assert_eq!(process.join().await, Err(ExitReason::Shutdown));
    });
}

/// Spawns the like of itself when it is dropped, `left` times over.
struct Hydra {
    left: usize,
    drops: Arc<AtomicUsize>,
}

impl Drop for Hydra {
    fn drop(&mut self) {
        self.drops.fetch_add(1, SeqCst);
        if self.left > 0 {
            let next = Hydra { left: self.left - 1, drops: self.drops.clone() };
            actor::spawn(move |cx: &mut Cx<()>| {
                let _next = next;
                cx.sleep(LONG);
            })
            .detach();
        }
    }
}

#[test]
fn processes_that_spawn_at_the_end_of_the_runtime_end_with_it() {
    for workers in [1, 3] {
        let drops = Arc::new(AtomicUsize::new(0));
        runtime(workers).run(async {
            for _ in 0..20 {
                let hydra = Hydra { left: 5, drops: drops.clone() };
                actor::spawn(move |cx: &mut Cx<()>| {
                    let _hydra = hydra;
                    cx.sleep(LONG);
                })
                .detach();
            }
            task::yield_now().await;
        });
        assert_eq!(drops.load(SeqCst), 20 * 6);
    }
}

/// Forgets something, and still knows where it is, lest a search for leaks finds it.
fn forget(value: impl Any + Send) {
    static KEPT: Mutex<Vec<Box<dyn Any + Send>>> = Mutex::new(Vec::new());
    KEPT.lock().unwrap().push(Box::new(value));
}

#[test]
fn forgotten_handles_hold_nothing_up() {
    let dropped = Arc::new(AtomicUsize::new(0));
    runtime(2).run(async {
        let held = Dropped(dropped.clone());
        let process = actor::spawn(move |cx: &mut Cx<u8>| {
            let _held = held;
            let other = actor::spawn(|cx: &mut Cx<u8>| cx.receive());
            std::mem::forget(other.address().send(1));
            forget(other.join());
            forget(cx.address());
            forget(cx.process());
            forget(sleep(LONG));
            cx.receive()
        });
        task::yield_now().await;
        forget(process.address().clone());
        forget(process);
    });
    assert_eq!(dropped.load(SeqCst), 1);
}

/// Has a timer in its state that it arms on one worker, and that goes with it to others.
struct Naps {
    nap: Pin<Box<Sleep>>,
    _dropped: Dropped,
}

impl Actor for Naps {
    type Message = u64;

    fn handle(&mut self, n: u64, cx: &mut Cx<u64>) {
        if self.nap.as_mut().wait_timeout(Duration::from_micros(n % 3)).is_some() {
            self.nap = Box::pin(sleep(Duration::from_micros(n % 50)));
        }
        match n % 5 {
            0 => cx.sleep(Duration::from_micros(20)),
            1 => cx.yield_now(),
            2 => actor::blocking(|| ()),
            _ => {}
        }
    }
}

#[test]
fn signals_at_any_moment_end_an_actor_once() {
    let dropped = Arc::new(AtomicUsize::new(0));
    const ROUNDS: usize = 60;
    for round in 0..ROUNDS {
        runtime(3).run(async {
            let mut all = Vec::new();
            for n in 0..8_u64 {
                let nap = Box::pin(sleep(Duration::from_micros(n)));
                let actor = Naps { nap, _dropped: Dropped(dropped.clone()) };
                let process = Builder::new().spawn_actor(actor);
                let (address, reference) = (process.address().clone(), process.process().clone());
                all.push(process);
                let turns = (round as u64 * 7 + n * 13) % 90;
                raddle_runtime::spawn(async move {
                    for turn in 0..turns {
                        let _ = address.try_send(turn * 31 + n);
                        if turn % 4 == 0 {
                            task::yield_now().await;
                        }
                    }
                    if n % 2 == 0 { reference.kill() } else { reference.exit(ExitReason::Shutdown) }
                })
                .detach();
            }
            // Half of the rounds end in the middle of it.
            if round % 2 == 0 {
                for process in all {
                    let reason = process.join().await.map(drop).unwrap_err();
                    assert!(matches!(reason, ExitReason::Killed | ExitReason::Shutdown));
                }
            }
        });
        assert_eq!(dropped.load(SeqCst), 8 * (round + 1));
    }
}

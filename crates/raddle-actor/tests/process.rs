//! Processes and actors on a runtime without a kernel: messages, waits, ends, links, threads.

#[path = "process/endings.rs"]
mod endings;
#[path = "process/hostile.rs"]
mod hostile;
#[path = "process/scarce.rs"]
mod scarce;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use raddle_actor::{
    self as actor, Actor, Builder, Cx, Event, ExitReason, Incoming, Policy, ReceiveTimeoutError,
};
use raddle_runtime::park::ThreadDrivers;
use raddle_runtime::{Config, Runtime, spawn, task};
use raddle_sync::{Semaphore, Wait, oneshot};

fn runtime(workers: usize) -> Runtime {
    let config = Config { workers, ..Config::default() };
    Runtime::new(config, Box::new(ThreadDrivers)).unwrap()
}

/// Counts drops.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn a_process_receives_and_returns() {
    runtime(2).run(async {
        let adder = actor::spawn(|cx: &mut Cx<u32>| {
            let mut sum = 0;
            while let Ok(number) = cx.receive() {
                sum += number;
            }
            sum
        });
        for number in 0..1000 {
            adder.address().send(number).await.unwrap();
        }
        assert_eq!(adder.join().await.unwrap(), 499_500);
    });
}

#[test]
fn any_future_is_waited_for_in_blocking_style() {
    runtime(1).run(async {
        let (tx, rx) = oneshot::channel();
        let process = actor::spawn(move |cx: &mut Cx<()>| {
            let child = spawn(async { 40 });
            let number: i32 = rx.wait().unwrap();
            // Nested: a process waits for a process, without a thread of its own.
            let two = actor::spawn(move |cx: &mut Cx<()>| {
                cx.sleep(Duration::from_millis(1));
                number
            });
            let sum = child.wait().unwrap() + two.join().wait().unwrap();
            cx.yield_now();
            sum
        });
        task::yield_now().await;
        tx.send(2).unwrap();
        assert_eq!(process.join().await.unwrap(), 42);
    });
}

#[test]
fn a_wait_with_a_limit_ends_by_it() {
    runtime(1).run(async {
        let (tx, timed_out) = oneshot::channel();
        let process = actor::spawn(|cx: &mut Cx<u8>| {
            let limit = Duration::from_millis(2);
            assert_eq!(cx.receive_timeout(limit), Err(ReceiveTimeoutError::Timeout));
            assert_eq!(std::future::pending::<()>().wait_timeout(limit), None);
            let semaphore = Semaphore::new(0);
            assert!(semaphore.acquire().wait_timeout(limit).is_none());
            tx.send(()).unwrap();
            assert_eq!(cx.receive_timeout(Duration::from_secs(600)), Ok(7));
        });
        timed_out.await.unwrap();
        process.address().send(7).await.unwrap();
        process.await.unwrap();
    });
}

#[test]
fn selective_receive_leaves_the_others_in_order() {
    runtime(1).run(async {
        let process = actor::spawn(|cx: &mut Cx<u32>| {
            let wanted = cx.receive_where(|n| n % 10 == 7).unwrap();
            let rest: Vec<_> = (0..3).map(|_| cx.receive().unwrap()).collect();
            (wanted, rest)
        });
        for n in [1, 2, 17, 3] {
            process.address().send(n).await.unwrap();
        }
        assert_eq!(process.join().await.unwrap(), (17, vec![1, 2, 3]));
    });
}

#[test]
fn what_lies_on_a_stack_stays_on_its_thread() {
    runtime(2).run(async {
        let processes: Vec<_> = (0..64)
            .map(|n| {
                actor::spawn(move |cx: &mut Cx<()>| {
                    thread_local!(static MARK: Cell<usize> = const { Cell::new(0) });
                    let held = Rc::new(Cell::new(0));
                    let me = thread::current().id();
                    let mark = MARK.with(|mark| std::ptr::from_ref(mark).addr());
                    for turn in 0..500 {
                        held.set(held.get() + 1);
                        if (turn + n) % 97 == 0 {
                            cx.sleep(Duration::from_micros(50));
                        } else {
                            cx.yield_now();
                        }
                        assert_eq!(me, thread::current().id());
                        assert_eq!(mark, MARK.with(|mark| std::ptr::from_ref(mark).addr()));
                    }
                    held.get()
                })
            })
            .collect();
        for process in processes {
            assert_eq!(process.join().await.unwrap(), 500);
        }
    });
}

#[test]
fn a_kill_unwinds_and_cannot_be_swallowed() {
    runtime(1).run(async {
        let dropped = Arc::new(AtomicUsize::new(0));
        let held = Dropped(dropped.clone());
        let (tx, begun) = oneshot::channel();
        let process = actor::spawn(move |cx: &mut Cx<()>| {
            let _held = held;
            tx.send(()).unwrap();
            for _ in 0..10 {
                let _ = catch_unwind(AssertUnwindSafe(|| cx.sleep(Duration::from_secs(3600))));
            }
        });
        begun.await.unwrap();
        let reference = process.process().clone();
        reference.kill();
        let reason: Result<(), _> = process.join().await;
        assert_eq!(reason.unwrap_err(), ExitReason::Killed);
        assert_eq!(dropped.load(SeqCst), 1);
        assert!(!reference.is_alive());
    });
}

#[test]
fn a_process_exits_from_the_depth_of_its_calls() {
    runtime(1).run(async {
        let process = actor::spawn(|_: &mut Cx<()>| {
            fn deep(left: u32) {
                if left == 0 {
                    actor::exit(ExitReason::failed("enough"));
                }
                deep(left - 1);
            }
            deep(50);
        });
        let reason = process.join().await.unwrap_err();
        assert_eq!(reason.to_string(), "failed: enough");
    });
}

#[test]
fn a_panic_is_a_reason_and_reaches_links_and_monitors() {
    runtime(2).run(async {
        let parent = actor::spawn(|cx: &mut Cx<()>| {
            cx.trap_exit(true);
            let child = Builder::new().spawn_link(cx, |cx: &mut Cx<()>| {
                let _ = cx.receive();
                panic!("the child's panic");
            });
            let monitor = cx.monitor(child.process());
            let pid = child.pid();
            drop(child);
            let mut seen = (false, false);
            while seen != (true, true) {
                match cx.receive_event() {
                    Event::Exit { pid: from, reason, linked } => {
                        assert_eq!((from, linked), (Some(pid), true));
                        assert_eq!(reason.to_string(), "panicked: the child's panic");
                        seen.0 = true;
                    }
                    Event::Down { monitor: which, pid: from, .. } => {
                        assert_eq!((which, from), (monitor, pid));
                        seen.1 = true;
                    }
                    other => panic!("{other:?}"),
                }
            }
        });
        parent.await.unwrap();
    });
}

#[test]
fn the_end_of_a_link_ends_those_who_do_not_trap() {
    runtime(2).run(async {
        let dropped = Arc::new(AtomicUsize::new(0));
        let counter = dropped.clone();
        let parent = actor::spawn(move |cx: &mut Cx<()>| {
            let held = Dropped(counter.clone());
            let child = Builder::new().spawn_link(cx, move |cx: &mut Cx<()>| {
                let _held = held;
                cx.sleep(Duration::from_secs(3600));
            });
            let process = child.process().clone();
            child.detach();
            let _held = Dropped(counter);
            cx.yield_now();
            process.exit(ExitReason::failed("told to"));
            cx.sleep(Duration::from_secs(3600));
        });
        let reason = parent.join().await.unwrap_err();
        assert_eq!(reason.to_string(), "failed: told to");
        assert_eq!(dropped.load(SeqCst), 2);
    });
}

#[test]
fn destructors_that_wait_come_to_their_end() {
    struct Waits(raddle_actor::Address<u8>);
    impl Drop for Waits {
        fn drop(&mut self) {
            // A send and a sleep while the stack unwinds.
            self.0.send(1).wait().unwrap();
            actor::sleep(Duration::from_millis(1));
            self.0.send(2).wait().unwrap();
        }
    }
    runtime(1).run(async {
        let sink = actor::spawn(|cx: &mut Cx<u8>| (cx.receive().unwrap(), cx.receive().unwrap()));
        let waits = Waits(sink.address().clone());
        let (tx, begun) = oneshot::channel();
        let process = actor::spawn(move |cx: &mut Cx<()>| {
            let _waits = waits;
            tx.send(()).unwrap();
            cx.sleep(Duration::from_secs(3600));
        });
        begun.await.unwrap();
        process.process().kill();
        assert!(process.join().await.is_err());
        assert_eq!(sink.join().await.unwrap(), (1, 2));
        // The same for one that has not begun.
        let sink = actor::spawn(|cx: &mut Cx<u8>| (cx.receive().unwrap(), cx.receive().unwrap()));
        let waits = Waits(sink.address().clone());
        let process = actor::spawn(move |_: &mut Cx<()>| drop(waits));
        process.process().kill();
        assert!(process.join().await.is_err());
        assert_eq!(sink.join().await.unwrap(), (1, 2));
    });
}

#[test]
fn blocking_work_borrows_from_the_stack() {
    runtime(1).run(async {
        let ticks = Arc::new(AtomicUsize::new(0));
        let counter = ticks.clone();
        let other = spawn(async move {
            loop {
                counter.fetch_add(1, SeqCst);
                task::yield_now().await;
            }
        });
        let seen = ticks.clone();
        let process = actor::spawn(move |_: &mut Cx<()>| {
            let mut text = String::from("borrowed");
            let here = thread::current().id();
            let length = actor::blocking(|| {
                assert_ne!(here, thread::current().id());
                let before = seen.load(SeqCst);
                while seen.load(SeqCst) < before + 10 {
                    thread::yield_now();
                }
                text.push('!');
                text.len()
            });
            let caught = catch_unwind(|| actor::blocking(|| panic!("in the job")));
            assert!(caught.is_err());
            (length, text)
        });
        assert_eq!(process.join().await.unwrap(), (9, String::from("borrowed!")));
        other.abort();
    });
}

#[test]
fn a_kill_waits_for_borrowed_work() {
    runtime(1).run(async {
        let (entered_tx, entered) = oneshot::channel();
        let (go, gone) = oneshot::channel();
        let process = actor::spawn(move |_: &mut Cx<()>| {
            let mut bytes = [0u8; 64];
            actor::blocking(|| {
                entered_tx.send(()).unwrap();
                gone.wait().unwrap();
                bytes.fill(1);
            });
            actor::yield_now();
        });
        entered.await.unwrap();
        process.process().kill();
        for _ in 0..100 {
            task::yield_now().await;
        }
        assert!(!process.is_finished(), "a stack was unwound while a job used it");
        go.send(()).unwrap();
        assert_eq!(process.join().await.unwrap_err(), ExitReason::Killed);
    });
}

#[test]
fn the_end_of_the_runtime_unwinds_all_stacks() {
    let dropped = Arc::new(AtomicUsize::new(0));
    for workers in [1, 2] {
        dropped.store(0, SeqCst);
        let counter = dropped.clone();
        runtime(workers).run(async move {
            for n in 0..1000 {
                let counter = counter.clone();
                actor::spawn(move |cx: &mut Cx<()>| {
                    let _held: Vec<_> = (0..3).map(|_| Dropped(counter.clone())).collect();
                    if n % 2 == 0 {
                        thread::scope(|_| cx.sleep(Duration::from_secs(3600)));
                    } else {
                        let _ = cx.receive_any();
                    }
                })
                .detach();
            }
            for _ in 0..5 {
                task::yield_now().await;
            }
        });
        let expected = dropped.load(SeqCst);
        assert_eq!(expected % 3, 0, "a stack was unwound in part");
    }
}

#[test]
fn events_and_messages_come_by_one_call() {
    runtime(1).run(async {
        let process = actor::spawn(|cx: &mut Cx<u8>| {
            let other = actor::spawn(|_: &mut Cx<()>| ());
            let monitor = cx.monitor(other.process());
            other.join().wait().unwrap();
            let address = cx.address();
            address.try_send(9).unwrap();
            let Ok(Incoming::Event(Event::Down { monitor: which, .. })) = cx.receive_any() else {
                panic!("events go first")
            };
            assert_eq!(which, monitor);
            assert!(matches!(cx.receive_any(), Ok(Incoming::Message(9))));
        });
        process.await.unwrap();
    });
}

#[test]
fn a_bounded_mailbox_makes_senders_wait() {
    runtime(1).run(async {
        let process = Builder::new().mailbox(2, Policy::Wait).spawn(|cx: &mut Cx<u32>| {
            let mut seen = Vec::new();
            while let Ok(n) = cx.receive() {
                seen.push(n);
                cx.yield_now();
            }
            seen
        });
        let address = process.address().clone();
        let producer = actor::spawn(move |_: &mut Cx<()>| {
            for n in 0..100 {
                address.send(n).wait().unwrap();
            }
        });
        producer.await.unwrap();
        assert_eq!(process.join().await.unwrap(), (0..100).collect::<Vec<_>>());
    });
}

/// An actor that notes what happens to it.
struct Notes {
    log: Arc<std::sync::Mutex<Vec<String>>>,
}

enum Ask {
    Note(&'static str),
    Nap(Duration),
    Quit(ExitReason),
    Panic,
}

impl Notes {
    fn note(&self, text: impl Into<String>) {
        self.log.lock().unwrap().push(text.into());
    }
}

impl Actor for Notes {
    type Message = Ask;

    fn started(&mut self, _: &mut Cx<Ask>) {
        self.note("started");
    }

    fn handle(&mut self, message: Ask, cx: &mut Cx<Ask>) {
        match message {
            Ask::Note(text) => self.note(text),
            Ask::Nap(time) => {
                self.note("naps");
                cx.sleep(time);
                self.note("woke");
            }
            Ask::Quit(reason) => cx.exit(reason),
            Ask::Panic => panic!("asked to"),
        }
    }

    fn stopped(&mut self, reason: &ExitReason, cx: &mut Cx<Ask>) {
        // It may wait here as well.
        cx.sleep(Duration::from_millis(1));
        self.note(format!("stopped: {reason}"));
    }
}

#[test]
fn an_actor_handles_in_order_and_stops_in_peace() {
    for (last, end) in [
        (None, "stopped: normal"),
        (Some(Ask::Quit(ExitReason::failed("no"))), "stopped: failed: no"),
        (Some(Ask::Panic), "stopped: panicked: asked to"),
    ] {
        let log = Arc::new(std::sync::Mutex::new(Vec::new()));
        let actor = Notes { log: log.clone() };
        runtime(2).run(async move {
            let process = Builder::new().name("notes").spawn_actor(actor);
            let address = process.address().clone();
            address.send(Ask::Note("one")).await.ok().unwrap();
            address.send(Ask::Nap(Duration::from_millis(1))).await.ok().unwrap();
            address.send(Ask::Note("two")).await.ok().unwrap();
            let fails = last.is_some();
            if let Some(last) = last {
                address.send(last).await.ok().unwrap();
            }
            drop(address);
            assert_eq!(process.join().await.is_err(), fails);
        });
        let log = log.lock().unwrap();
        assert_eq!(*log, ["started", "one", "naps", "woke", "two", end]);
    }
}

#[test]
fn a_kill_is_not_a_stop() {
    let log = Arc::new(std::sync::Mutex::new(Vec::new()));
    let actor = Notes { log: log.clone() };
    runtime(1).run(async move {
        let process = Builder::new().spawn_actor(actor);
        process.address().send(Ask::Nap(Duration::from_secs(3600))).await.ok().unwrap();
        for _ in 0..4 {
            task::yield_now().await;
        }
        process.process().kill();
        assert_eq!(process.join().await.err().unwrap(), ExitReason::Killed);
    });
    assert_eq!(*log.lock().unwrap(), ["started", "naps"]);
}

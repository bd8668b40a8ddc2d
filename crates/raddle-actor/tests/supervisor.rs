//! Supervisors: what starts, stops and starts again, in which order, and when it is too much.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use raddle_actor::supervisor::{
    Child, ChildError, ChildSpec, Restart, Stop, Strategy, Supervisor, SupervisorRef,
};
use raddle_actor::{Actor, Address, CallError, Cx, ExitReason, Policy, Reply};
use raddle_runtime::park::ThreadDrivers;
use raddle_runtime::time::timeout;
use raddle_runtime::{Config, Runtime, task};

const LONG: Duration = Duration::from_secs(60);

fn run<F: Future>(future: F) -> F::Output {
    let config = Config { workers: 2, ..Config::default() };
    let runtime = Runtime::new(config, Box::new(ThreadDrivers)).unwrap();
    runtime.run(async { timeout(LONG, future).await.expect("stuck") })
}

type Log = Arc<Mutex<Vec<String>>>;

fn note(log: &Log, text: impl Into<String>) {
    log.lock().unwrap().push(text.into());
}

fn taken(log: &Log) -> Vec<String> {
    std::mem::take(&mut log.lock().unwrap())
}

enum Ask {
    Echo(u32, Reply<u32>),
    Panic,
    Quit(ExitReason),
}

/// An actor that notes its starts and stops.
struct Noted(&'static str, Log);

impl Actor for Noted {
    type Message = Ask;

    fn started(&mut self, _: &mut Cx<Ask>) {
        note(&self.1, format!("+{}", self.0));
    }

    fn handle(&mut self, message: Ask, cx: &mut Cx<Ask>) {
        match message {
            Ask::Echo(number, reply) => drop(reply.reply(number)),
            Ask::Panic => panic!("told to"),
            Ask::Quit(reason) => cx.exit(reason),
        }
    }

    fn stopped(&mut self, _: &ExitReason, cx: &mut Cx<Ask>) {
        // The next incarnation must not begin before this is over.
        cx.sleep(Duration::from_millis(1));
        note(&self.1, format!("-{}", self.0));
    }
}

fn noted(name: &'static str, log: &Log) -> Child<Ask> {
    let log = log.clone();
    Child::actor(name, move || Noted(name, log.clone()))
}

async fn echo(address: &Address<Ask>, number: u32) -> Result<u32, CallError> {
    address.call(|reply| Ask::Echo(number, reply)).await
}

/// Three children under a strategy; their addresses.
async fn three(
    strategy: Strategy,
    restart: Restart,
    log: &Log,
) -> (SupervisorRef, [Address<Ask>; 3]) {
    let children = ["a", "b", "c"].map(|name| noted(name, log).restart(restart));
    let addresses = [0, 1, 2].map(|n: usize| children[n].address());
    let mut supervisor = Supervisor::new("three").strategy(strategy).intensity(10, LONG);
    for child in children {
        supervisor = supervisor.child(child);
    }
    let supervisor = supervisor.start().await.unwrap();
    for address in &addresses {
        assert_eq!(echo(address, 1).await, Ok(1));
    }
    assert_eq!(taken(log).len(), 3);
    (supervisor, addresses)
}

#[test]
fn a_strategy_says_who_is_started_again() {
    for (strategy, expected) in [
        (Strategy::OneForOne, vec!["-b", "+b"]),
        (Strategy::OneForAll, vec!["-b", "-c", "-a", "+a", "+b", "+c"]),
        (Strategy::RestForOne, vec!["-b", "-c", "+b", "+c"]),
    ] {
        run(async {
            let log = Log::default();
            let (supervisor, addresses) = three(strategy, Restart::Permanent, &log).await;
            addresses[1].send(Ask::Panic).await.ok().unwrap();
            // Served by the next incarnation.
            assert_eq!(echo(&addresses[1], 2).await.or(echo(&addresses[1], 2).await), Ok(2));
            for address in &addresses {
                while echo(address, 3).await != Ok(3) {}
            }
            let mut seen = taken(&log);
            // Those that start are not waited for, so only stops and the rest have an order.
            let starts = seen.iter().position(|line| line.starts_with('+')).unwrap();
            seen[starts..].sort();
            assert_eq!(seen, expected, "{strategy}");
            assert_eq!(supervisor.shutdown().await, ExitReason::Shutdown);
            assert_eq!(taken(&log), ["-c", "-b", "-a"], "{strategy}");
        });
    }
}

#[test]
fn a_restart_type_says_after_which_ends() {
    for (restart, reason, again) in [
        (Restart::Permanent, ExitReason::Normal, true),
        (Restart::Permanent, ExitReason::failed("x"), true),
        (Restart::Transient, ExitReason::Normal, false),
        (Restart::Transient, ExitReason::Shutdown, false),
        (Restart::Transient, ExitReason::failed("x"), true),
        (Restart::Temporary, ExitReason::failed("x"), false),
    ] {
        run(async {
            let log = Log::default();
            let (supervisor, addresses) = three(Strategy::OneForOne, restart, &log).await;
            let process = addresses[1].process().unwrap();
            addresses[1].send(Ask::Quit(reason.clone())).await.ok().unwrap();
            process.join().await;
            // An order after the end was told: by then it has been dealt with.
            let deleted = supervisor.delete_child("nobody").await;
            assert_eq!(deleted, Err(ChildError::Unknown));
            let runs =
                supervisor.which_children().iter().any(|c| c.name() == "b" && c.pid().is_some());
            assert_eq!(runs, again, "{restart} {reason}");
            let known = supervisor.which_children().iter().any(|child| child.name() == "b");
            assert_eq!(known, restart != Restart::Temporary);
            supervisor.shutdown().await;
        });
    }
}

#[test]
fn too_many_restarts_end_the_supervisor_and_go_up() {
    run(async {
        let log = Log::default();
        let starts = Arc::new(AtomicUsize::new(0));
        let counter = starts.clone();
        let inner_log = log.clone();
        let outer = Supervisor::new("outer").intensity(2, LONG).child(ChildSpec::supervisor(
            "inner",
            move || {
                counter.fetch_add(1, SeqCst);
                let crashes = Child::process("crashes", |_: &mut Cx<()>| panic!("at once"));
                Supervisor::new("inner")
                    .intensity(3, LONG)
                    .child(noted("steady", &inner_log))
                    .child(crashes)
            },
        ));
        let supervisor = outer.start().await.unwrap();
        let reason = supervisor.process().join().await.to_string();
        assert!(reason.contains("of inner") && reason.contains("of crashes"), "{reason}");
        // The first and two more; each with a steady child that was stopped.
        assert_eq!(starts.load(SeqCst), 3);
        let log = taken(&log);
        let stops = log.iter().filter(|line| line.starts_with('-')).count();
        assert_eq!(log.len(), 2 * stops, "{log:?}");
    });
}

#[test]
fn a_start_that_fails_stops_those_before() {
    run(async {
        let log = Log::default();
        let fails = Child::actor("fails", || -> Noted { panic!("no state to be had") });
        let error = Supervisor::new("none")
            .child(noted("a", &log))
            .child(noted("b", &log))
            .child(fails)
            .start()
            .await
            .unwrap_err();
        assert_eq!(error.child(), "fails");
        assert!(error.to_string().contains("no state to be had"));
        let mut log = taken(&log);
        log.retain(|line| line.starts_with('-'));
        assert_eq!(log, ["-b", "-a"]);
    });
}

#[test]
fn messages_stay_in_order_and_calls_are_answered_over_restarts() {
    /// Panics at each tenth message.
    struct Tenth {
        seen: Arc<Mutex<Vec<u32>>>,
        count: u32,
    }
    enum Message {
        Plain(u32),
        Call(Reply<()>),
    }
    impl Actor for Tenth {
        type Message = Message;

        fn handle(&mut self, message: Message, _: &mut Cx<Message>) {
            self.count += 1;
            match message {
                Message::Plain(number) => self.seen.lock().unwrap().push(number),
                Message::Call(reply) => drop(reply.reply(())),
            }
            assert_ne!(self.count, 10, "the tenth");
        }
    }
    run(async {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let theirs = seen.clone();
        let make = move || Tenth { seen: theirs.clone(), count: 0 };
        let child = Child::actor("tenth", make).mailbox(8, Policy::Wait);
        let address = child.address();
        let supervisor =
            Supervisor::new("busy").intensity(1_000, LONG).child(child).start().await.unwrap();
        let caller = address.clone();
        let calls = raddle_runtime::spawn(async move {
            let (mut answered, mut stopped) = (0, 0);
            for _ in 0..200 {
                match caller.call(Message::Call).await {
                    Ok(()) => answered += 1,
                    Err(CallError::Stopped | CallError::Dropped) => stopped += 1,
                    Err(other) => panic!("{other}"),
                }
                task::yield_now().await;
            }
            (answered, stopped)
        });
        for number in 0..500 {
            address.send(Message::Plain(number)).await.ok().unwrap();
        }
        let (answered, stopped) = calls.await.unwrap();
        assert_eq!(answered + stopped, 200);
        // One more of each, after all others.
        while address.call(Message::Call).await.is_err() {}
        assert_eq!(*seen.lock().unwrap(), (0..500).collect::<Vec<_>>());
        let restarts = supervisor.which_children()[0].restarts();
        assert!((50..=80).contains(&restarts), "{restarts}");
        supervisor.shutdown().await;
        assert!(address.is_closed());
    });
}

#[test]
fn a_child_that_does_not_stop_is_killed_in_its_time() {
    run(async {
        let log = Log::default();
        let theirs = log.clone();
        let stubborn = Child::process("stubborn", move |cx: &mut Cx<()>| {
            cx.trap_exit(true);
            note(&theirs, "+stubborn");
            loop {
                let event = cx.receive_event();
                note(&theirs, format!("{event:?}"));
            }
        })
        .stop(Stop::After(Duration::from_millis(20)));
        let brutal = Child::process("brutal", |cx: &mut Cx<()>| {
            cx.trap_exit(true);
            cx.receive_event();
            panic!("it is not asked");
        })
        .stop(Stop::Kill);
        let supervisor = Supervisor::new("strict")
            .child(noted("a", &log))
            .child(stubborn)
            .child(brutal)
            .start()
            .await
            .unwrap();
        let first = supervisor.which_children()[0].pid().unwrap();
        while log.lock().unwrap().len() < 2 {
            task::yield_now().await;
        }
        taken(&log);
        assert_eq!(supervisor.shutdown().await, ExitReason::Shutdown);
        let log = taken(&log);
        assert_eq!(log.len(), 2, "{log:?}");
        assert!(log[0].contains("shutdown"), "{log:?}");
        assert_eq!(log[1], "-a");
        assert!(!first.is_alive());
    });
}

#[test]
fn children_come_and_go_by_order() {
    run(async {
        let log = Log::default();
        let supervisor = Supervisor::new("dynamic").start().await.unwrap();
        let a = noted("a", &log);
        let address = a.address();
        let pid = supervisor.start_child(a).await.unwrap();
        assert_eq!(address.pid(), Some(pid));
        assert_eq!(echo(&address, 1).await, Ok(1));
        assert_eq!(supervisor.start_child(noted("a", &log)).await, Err(ChildError::NameTaken));
        assert_eq!(supervisor.delete_child("a").await, Err(ChildError::Runs));
        supervisor.terminate_child("a").await.unwrap();
        assert_eq!(taken(&log), ["+a", "-a"]);
        // What is sent meanwhile is kept.
        address.send(Ask::Quit(ExitReason::Normal)).await.ok().unwrap();
        let again = supervisor.restart_child("a").await.unwrap();
        assert_ne!(again, pid);
        supervisor.terminate_child("a").await.unwrap();
        supervisor.delete_child("a").await.unwrap();
        assert!(address.is_closed());
        let fails = Child::actor("b", || -> Noted { panic!("no") });
        assert!(matches!(supervisor.start_child(fails).await, Err(ChildError::Start(_))));
        assert!(supervisor.which_children().is_empty());
        supervisor.shutdown().await;
        let late = supervisor.start_child(noted("c", &log)).await;
        assert_eq!(late, Err(ChildError::Ended));
    });
}

#[test]
fn a_kill_of_the_supervisor_leaves_nobody() {
    run(async {
        let log = Log::default();
        let (supervisor, addresses) = three(Strategy::OneForOne, Restart::Permanent, &log).await;
        let children = addresses.each_ref().map(|address| address.process().unwrap());
        supervisor.process().kill();
        assert_eq!(supervisor.process().join().await, ExitReason::Killed);
        for child in children {
            child.join().await;
        }
    });
}

#[test]
fn a_tree_is_text() {
    run(async {
        let log = Log::default();
        let inner_log = log.clone();
        let supervisor = Supervisor::new("shop")
            .strategy(Strategy::RestForOne)
            .child(noted("till", &log))
            .child(ChildSpec::supervisor("stock", move || {
                Supervisor::new("stock").child(noted("shelf", &inner_log))
            }))
            .child(noted("door", &log).restart(Restart::Transient))
            .start()
            .await
            .unwrap();
        supervisor.terminate_child("door").await.unwrap();
        let pid = |name: &str| {
            let children = supervisor.which_children();
            children.into_iter().find(|child| child.name() == name).unwrap().pid().unwrap()
        };
        let tree = supervisor.tree();
        let shelf = tree.lines().find(|line| line.contains("shelf")).unwrap();
        let shelf = shelf.split_whitespace().find(|word| word.starts_with('<')).unwrap();
        let expected = format!(
            "shop {} rest-for-one\n├─ till {} permanent\n├─ stock {} one-for-one\n│  └─ shelf \
             {shelf} permanent\n└─ door not running, transient\n",
            supervisor.process().pid(),
            pid("till"),
            pid("stock"),
        );
        assert_eq!(tree, expected);
        supervisor.shutdown().await;
        assert!(supervisor.tree().contains("ended"));
    });
}

#[test]
fn an_exit_signal_ends_it_and_a_linked_parent_takes_it_along() {
    run(async {
        let (tell, told) = raddle_sync::oneshot::channel();
        let parent = raddle_actor::spawn(move |cx: &mut Cx<()>| {
            use raddle_sync::Wait;
            let child = Child::process("child", |cx: &mut Cx<()>| {
                let _ = cx.receive();
            });
            let supervisor = Supervisor::new("below").child(child).start_link(cx).wait().unwrap();
            let child = supervisor.which_children()[0].pid().unwrap();
            tell.send((supervisor.process().clone(), child.process().unwrap())).ok().unwrap();
            let _ = cx.receive();
        });
        let (supervisor, child) = told.await.unwrap();
        parent.process().exit(ExitReason::failed("done"));
        assert_eq!(supervisor.join().await.to_string(), "failed: done");
        assert_eq!(child.join().await, ExitReason::Shutdown);
    });
}

#[test]
fn a_call_in_line_is_answered_stopped_and_a_message_is_kept() {
    use raddle_sync::{Wait, oneshot};

    enum Message {
        Hold(oneshot::Sender<()>, oneshot::Receiver<()>),
        Count(Reply<u32>),
        Add(u32),
    }
    run(async {
        let child = Child::process("counter", |cx: &mut Cx<Message>| {
            let mut sum = 0;
            loop {
                match cx.receive().unwrap() {
                    Message::Hold(held, go) => {
                        held.send(()).unwrap();
                        go.wait().unwrap();
                        panic!("in the middle");
                    }
                    Message::Count(reply) => drop(reply.reply(sum)),
                    Message::Add(number) => sum += number,
                }
            }
        });
        let address = child.address();
        let supervisor = Supervisor::new("one").child(child).start().await.unwrap();
        let (held_tx, held) = oneshot::channel();
        let (go, go_rx) = oneshot::channel();
        address.send(Message::Add(1)).await.unwrap();
        address.send(Message::Hold(held_tx, go_rx)).await.unwrap();
        held.await.unwrap();
        address.send(Message::Add(20)).await.unwrap();
        let theirs = address.clone();
        let in_line = raddle_runtime::spawn(async move { theirs.call(Message::Count).await });
        while address.len() < 2 {
            task::yield_now().await;
        }
        address.send(Message::Add(300)).await.unwrap();
        go.send(()).unwrap();
        assert_eq!(in_line.await.unwrap(), Err(CallError::Stopped));
        // What the first incarnation added is gone with it; what was in line is not.
        assert_eq!(address.call(Message::Count).await, Ok(320));
        supervisor.shutdown().await;
    });
}

//! Links, monitors, signals and joins, step by step and from tasks.

use std::sync::Arc;
use std::sync::Mutex;
use std::task::Poll;

use raddle_sync::block_on;

use crate::control::{Event, Life, MonitorRef, ProcessRef};
use crate::exit::ExitReason::{self, Killed, NoProcess, Normal, Shutdown};
use crate::pid::Pid;
use crate::tests::support::{self, Counter, Polled, now, refusing};

fn exit(pid: Pid, reason: ExitReason) -> Event {
    Event::Exit { pid: Some(pid), reason, linked: true }
}

fn down(monitor: MonitorRef, pid: Pid, reason: ExitReason) -> Event {
    Event::Down { monitor, pid, reason }
}

/// Everything that was not received yet.
fn events(life: &Life) -> Vec<Event> {
    std::iter::from_fn(|| life.next_event()).collect()
}

/// A process that traps exits.
fn trapping() -> Life {
    let life = Life::begin();
    life.trap_exit(true);
    life
}

/// Polls the life once for a doom, with a waker that counts.
fn poll_doom(life: &Life, counter: &Arc<Counter>) -> Poll<ExitReason> {
    life.poll_doom(&mut std::task::Context::from_waker(&counter.clone().into()))
}

#[test]
fn a_pid_names_its_process_until_that_ends() {
    let life = Life::begin();
    let pid = life.pid();
    assert_eq!(pid.process(), Some(life.process()));
    assert!(pid.is_alive());
    assert_eq!(Pid::from_bits(pid.to_bits()), Some(pid));
    assert!(life.end(Normal));
    assert!(!life.end(Shutdown), "there is one end");
    assert!(pid.process().is_none());
    // The place is used again, the name is not.
    let others: Vec<Life> = (0..100).map(|_| Life::begin()).collect();
    assert!(others.iter().all(|other| other.pid() != pid));
    assert!(pid.process().is_none());
    assert!(format!("{pid}").starts_with('<'));
}

#[test]
fn the_end_of_one_ends_the_other() {
    let (a, b, counter) = (Life::begin(), Life::begin(), Counter::new());
    a.link(&b.process());
    assert!(poll_doom(&a, &counter).is_pending());
    b.end(Shutdown);
    assert_eq!(counter.count(), 1);
    assert_eq!(poll_doom(&a, &counter), Poll::Ready(Shutdown));
    assert_eq!(a.doom(), Some(Shutdown), "it stays");
}

#[test]
fn a_normal_end_disturbs_those_only_who_trap() {
    let (a, b, c) = (Life::begin(), trapping(), Life::begin());
    c.link(&a.process());
    c.link(&b.process());
    c.end(Normal);
    assert_eq!(a.doom(), None);
    assert_eq!(events(&b), [exit(c.pid(), Normal)]);
}

#[test]
fn a_trapped_exit_is_an_event_and_a_kill_is_not() {
    let (a, b) = (trapping(), Life::begin());
    a.link(&b.process());
    b.process().kill();
    assert_eq!(b.doom(), Some(Killed));
    b.end(Killed);
    assert_eq!(events(&a), [exit(b.pid(), Killed)]);
    a.process().exit(Shutdown);
    assert_eq!(events(&a), [Event::Exit { pid: None, reason: Shutdown, linked: false }]);
    assert_eq!(a.doom(), None);
    a.process().kill();
    assert_eq!(a.doom(), Some(Killed));
}

#[test]
fn a_kill_comes_before_what_is_there() {
    let a = Life::begin();
    a.process().exit(Shutdown);
    a.process().kill();
    assert_eq!(a.doom(), Some(Killed));
}

#[test]
fn a_normal_exit_signal_does_nothing() {
    let a = Life::begin();
    a.process().exit(Normal);
    assert_eq!(a.doom(), None);
}

#[test]
fn a_link_is_one_however_often_it_is_made() {
    let (a, b) = (trapping(), Life::begin());
    a.link(&b.process());
    b.link(&a.process());
    a.link(&b.process());
    a.link(&a.process());
    b.end(Killed);
    assert_eq!(events(&a).len(), 1);
}

#[test]
fn a_link_to_the_dead_is_answered_at_once() {
    let (a, b) = (trapping(), Life::begin());
    b.end(Killed);
    a.link(&b.process());
    a.link_pid(b.pid());
    assert_eq!(events(&a), [exit(b.pid(), NoProcess), exit(b.pid(), NoProcess)]);
    let c = Life::begin();
    c.link_pid(b.pid());
    assert_eq!(c.doom(), Some(NoProcess));
}

#[test]
fn nothing_comes_after_unlink() {
    let (a, b) = (trapping(), Life::begin());
    a.link(&b.process());
    a.unlink(b.pid());
    b.end(Killed);
    assert_eq!(events(&a), []);
    // Also not what had come and was not received.
    let c = Life::begin();
    a.link(&c.process());
    c.process().exit_from(a.pid(), Shutdown);
    a.process().exit_from(c.pid(), Shutdown);
    c.end(Killed);
    a.unlink(c.pid());
    // A signal that was sent is no link's.
    assert_eq!(events(&a), [Event::Exit { pid: Some(c.pid()), reason: Shutdown, linked: false }]);
}

#[test]
fn unlink_takes_back_a_doom_of_the_link() {
    let (a, b) = (Life::begin(), Life::begin());
    a.link(&b.process());
    b.end(Killed);
    assert_eq!(a.doom(), Some(Killed));
    a.unlink(b.pid());
    assert_eq!(a.doom(), None);
    a.process().exit(Shutdown);
    a.unlink(b.pid());
    assert_eq!(a.doom(), Some(Shutdown));
}

#[test]
fn monitors_add_up_and_tell_once() {
    let (a, b) = (Life::begin(), Life::begin());
    let (first, second) = (a.monitor(&b.process()), a.monitor_pid(b.pid()));
    assert_ne!(first, second);
    b.end(Shutdown);
    assert_eq!(events(&a), [down(first, b.pid(), Shutdown), down(second, b.pid(), Shutdown)]);
    assert_eq!(a.doom(), None, "a monitor ends nobody");
    let (third, fourth) = (a.monitor(&b.process()), a.monitor_pid(b.pid()));
    assert_eq!(events(&a), [down(third, b.pid(), NoProcess), down(fourth, b.pid(), NoProcess)]);
}

#[test]
fn nothing_comes_after_demonitor() {
    let (a, b) = (Life::begin(), Life::begin());
    let (first, second) = (a.monitor(&b.process()), a.monitor(&b.process()));
    assert!(a.demonitor(first));
    assert!(!a.demonitor(first));
    b.end(Killed);
    assert!(a.demonitor(second), "it was told and not received");
    assert_eq!(events(&a), []);
    let own = a.monitor(&a.process());
    assert!(!a.demonitor(own));
}

#[test]
fn the_end_of_the_watcher_ends_its_monitors() {
    let (a, b) = (Life::begin(), Life::begin());
    a.monitor(&b.process());
    let before = Arc::strong_count(&a.process().control);
    a.end(Normal);
    // The registry and the watched process have let it go.
    assert_eq!(Arc::strong_count(&a.process().control), before - 2);
    b.end(Normal);
}

#[test]
fn references_do_not_make_a_ring() {
    let (a, b) = (Life::begin(), Life::begin());
    let weak = [Arc::downgrade(&a.process().control), Arc::downgrade(&b.process().control)];
    a.link(&b.process());
    a.monitor(&b.process());
    b.monitor(&a.process());
    drop((a, b));
    assert!(weak.iter().all(|control| control.upgrade().is_none()));
}

#[test]
fn a_life_that_is_dropped_was_killed() {
    let (a, b) = (trapping(), Life::begin());
    a.link(&b.process());
    let pid = b.pid();
    drop(b);
    assert_eq!(events(&a), [exit(pid, Killed)]);
}

#[test]
fn join_waits_until_all_were_told() {
    let life = Life::begin();
    let mut first = Polled::pending(life.process().join());
    let mut second = Polled::pending(life.process().join());
    let dropped = Polled::pending(life.process().join());
    assert_eq!(life.process().exit_reason(), None);
    drop(dropped);
    life.end(Shutdown);
    assert_eq!((first.wakes(), second.wakes()), (1, 1));
    assert_eq!((first.ready(), second.ready()), (Shutdown, Shutdown));
    assert_eq!(now(life.process().join()), Shutdown);
    assert_eq!(life.process().exit_reason(), Some(Shutdown));
    assert!(!life.process().is_alive());
}

#[test]
fn a_waker_that_panics_strands_nobody() {
    let (a, b, dying) = (trapping(), trapping(), Life::begin());
    dying.link(&a.process());
    dying.link(&b.process());
    let counter = Counter::new();
    let (first, second) = if a.pid() < b.pid() { (&a, &b) } else { (&b, &a) };
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let refusing = refusing();
    assert!(first.poll_event(&mut std::task::Context::from_waker(&refusing)).is_pending());
    let waker = counter.clone().into();
    assert!(second.poll_event(&mut std::task::Context::from_waker(&waker)).is_pending());
    let mut joined = Polled::pending(dying.process().join());
    let end = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| dying.end(Killed)));
    assert!(end.is_err());
    assert_eq!((counter.count(), joined.ready()), (1, Killed));
    assert_eq!(first.poll_event(&mut cx), Poll::Ready(Ok(exit(dying.pid(), Killed))));
}

#[test]
fn wakers_may_call_back() {
    let (a, b) = (Arc::new(Mutex::new(Some(trapping()))), Life::begin());
    let process = a.lock().unwrap().as_ref().unwrap().process();
    process.exit(Normal);
    let other = b.process();
    let waker = support::hostile(move |_| {
        // Everything that takes a lock of the two.
        let _ = (process.is_alive(), process.name(), other.name());
        process.exit(Normal);
        other.exit(Normal);
    });
    let guard = a.lock().unwrap();
    let life = guard.as_ref().unwrap();
    life.link(&b.process());
    assert_eq!(events(life).len(), 1);
    let _ = life.poll_event(&mut std::task::Context::from_waker(&waker));
    b.end(Shutdown);
    assert!(events(life).contains(&exit(b.pid(), Shutdown)));
}

#[test]
fn reasons_compare_and_print() {
    let panic = ExitReason::panicked(Box::new("broken"));
    assert_eq!(panic, panic.clone());
    assert_ne!(panic, ExitReason::panicked(Box::new("broken")));
    assert_eq!(panic.to_string(), "panicked: broken");
    let failed = ExitReason::failed("no disk");
    assert_eq!(failed.to_string(), "failed: no disk");
    assert!(Normal.is_normal() && Shutdown.is_orderly() && !failed.is_orderly());
    let ExitReason::Panicked(report) = panic else { panic!("another kind") };
    assert!(report.take_payload().is_some_and(|payload| payload.is::<&str>()));
    assert!(report.take_payload().is_none());
}

/// Four link and monitor each other and end, all at once; one that did so before is told of each.
#[test]
fn many_threads_link_and_end() {
    support::watchdog(|| {
        for _ in 0..200 {
            let watcher = trapping();
            let lives: Vec<Life> = (0..4).map(|_| trapping()).collect();
            let refs: Vec<_> = lives.iter().map(Life::process).collect();
            let monitors: Vec<_> = refs.iter().map(|process| watcher.monitor(process)).collect();
            refs.iter().for_each(|process| watcher.link(process));
            let run = |life: Life, refs: Vec<ProcessRef>| {
                for other in refs.iter().filter(|other| **other != life.process()) {
                    life.link(other);
                    let monitor = life.monitor(other);
                    // Whether it has ended already or not: it is told of, or taken back.
                    life.demonitor(monitor);
                }
                life.end(Normal)
            };
            let threads: Vec<_> = lives
                .into_iter()
                .map(|life| {
                    let refs = refs.clone();
                    std::thread::spawn(move || run(life, refs))
                })
                .collect();
            refs.iter().for_each(|process| assert_eq!(block_on(process.join()), Normal));
            threads.into_iter().for_each(|thread| assert!(thread.join().unwrap()));
            let mut told = events(&watcher);
            for (process, monitor) in refs.iter().zip(monitors) {
                for event in [exit(process.pid(), Normal), down(monitor, process.pid(), Normal)] {
                    let at = told.iter().position(|other| *other == event);
                    told.remove(at.expect("each end is told"));
                }
            }
            assert_eq!(told, [], "and once");
        }
    });
}

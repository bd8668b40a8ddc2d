//! Links, monitors, signals and ends under the model checker.

use std::future::poll_fn;
use std::sync::Arc;

use raddle_base::shim::{model, thread};

use crate::control::{Control, Event, Life};
use crate::exit::ExitReason::{Killed, NoProcess, Shutdown};
use crate::pid::Pid;
use crate::tests::model::{Plain, wait};

/// Not in the registry, whose pids would differ from one run of the model to the next, and with
/// them the order of the locks.
fn life(number: u64) -> Life {
    let pid = Pid::from_bits(1 << 32 | 0xFFFF_0000 | number).unwrap();
    Life::of(Arc::new(Control::new(pid)))
}

fn trapping(number: u64) -> Life {
    let life = life(number);
    life.trap_exit(true);
    life
}

/// Everything that came, in order.
fn events(life: &Life) -> Vec<Event> {
    std::iter::from_fn(|| life.next_event()).collect()
}

/// What the one exit signal says.
fn told(life: &Life) -> crate::ExitReason {
    let mut all = events(life);
    assert_eq!(all.len(), 1, "one signal, not {all:?}");
    match all.remove(0) {
        Event::Exit { reason, .. } | Event::Down { reason, .. } => reason,
    }
}

/// A link is made while its other end ends: one signal, of the end or of its being over.
#[test]
fn model_link_against_finish() {
    model::check(|| {
        let (a, b) = (trapping(1), life(2));
        let peer = b.process();
        let other = thread::spawn(move || {
            a.link(&peer);
            a
        });
        b.end(Shutdown);
        let a = other.join().unwrap();
        assert!(matches!(told(&a), Shutdown | NoProcess));
    });
}

/// The same by the side that ends later, and with the roles of the threads exchanged.
#[test]
fn model_link_from_the_other_side_against_finish() {
    model::check(|| {
        let (b, a) = (life(1), trapping(2));
        let peer = b.process();
        let other = thread::spawn(move || drop(b));
        a.link(&peer);
        other.join().unwrap();
        assert!(matches!(told(&a), Killed | NoProcess));
    });
}

/// Two that are linked end at once: a third one is told of each once.
#[test]
fn model_both_linked_finish() {
    model::check_bounded(2, || {
        let (a, b, c) = (trapping(1), trapping(3), trapping(2));
        a.link(&b.process());
        c.link(&a.process());
        c.link(&b.process());
        let weak = Arc::downgrade(&a.process().control);
        let other = thread::spawn(move || drop(a));
        drop(b);
        other.join().unwrap();
        assert_eq!(events(&c).len(), 2);
        assert!(weak.upgrade().is_none(), "nobody keeps the other");
    });
}

/// A link is taken back while its other end ends: nothing comes after. Linked again, one comes.
#[test]
fn model_unlink_against_finish() {
    model::check(|| {
        let (a, b) = (trapping(1), life(2));
        a.link(&b.process());
        let peer = b.process();
        let other = thread::spawn(move || drop(b));
        a.unlink(peer.pid());
        assert_eq!(events(&a), []);
        a.link(&peer);
        other.join().unwrap();
        assert!(matches!(told(&a), Killed | NoProcess));
    });
}

/// A monitor is made while its target ends: one event.
#[test]
fn model_monitor_against_finish() {
    model::check(|| {
        let (a, b) = (life(2), life(1));
        let target = b.process();
        let other = thread::spawn(move || {
            a.monitor(&target);
            a
        });
        b.end(Shutdown);
        let a = other.join().unwrap();
        assert!(matches!(told(&a), Shutdown | NoProcess));
    });
}

/// A monitor is ended while its target ends: nothing comes after.
#[test]
fn model_demonitor_against_finish() {
    model::check(|| {
        let (a, b) = (life(2), life(1));
        let monitor = a.monitor(&b.process());
        let other = thread::spawn(move || drop(b));
        assert!(a.demonitor(monitor));
        assert_eq!(events(&a), []);
        other.join().unwrap();
        assert_eq!(events(&a), []);
    });
}

/// Watcher and target end at once.
#[test]
fn model_watcher_against_target() {
    model::check(|| {
        let (a, b) = (life(2), life(1));
        a.monitor(&b.process());
        let weak = Arc::downgrade(&b.process().control);
        let other = thread::spawn(move || drop(b));
        drop(a);
        other.join().unwrap();
        assert!(weak.upgrade().is_none(), "nobody keeps the other");
    });
}

/// A signal comes while the process goes to sleep: it wakes it, and shows what led to it.
#[test]
fn model_signal_against_sleep() {
    model::check(|| {
        let (a, data) = (life(1), Plain::new());
        let (process, shared) = (a.process(), data.clone());
        let other = thread::spawn(move || {
            shared.add(1);
            process.kill();
        });
        assert_eq!(wait(poll_fn(|cx| a.poll_doom(cx))), Killed);
        assert_eq!(data.get(), 1);
        other.join().unwrap();
    });
}

/// An event and then a doom come while the process waits for events.
#[test]
fn model_event_against_sleep() {
    model::check(|| {
        let a = trapping(1);
        let process = a.process();
        let other = thread::spawn(move || {
            process.exit(Shutdown);
            process.kill();
        });
        let first = wait(poll_fn(|cx| a.poll_event(cx)));
        if first.is_ok() {
            assert_eq!(wait(poll_fn(|cx| a.poll_event(cx))), Err(Killed));
        }
        other.join().unwrap();
    });
}

/// Somebody waits for the end while it comes.
#[test]
fn model_join_against_finish() {
    model::check(|| {
        let (a, data) = (life(1), Plain::new());
        let (process, shared) = (a.process(), data.clone());
        let other = thread::spawn(move || {
            assert_eq!(wait(process.join()), Shutdown);
            assert_eq!(shared.get(), 1);
        });
        data.add(1);
        a.end(Shutdown);
        other.join().unwrap();
    });
}

//! Waits for events, and for others to arrive.

use super::report::Report;
use raddle_sync::{
    AutoResetEvent, Barrier, EventCount, Latch, ManualResetEvent, Notify, Phaser, Shutdown,
    TaskTracker, WaitGroup,
};

pub(super) fn waits(report: &mut Report) {
    events(report);
    notifications(report);
    arrivals(report);
    phases(report);
    ends(report);
}

fn events(report: &mut Report) {
    report.wait(
        "ManualResetEvent::wait",
        |p| {
            let event = ManualResetEvent::with_state(true);
            p.ready(|| event.wait());
        },
        |p| {
            let event = ManualResetEvent::new();
            p.suspended(|| event.wait(), || event.set());
        },
    );
    report.wait(
        "AutoResetEvent::wait",
        |p| {
            let event = AutoResetEvent::with_state(true);
            p.ready(|| event.wait());
        },
        |p| {
            let event = AutoResetEvent::new();
            p.suspended(|| event.wait(), || event.set());
        },
    );
}

fn notifications(report: &mut Report) {
    let notify = Notify::new();
    report.wait(
        "Notify::notified",
        |p| {
            notify.notify_one();
            p.ready(|| notify.notified());
        },
        |p| p.suspended(|| notify.notified(), || notify.notify_one()),
    );
    let count = EventCount::new();
    report.wait(
        "EventCount::wait",
        |p| {
            let key = count.key();
            count.notify_all();
            p.ready(|| count.wait(key));
        },
        |p| p.suspended(|| count.wait(count.key()), || count.notify_all()),
    );
}

fn arrivals(report: &mut Report) {
    report.wait(
        "Barrier::wait",
        |p| {
            let barrier = Barrier::new(1);
            p.ready(|| barrier.wait());
        },
        |p| {
            let barrier = Barrier::new(2);
            p.suspended(|| barrier.wait(), || assert!(barrier.try_wait().is_some()));
        },
    );
    report.wait(
        "Latch::wait",
        |p| {
            let latch = Latch::new(0);
            p.ready(|| latch.wait());
        },
        |p| {
            let latch = Latch::new(1);
            p.suspended(|| latch.wait(), || latch.count_down());
        },
    );
    report.wait(
        "WaitGroup::wait",
        |p| {
            let group = WaitGroup::new();
            p.ready(|| group.wait());
        },
        |p| {
            let group = WaitGroup::new();
            let other = group.clone();
            p.suspended(|| group.wait(), || drop(other));
        },
    );
}

fn phases(report: &mut Report) {
    report.wait(
        "Phaser::wait",
        |p| {
            let phaser = Phaser::new();
            let phase = phaser.phase();
            phaser.register_one().expect("it is open").arrive().expect("it is open");
            p.ready(|| phaser.wait(phase));
        },
        |p| {
            let phaser = Phaser::new();
            let mut party = phaser.register_one().expect("it is open");
            let arrive = || assert_eq!(party.arrive().expect("it is open"), 0);
            p.suspended(|| phaser.wait(phaser.phase()), arrive);
        },
    );
    report.wait(
        "Participant::wait",
        |p| {
            let phaser = Phaser::new();
            let mut party = phaser.register_one().expect("it is open");
            p.ready(|| party.wait());
        },
        |p| {
            let phaser = Phaser::new();
            let mut party = phaser.register_one().expect("it is open");
            let other = phaser.register_one().expect("it is open");
            p.suspended(|| party.wait(), || drop(other));
        },
    );
}

fn ends(report: &mut Report) {
    report.wait(
        "TaskTracker::wait",
        |p| {
            let tracker = TaskTracker::new();
            tracker.close();
            p.ready(|| tracker.wait());
        },
        |p| {
            let tracker = TaskTracker::new();
            let token = tracker.token();
            tracker.close();
            p.suspended(|| tracker.wait(), || drop(token));
        },
    );
    report.wait(
        "Shutdown::wait",
        |p| {
            let (shutdown, guard) = Shutdown::new();
            drop(guard);
            p.ready(|| shutdown.wait());
        },
        |p| {
            let (shutdown, guard) = Shutdown::new();
            p.suspended(|| shutdown.wait(), || drop(guard));
        },
    );
    report.wait(
        "ShutdownGuard::shutdown_requested",
        |p| {
            let (shutdown, guard) = Shutdown::new();
            shutdown.request_shutdown();
            p.ready(|| guard.shutdown_requested());
        },
        |p| {
            let (shutdown, guard) = Shutdown::new();
            let request = || assert!(shutdown.request_shutdown());
            p.suspended(|| guard.shutdown_requested(), request);
        },
    );
}

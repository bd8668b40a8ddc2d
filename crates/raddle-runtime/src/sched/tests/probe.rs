//! The probe follows one task from its event to its poll, and loses it where it should.

use std::any::Any;
use std::future::pending;
use std::ops::Deref;
use std::panic::Location;
use std::task::Waker;
use std::time::Duration;

use super::*;
use crate::task::{JoinHandle, Meta, RawTask, Schedule, Step, allocate};

struct Nowhere;

impl Schedule for Nowhere {
    unsafe fn schedule(_: *const (), _: Runnable) {}

    unsafe fn release(_: *const (), _: RawTask) -> bool {
        false
    }

    unsafe fn wake_joiner(_: *const (), _: Waker) {}

    unsafe fn unhandled_panic(_: *const (), _: RawTask, _: Box<dyn Any + Send>) {}
}

/// A task that is not polled, and cancelled in the end.
struct Unpolled(Option<Runnable>);

impl Deref for Unpolled {
    type Target = Runnable;

    fn deref(&self) -> &Runnable {
        self.0.as_ref().unwrap()
    }
}

impl Drop for Unpolled {
    fn drop(&mut self) {
        self.header().state.mark_cancelled();
        let Some(Step::Done) = self.0.take().map(Runnable::run_cancelled) else {
            panic!("a cancelled task was polled")
        };
    }
}

fn task(pinned: bool) -> Unpolled {
    let meta = Meta { site: Location::caller() };
    // SAFETY: the future may go anywhere, and `Nowhere` uses no pointer.
    let raw =
        unsafe { allocate::<_, Nowhere>(pending::<()>(), ptr::null(), pinned, (0, 0), None, meta) };
    // That of a list of live tasks.
    raw.drop_refs(1);
    // SAFETY: the join reference of the new task, whose output is `()`.
    drop(unsafe { JoinHandle::<()>::new(raw) });
    // SAFETY: the run reference of the new task.
    Unpolled(Some(unsafe { Runnable::from_raw_task(raw) }))
}

fn counts(service: &Service) -> [u64; 3] {
    [Class::Remote, Class::Io, Class::Timer].map(|class| service.to_poll(class).count())
}

/// Serves tasks until the probe is at the point of noting the next.
fn skip(probe: &Probe, service: &Service) {
    let other = task(false);
    for _ in 1..EVERY {
        probe.served(&other, Class::Io);
        probe.taken(&other, service);
    }
}

#[test]
fn one_served_task_in_64_is_measured() {
    let (probe, service) = (Probe::new(true), Service::new());
    let tasks = [task(false), task(true)];
    for n in 0..640 {
        let (task, class) = (&tasks[n % 2], [Class::Io, Class::Timer][n % 2]);
        probe.served(task, class);
        probe.taken(task, &service);
    }
    assert_eq!(counts(&service), [0, 10, 0], "each 64th has an even number");
}

#[test]
fn without_sampling_nothing_is_measured() {
    let (probe, service) = (Probe::new(false), Service::new());
    let task = task(false);
    for _ in 0..200 {
        probe.served(&task, Class::Io);
        probe.taken(&task, &service);
    }
    assert_eq!(counts(&service), [0, 0, 0]);
}

#[test]
fn other_tasks_go_by() {
    let (probe, service) = (Probe::new(true), Service::new());
    let (noted, other) = (task(false), task(false));
    probe.served(&noted, Class::Timer);
    for _ in 0..10 {
        probe.taken(&other, &service);
    }
    assert_eq!(counts(&service), [0, 0, 0]);
    probe.taken(&noted, &service);
    assert_eq!(counts(&service), [0, 0, 1]);
}

#[test]
fn a_task_that_is_served_again_was_polled_elsewhere() {
    let (probe, service) = (Probe::new(true), Service::new());
    let noted = task(false);
    probe.served(&noted, Class::Io);
    probe.served(&noted, Class::Io);
    probe.taken(&noted, &service);
    assert_eq!(counts(&service), [0, 0, 0]);
}

#[test]
fn an_empty_queue_ends_the_search_for_a_free_task_only() {
    let (probe, service) = (Probe::new(true), Service::new());
    let (free, pinned) = (task(false), task(true));
    probe.served(&free, Class::Io);
    probe.found_empty();
    probe.taken(&free, &service);
    assert_eq!(counts(&service), [0, 0, 0]);
    skip(&probe, &service);
    probe.served(&pinned, Class::Io);
    probe.found_empty();
    probe.taken(&pinned, &service);
    assert_eq!(counts(&service), [0, 1, 0]);
}

#[test]
fn patience_ends() {
    let (probe, service) = (Probe::new(true), Service::new());
    let (noted, other) = (task(false), task(false));
    probe.served(&noted, Class::Io);
    for _ in 0..PATIENCE {
        probe.taken(&other, &service);
    }
    probe.taken(&noted, &service);
    assert_eq!(counts(&service), [0, 0, 0]);
}

#[test]
fn a_stamp_counts_from_its_own_time() {
    let (probe, service) = (Probe::new(true), Service::new());
    let (noted, other) = (task(false), task(false));
    let at = Instant::now() - Duration::from_secs(1);
    let stamp = Some(Stamped { task: noted.address(), at });
    for task in [&other, &noted, &other] {
        probe.received(task, stamp);
    }
    for task in [&other, &noted, &other] {
        probe.taken(task, &service);
    }
    assert_eq!(counts(&service), [1, 0, 0]);
    assert!(service.to_poll(Class::Remote).max() >= Duration::from_secs(1));
}

#[test]
fn a_stretch_is_measured_between_readings_and_ends_with_a_sleep() {
    let (stretch, service) = (Stretch::new(true), Service::new());
    stretch.clock(Instant::from_nanos(1_000), 10, &service);
    assert!(service.dispatch_lengths().is_empty(), "nothing to count from");
    stretch.clock(Instant::from_nanos(3_000), 20, &service);
    assert_eq!(service.dispatch_lengths().count(), 10);
    assert_eq!(service.dispatch_lengths().max(), Duration::from_nanos(200));
    stretch.sleeps(30, &service);
    stretch.clock(Instant::from_nanos(9_000_000), 31, &service);
    assert_eq!(service.dispatch_lengths().count(), 10, "the sleep is no dispatch");
}

#[test]
fn one_turn_in_64_between_sleeps_is_measured() {
    let (stretch, service) = (Stretch::new(true), Service::new());
    for turn in 0..640 {
        stretch.wakes(5 * turn);
        stretch.sleeps(5 * (turn + 1), &service);
    }
    assert_eq!(service.dispatch_lengths().count(), 50);
    let quiet = Stretch::new(false);
    for turn in 0..640 {
        quiet.wakes(5 * turn);
        quiet.clock(Instant::now(), 5 * turn + 1, &service);
        quiet.sleeps(5 * (turn + 1), &service);
    }
    assert_eq!(service.dispatch_lengths().count(), 50);
}

//! What the monitor sees of dispatches, and stamps, which belong to their tasks.

use raddle_base::shim::{Arc, thread};

use super::*;

const LOOK: Duration = Duration::from_millis(2);

/// Lengths and how often they were counted.
fn lengths(service: &Service) -> Vec<(u64, u64)> {
    let lengths = service.dispatch_lengths();
    lengths.buckets().map(|(range, count)| (range.start().as_nanos() as u64, count)).collect()
}

#[test]
fn dispatches_between_two_looks_count_with_their_mean() {
    let service = Service::new();
    service.observe(20_000, LOOK, 0, true);
    assert_eq!(lengths(&service), [(96, 20_000)], "100 ns each");
}

#[test]
fn looks_between_which_the_worker_slept_tell_nothing() {
    let service = Service::new();
    service.observe(0, LOOK, 1, true);
    service.observe(5, LOOK, 1, true);
    assert_eq!(service.dispatch_lengths().count(), 1, "the one that lasted over a look");
    service.observe(5, LOOK, 2, true);
    assert_eq!(service.dispatch_lengths().count(), 1);
    service.observe(5, LOOK, 2, true);
    assert_eq!(service.dispatch_lengths().count(), 6);
}

#[test]
fn dispatches_that_the_worker_measured_are_not_counted_again() {
    let service = Service::new();
    service.dispatched(10, Duration::from_micros(20));
    service.observe(10, LOOK, 0, true);
    assert_eq!(lengths(&service), [(1_792, 10)], "2 µs each");
    service.dispatched(0, Duration::from_micros(20));
    assert_eq!(service.dispatch_lengths().count(), 10);
}

#[test]
fn a_dispatch_over_several_looks_counts_once_with_the_time_between_them() {
    let service = Service::new();
    service.observe(7, LOOK, 0, true);
    for looks in 1..=3u32 {
        service.observe(0, LOOK, 0, true);
        assert_eq!(service.still(), looks * LOOK);
    }
    service.observe(4, LOOK, 0, true);
    assert_eq!(service.still(), Duration::ZERO);
    assert_eq!(service.dispatch_lengths().count(), 8);
    assert_eq!(service.dispatch_lengths().max(), 3 * LOOK);
}

#[test]
fn a_rest_of_the_monitor_is_no_dispatch() {
    let service = Service::new();
    service.observe(0, LOOK, 0, true);
    service.forget();
    service.observe(1, LOOK, 0, true);
    assert_eq!(service.dispatch_lengths().max(), LOOK, "not more than one look");
}

#[test]
fn without_sampling_the_monitor_still_tells_what_does_not_move() {
    let service = Service::new();
    service.observe(7, LOOK, 0, false);
    service.observe(0, LOOK, 0, false);
    assert_eq!(service.still(), LOOK);
    service.observe(7, LOOK, 0, false);
    assert!(service.dispatch_lengths().is_empty());
}

#[test]
fn latencies_are_kept_by_class() {
    let service = Service::new();
    service.polled(Class::Io, Duration::from_nanos(3));
    service.polled(Class::Timer, Duration::from_nanos(5));
    service.polled(Class::Timer, Duration::from_nanos(7));
    let counts =
        [Class::Remote, Class::Io, Class::Timer].map(|class| service.to_poll(class).count());
    assert_eq!(counts, [0, 1, 2]);
    assert_eq!(service.to_poll(Class::Timer).max(), Duration::from_nanos(7));
}

#[test]
fn one_push_in_64_is_stamped() {
    let service = Service::new();
    let tasks: Vec<u8> = vec![0; 200];
    let mut stamped = Vec::new();
    for (n, task) in tasks.iter().enumerate() {
        service.pushes(ptr::from_ref(task).cast(), true);
        if let Some(stamp) = service.stamp.take() {
            assert_eq!(stamp.task, ptr::from_ref(task).cast());
            stamped.push(n);
        }
        service.pushes(ptr::null(), false);
    }
    assert_eq!(stamped, [0, 32, 64, 96, 128, 160, 192]);
    assert_eq!(service.counts(), (400, 0));
    service.called();
    assert_eq!(service.counts(), (400, 1));
}

#[test]
fn a_stamp_that_nobody_took_stays() {
    let stamp = Stamp::new();
    let (first, second) = (1u32, 2u32);
    stamp.leave((&raw const first).cast());
    stamp.leave((&raw const second).cast());
    assert_eq!(stamp.take().map(|stamp| stamp.task), Some((&raw const first).cast()));
    assert_eq!(stamp.take(), None);
}

/// Each thread leaves a task of its own; whoever takes a stamp finds it there with a time that is
/// not from before this task's first.
#[test]
fn stamps_of_many_threads_are_whole() {
    let stamp = Arc::new(Stamp::new());
    let begin = Instant::now();
    let threads: Vec<_> = (0..3usize)
        .map(|n| {
            let stamp = stamp.clone();
            thread::spawn(move || {
                for _ in 0..2_000 {
                    stamp.leave(ptr::without_provenance((n + 1) << 4));
                }
            })
        })
        .collect();
    let mut last = begin;
    for _ in 0..20_000 {
        let Some(taken) = stamp.take() else { continue };
        assert!([0x10, 0x20, 0x30].contains(&taken.task.addr()));
        assert!(taken.at >= last, "a time from an earlier stamp");
        last = taken.at;
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

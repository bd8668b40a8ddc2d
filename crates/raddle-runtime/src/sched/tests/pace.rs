//! The clock is read often for long dispatches and seldom for short ones, on a hand-made clock.

use super::*;

const TARGET: u64 = 25_000;
const TARGET_TIME: Duration = Duration::from_nanos(TARGET);

/// Ticks until the clock is read, with dispatches of `length` ns from `now` on.
fn run(pace: &Pace, now: &mut u64, dispatches: &mut u64, length: u64) -> u64 {
    let mut count = 0;
    loop {
        *now += length;
        *dispatches += 1;
        count += 1;
        if pace.tick() {
            pace.restart(Instant::from_nanos(*now), *dispatches);
            return count;
        }
    }
}

#[test]
fn readings_follow_the_length_of_dispatches() {
    for (length, expected) in [(10, MOST), (1_000, 25), (25_000, 1), (1_000_000, 1)] {
        let (pace, mut now, mut dispatches) = (Pace::new(TARGET_TIME), 1_000_000_000, 0);
        for _ in 0..10 {
            run(&pace, &mut now, &mut dispatches, length);
        }
        assert_eq!(run(&pace, &mut now, &mut dispatches, length), expected, "{length} ns");
    }
}

/// A task that is polled for a moment between long ones says nothing about those that follow: a
/// timer it has armed is not put off by dozens of them.
#[test]
fn one_short_dispatch_at_most_doubles_the_count() {
    let (pace, mut now, mut dispatches) = (Pace::new(TARGET_TIME), 1_000_000_000, 0);
    for _ in 0..5 {
        assert_eq!(run(&pace, &mut now, &mut dispatches, 1_000_000), 1);
    }
    assert_eq!(run(&pace, &mut now, &mut dispatches, 1_000), 1);
    assert_eq!(run(&pace, &mut now, &mut dispatches, 1_000_000), 2);
    assert_eq!(run(&pace, &mut now, &mut dispatches, 1_000_000), 1);
}

#[test]
fn after_a_sleep_the_first_look_reads() {
    let (pace, mut now, mut dispatches) = (Pace::new(TARGET_TIME), 1_000_000_000, 0);
    for _ in 0..5 {
        run(&pace, &mut now, &mut dispatches, 10);
    }
    pace.wake();
    assert!(pace.tick());
}

#[test]
fn polls_are_due_by_time_and_by_count() {
    let pace = Pace::new(TARGET_TIME);
    let start = 1_000_000_000;
    pace.restart(Instant::from_nanos(start), 0);
    assert!(pace.poll_is_due(Instant::from_nanos(start)));
    assert!(!pace.poll_is_due(Instant::from_nanos(start + TARGET - 1)));
    assert!(pace.poll_is_due(Instant::from_nanos(start + TARGET)));
    // A clock that stands still: the count decides.
    let stuck = Instant::from_nanos(start + TARGET);
    pace.restart(stuck, POLL_AFTER - 1);
    assert!(!pace.poll_is_due(stuck));
    pace.restart(stuck, POLL_AFTER);
    assert!(pace.poll_is_due(stuck));
}

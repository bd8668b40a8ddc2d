//! A hold ends by count and by time, with few readings of a hand-made clock.

use super::*;

/// Dispatches of `length(n)` ns until the hold ends: how many, how long in all, and how often the
/// clock was read.
fn run(hold: &Hold, length: impl Fn(u32) -> u64) -> (u32, u64, u32) {
    let (mut time, mut count) = (0, 0);
    let readings = Cell::new(0);
    loop {
        let now = || {
            readings.set(readings.get() + 1);
            Instant::from_nanos(1_000_000_000 + time)
        };
        if !hold.goes_on(now) {
            hold.end();
            return (count, time, readings.get());
        }
        time += length(count);
        count += 1;
    }
}

#[test]
fn short_dispatches_end_it_by_count() {
    let hold = Hold::new(Duration::from_micros(25));
    for length in [10, 100, 700] {
        let (count, _, readings) = run(&hold, |_| length);
        assert_eq!(count, MOST);
        assert!(readings <= 3, "{readings} readings");
    }
}

#[test]
fn long_dispatches_end_it_by_time() {
    let hold = Hold::new(Duration::from_micros(25));
    for length in [1_000, 5_000, 20_000, 50_001, 1_000_000] {
        let (count, time, readings) = run(&hold, |_| length);
        let limit = hold.limit.as_nanos() as u64;
        assert!(time <= limit + length, "{length} ns: {count} dispatches, {time} ns");
        assert!(count == 1 || time + length > limit, "{length} ns: over after {time} ns");
        assert!(readings <= 4, "{readings} readings");
    }
}

#[test]
fn dispatches_that_grow_are_noticed_within_the_count() {
    let hold = Hold::new(Duration::from_micros(25));
    let (count, _, _) = run(&hold, |n| if n < 4 { 1_000 } else { 100_000 });
    assert!(count <= MOST);
    // The next one starts afresh.
    let (count, _, _) = run(&hold, |_| 10);
    assert_eq!(count, MOST);
}

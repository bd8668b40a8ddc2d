//! Ticks count from the last look, and wrap.

use super::*;

fn at(ticks: u64) -> Instant {
    Instant::from_nanos(ticks << TICK_BITS)
}

#[test]
fn a_tick_is_that_of_the_last_look() {
    let ticks = Ticks::new();
    ticks.look(at(7));
    assert_eq!(ticks.now(), 7);
    assert_eq!(since(7, at(7)), Duration::ZERO);
    assert_eq!(since(7, at(10)), Duration::from_nanos(3 << TICK_BITS));
}

#[test]
fn a_tick_ahead_is_no_time_ago() {
    assert_eq!(since(11, at(10)), Duration::ZERO);
}

#[test]
fn ticks_wrap() {
    let late = u32::MAX - 1;
    let now = at(u64::from(late) + 5);
    assert_eq!(since(late, now), Duration::from_nanos(5 << TICK_BITS));
}

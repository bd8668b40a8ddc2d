//! Instants saturate, order and convert.

use super::*;

#[test]
fn arithmetic_saturates_at_both_ends() {
    let now = Instant::now();
    assert_eq!(now + Duration::MAX, Instant::FAR_FUTURE);
    assert_eq!(Instant::FAR_FUTURE + Duration::from_secs(1), Instant::FAR_FUTURE);
    assert_eq!(now - Duration::MAX, Instant::from_nanos(0));
    assert_eq!(now.checked_add(Duration::MAX), None);
    assert_eq!(now.checked_sub(Duration::MAX), None);
    assert_eq!(Instant::from_nanos(1) - Instant::from_nanos(5), Duration::ZERO);
    assert_eq!(Instant::from_nanos(1).checked_duration_since(Instant::from_nanos(5)), None);
}

#[test]
fn the_clock_never_goes_back() {
    let mut last = Instant::now();
    for _ in 0..10_000 {
        let now = Instant::now();
        assert!(now >= last);
        last = now;
    }
}

#[test]
fn std_instants_convert_both_ways() {
    let std_now = std::time::Instant::now();
    let there = Instant::from(std_now + Duration::from_secs(100));
    let ahead = there - Instant::now();
    assert!(ahead <= Duration::from_secs(100) && ahead > Duration::from_secs(90));
    let back = std::time::Instant::from(there);
    let gap = back.max(std_now) - std_now;
    assert!(gap > Duration::from_secs(90) && gap < Duration::from_secs(110));
    assert!(std::time::Instant::from(Instant::FAR_FUTURE) > std_now);
    let past = Instant::from(std_now);
    assert!(past <= Instant::now());
}

#[test]
fn wall_time_is_after_the_year_2020() {
    assert!(unix_time() > Duration::from_secs(1_577_836_800));
}

#[test]
fn boot_instants_saturate_and_count_suspensions() {
    let now = BootInstant::now();
    assert_eq!(now + Duration::MAX, BootInstant::FAR_FUTURE);
    assert_eq!(now - Duration::MAX, BootInstant::from_nanos(0));
    assert_eq!(BootInstant::from_nanos(1) - BootInstant::from_nanos(5), Duration::ZERO);
    assert!(BootInstant::now() >= now && now.elapsed() < Duration::from_secs(3600));
    assert_eq!(format!("{:?}", BootInstant::FAR_FUTURE), "BootInstant(far future)");
}

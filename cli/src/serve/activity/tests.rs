//! Lives of connections, told in seconds.

use super::*;

const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn start() -> (Activity, Patience) {
    (Activity::new(), Patience::new(s(10), s(60)))
}

#[test]
fn a_connection_owes_its_first_header() {
    let (activity, mut patience) = start();
    assert_eq!(patience.deadline(&activity, s(0)), s(10));
    assert_eq!(patience.deadline(&activity, s(5)), s(10));
}

#[test]
fn a_trickling_header_gains_nothing() {
    let (activity, mut patience) = start();
    for now in 0..10 {
        activity.read();
        assert_eq!(patience.deadline(&activity, s(now)), s(10));
    }
}

#[test]
fn waiting_is_long_and_a_first_byte_makes_it_short() {
    let (activity, mut patience) = start();
    activity.read();
    activity.requested();
    activity.written();
    activity.answered();
    assert_eq!(patience.deadline(&activity, s(1)), s(61));
    assert_eq!(patience.deadline(&activity, s(30)), s(61));
    activity.read();
    assert_eq!(patience.deadline(&activity, s(30)), s(40));
    activity.read();
    assert_eq!(patience.deadline(&activity, s(35)), s(40));
}

#[test]
fn an_answer_lives_as_long_as_bytes_move() {
    let (activity, mut patience) = start();
    activity.read();
    activity.requested();
    assert_eq!(patience.deadline(&activity, s(1)), s(61));
    for now in [50, 100, 150] {
        activity.written();
        assert_eq!(patience.deadline(&activity, s(now)), s(now + 60));
    }
    // Reading ahead while answering is movement, and no new header.
    activity.read();
    assert_eq!(patience.deadline(&activity, s(200)), s(260));
    assert_eq!(patience.deadline(&activity, s(259)), s(260));
}

#[test]
fn each_header_has_its_own_time() {
    let (activity, mut patience) = start();
    activity.read();
    assert_eq!(patience.deadline(&activity, s(9)), s(10));
    // A whole request answered and the next one begun, all between two looks.
    activity.requested();
    activity.answered();
    activity.read();
    assert_eq!(patience.deadline(&activity, s(9)), s(19));
}

#[test]
fn requests_in_one_segment_begin_without_a_read() {
    let (activity, mut patience) = start();
    activity.read();
    for now in 1..4 {
        activity.requested();
        assert_eq!(patience.deadline(&activity, s(now)), s(if now == 1 { 61 } else { now + 59 }));
        activity.answered();
        assert_eq!(patience.deadline(&activity, s(now)), s(now + 60));
    }
}

#[test]
fn limits_saturate() {
    let activity = Activity::new();
    let mut patience = Patience::new(Duration::MAX, Duration::MAX);
    assert_eq!(patience.deadline(&activity, s(1)), Duration::MAX);
}

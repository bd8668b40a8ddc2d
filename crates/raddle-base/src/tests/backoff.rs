//! Waiting grows, and says when it is pointless.

use super::*;

#[test]
fn it_ends_after_spins_and_yields() {
    let mut backoff = Backoff::new();
    let mut rounds = 0;
    while !backoff.is_completed() {
        backoff.snooze();
        rounds += 1;
    }
    assert_eq!(rounds, YIELD_LIMIT + 1);
    backoff.snooze();
    assert!(backoff.is_completed(), "it stays so");
    let mut spinning = Backoff::default();
    for _ in 0..100 {
        spinning.spin();
    }
    assert!(spinning.is_completed());
}

//! A doorbell rings for a moved tail and for flags in its mask, and for nothing else.

use super::*;

#[test]
fn rings_for_what_was_not_seen() {
    let (tail, flags) = (AtomicU32::new(0), AtomicU32::new(0));
    // SAFETY: both atomics outlive the doorbell in this function.
    let bell = unsafe { Doorbell::new(&tail, &flags, 0b10) };
    assert!(!bell.rung());
    tail.store(3, Ordering::Relaxed);
    assert!(bell.rung());
    bell.set_seen(3);
    assert!(!bell.rung());
    flags.store(0b01, Ordering::Relaxed);
    assert!(!bell.rung());
    flags.store(0b11, Ordering::Relaxed);
    assert!(bell.rung());
}

#[test]
fn silent_never_rings_and_counts() {
    let bell = Doorbell::silent();
    assert!(!bell.rung());
    bell.set_prepared(2);
    assert_eq!(bell.prepared(), 2);
    assert!(!bell.rung());
}

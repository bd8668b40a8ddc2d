//! Nudges: none is lost, none rings twice.

use super::*;
use raddle_base::shim::atomic::AtomicU32;
use raddle_base::shim::{Arc, model, thread};

#[test]
fn the_second_nudge_does_not_ring() {
    let flag = Flag::new();
    assert!(flag.raise());
    assert!(!flag.raise());
    assert!(flag.take());
    assert!(!flag.take());
    assert!(flag.raise());
}

/// Two threads publish and nudge; the owner takes the flag and looks: in the end it has seen both
/// publications, or a ring is still owed to it.
#[test]
fn model_nudges_are_not_lost() {
    model::check(|| {
        let flag = Arc::new(Flag::new());
        let published = Arc::new(AtomicU32::new(0));
        let rings = Arc::new(AtomicU32::new(0));
        let nudgers: Vec<_> = (0..2)
            .map(|_| {
                let (flag, published) = (Arc::clone(&flag), Arc::clone(&published));
                let rings = Arc::clone(&rings);
                thread::spawn(move || {
                    // Relaxed: the flag has to publish it.
                    published.fetch_add(1, Ordering::Relaxed);
                    if flag.raise() {
                        rings.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        let mut taken = u32::from(flag.take());
        let mut seen = published.load(Ordering::Relaxed);
        for nudger in nudgers {
            nudger.join().unwrap();
        }
        let rings = rings.load(Ordering::Relaxed);
        // Every ring that was not taken yet makes the next park return, which takes and looks.
        if rings > taken {
            assert!(flag.take());
            taken += 1;
            seen = published.load(Ordering::Relaxed);
        }
        assert_eq!(rings, taken);
        assert_eq!(seen, 2);
    });
}

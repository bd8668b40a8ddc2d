//! The phaser under the model checker.

use std::sync::Arc;

use raddle_base::shim::{model, thread};

use crate::phaser::Phaser;
use crate::tests::model::{Plain, wait};

/// Two parties and two phases: each sees what the other did before a phase.
#[test]
fn model_phaser_phases() {
    model::check(|| {
        let shared = Arc::new((Phaser::new(), Plain::new(), Plain::new()));
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.1.add(1);
                wait(shared.0.wait(0)).unwrap();
                assert_eq!(shared.2.get(), 1);
            }
        });
        let mut party = shared.0.register_one().unwrap();
        shared.2.add(1);
        party.arrive().unwrap();
        other.join().unwrap();
        assert_eq!(shared.0.phase(), 1);
    });
}

/// One arrives and waits while the other one, which was missing, goes.
#[test]
fn model_phaser_arrive_against_deregister() {
    model::check(|| {
        let shared = Arc::new((Phaser::new(), Plain::new()));
        let mut parties = shared.0.register(2).unwrap();
        let mut one = parties.next().unwrap();
        std::mem::forget(parties.next().unwrap());
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.1.add(1);
                // The party that was forgotten above.
                shared.0.remove(1, None);
            }
        });
        assert_eq!(wait(one.wait()), Ok(1));
        assert_eq!(shared.1.get(), 1);
        other.join().unwrap();
    });
}

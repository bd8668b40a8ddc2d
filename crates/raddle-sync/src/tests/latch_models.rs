//! The latch under the model checker: two who arrive and one who waits.

use std::sync::Arc;

use raddle_base::shim::{model, thread};

use crate::latch::Latch;
use crate::tests::model::{Plain, wait};

/// Two arrive and wait, each sees what the other did before.
#[test]
fn model_latch_of_two() {
    model::check(|| {
        let shared = Arc::new((Latch::new(2), Plain::new(), Plain::new()));
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.1.add(1);
                wait(shared.0.arrive_and_wait());
                assert_eq!(shared.2.get(), 1);
            }
        });
        shared.2.add(1);
        wait(shared.0.arrive_and_wait());
        assert_eq!(shared.1.get(), 1);
        other.join().unwrap();
    });
}

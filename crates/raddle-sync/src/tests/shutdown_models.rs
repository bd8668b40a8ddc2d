//! Coordinated shutdown under the model checker.

use std::sync::Arc;

use raddle_base::shim::{model, thread};

use crate::shutdown::Shutdown;
use crate::tests::model::{Plain, wait};

/// A request and the end of the last guard: each side sees what the other did before.
#[test]
fn model_shutdown_there_and_back() {
    model::check(|| {
        let data = Arc::new((Plain::new(), Plain::new()));
        let (shutdown, guard) = Shutdown::new();
        let other = thread::spawn({
            let data = data.clone();
            move || {
                wait(guard.shutdown_requested());
                assert_eq!(data.0.get(), 1);
                data.1.add(1);
                drop(guard);
            }
        });
        data.0.add(1);
        wait(shutdown.wait());
        assert_eq!(data.1.get(), 1);
        other.join().unwrap();
    });
}

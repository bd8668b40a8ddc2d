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

/// The last guard of a part goes while another part is made and while the whole is waited for:
/// nobody above is let go too early, nor for ever held.
#[test]
fn model_shutdown_last_of_a_part_against_another() {
    model::check(|| {
        let data = Arc::new(Plain::new());
        let (whole, guard) = Shutdown::new();
        let (_, part) = whole.child();
        let other = thread::spawn({
            let data = data.clone();
            move || {
                data.add(1);
                drop(part);
            }
        });
        drop(guard);
        let (late, late_guard) = whole.child();
        let counted = whole.guards();
        drop(late_guard);
        wait(whole.wait());
        assert_eq!(data.get(), 1);
        assert!(late.is_shutdown_requested() && counted <= 2);
        assert_eq!(whole.guards(), 0);
        other.join().unwrap();
    });
}

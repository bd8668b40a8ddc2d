//! The cell that is written once under the model checker: its place is an unprotected cell.

use std::sync::Arc;

use raddle_base::shim::{model, thread};

use crate::once_cell::OnceCell;
use crate::tests::model::wait;

/// Setting against getting: who sees the value may read it.
#[test]
fn model_once_cell_set_against_get() {
    model::check(|| {
        let cell = Arc::new(OnceCell::new());
        let other = thread::spawn({
            let cell = cell.clone();
            move || {
                if let Some(value) = cell.get() {
                    assert_eq!(*value, 7);
                }
            }
        });
        cell.set(7).unwrap();
        other.join().unwrap();
    });
}

/// Two who make the value: one does, and both read it.
#[test]
fn model_once_cell_two_initialisers() {
    model::check(|| {
        let cell = Arc::new(OnceCell::new());
        let other = thread::spawn({
            let cell = cell.clone();
            move || *wait(cell.get_or_init(|| async { 1 }))
        });
        let here = *wait(cell.get_or_init(|| async { 2 }));
        assert_eq!(here, other.join().unwrap());
    });
}

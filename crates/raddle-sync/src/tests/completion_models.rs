//! The completion under the model checker: its place is an unprotected cell.

use raddle_base::shim::{model, thread};

use crate::completion::completion;
use crate::tests::model::wait;

/// A value is given while the only observer looks or goes: it is seen, or comes back.
#[test]
fn model_completion_against_last_observer() {
    model::check(|| {
        let (completer, observer) = completion();
        let other = thread::spawn(move || {
            if let Some(seen) = observer.try_get() {
                assert_eq!(seen, Ok(&7));
            }
        });
        assert!(matches!(completer.complete(7), Ok(()) | Err(7)));
        other.join().unwrap();
    });
}

/// A value is given while somebody waits.
#[test]
fn model_completion_against_wait() {
    model::check(|| {
        let (completer, observer) = completion();
        let other = thread::spawn(move || assert_eq!(wait(observer.wait()), Ok(&7)));
        completer.complete(7).unwrap_or_else(|_| unreachable!("the observer waits"));
        other.join().unwrap();
    });
}

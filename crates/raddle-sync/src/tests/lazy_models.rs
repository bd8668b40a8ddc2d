//! The lazy cell under the model checker: its stage is an unprotected cell.

use std::sync::Arc;

use raddle_base::shim::{model, thread};

use crate::lazy::LazyCell;
use crate::tests::model::{poll_once, wait};

/// The one who drives gives up while another one asks: it resumes, and nobody else is at the
/// stage.
#[test]
fn model_lazy_resumed_by_the_next() {
    model::check(|| {
        let lazy = Arc::pin(LazyCell::new(|| async {
            let mut polls = 0;
            std::future::poll_fn(|cx| {
                polls += 1;
                cx.waker().wake_by_ref();
                if polls < 2 { std::task::Poll::Pending } else { std::task::Poll::Ready(polls) }
            })
            .await
        }));
        let mut first = Box::pin(lazy.as_ref().force_pin());
        assert!(poll_once(first.as_mut()).is_pending());
        let other = thread::spawn({
            let lazy = lazy.clone();
            move || *wait(lazy.as_ref().force_pin())
        });
        drop(first);
        assert_eq!(other.join().unwrap(), 2);
    });
}

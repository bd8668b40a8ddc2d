//! How many receivers a channel has, and the wait until it has none: for the senders of channels
//! whose receivers are many.
//!
//! Receivers come and go, so "none is left" need not last: a wait that has begun is over with the
//! last receiver's end, whoever subscribes after that. The count is the value of a crowd, see
//! `crowd.rs` for its states.

use std::fmt;

use raddle_base::wait::WaitKind;

use crate::crowd::stay::{Gather, Stay, named_future};
use crate::crowd::{Crowd, Step};

pub(crate) struct Audience(Crowd);

impl Audience {
    pub(crate) fn new(count: usize) -> Self {
        Audience(Crowd::new(count))
    }

    /// Receivers that are there now.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.0.value()
    }

    /// One more.
    pub(crate) fn join(&self) {
        // It cannot overflow: every receiver holds a count of the `Arc` as well.
        self.0.step(|count| Step::To(count + 1));
    }

    /// One less; the last one lets those go who wait for the end.
    pub(crate) fn leave(&self) {
        self.0.step(|count| match count {
            1 => Step::Release(0),
            _ => Step::To(count - 1),
        });
    }

    #[track_caller]
    pub(crate) fn closed(&self) -> Closed<'_> {
        Closed(Stay::new(self, WaitKind::Closed))
    }
}

impl Gather for Audience {
    fn crowd(&self) -> &Crowd {
        &self.0
    }

    fn is_over(count: usize) -> bool {
        count == 0
    }
}

impl fmt::Debug for Audience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.count().fmt(f)
    }
}

named_future! {
    /// The future of a sender's `closed`: ready when no receiver is left.
    Closed<'a> = Stay<&'a Audience> => ()
}

//! One caller's part in the value of a key: join its cell, then make the value or wait for it.
//!
//! The future under all named ones of the once-map and of singleflight. The cell lies in an
//! allocation that the joined entry keeps; the attempt borrows it, and is always dropped first.

use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, Hash};
use std::panic::Location;
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll, ready};

use raddle_base::context;

use super::joins::{Joined, Joins};
use crate::once::{Attempt, Attempted, Once};

/// What an entry is good for after its value is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeps {
    /// The value stays: a value that is there already is taken.
    Value,
    /// Nothing: the entry leaves before its value is published.
    Nothing,
}

/// See the module's description.
pub(crate) struct Part<'a, K, V, S, F, A> {
    /// Pinned. Dropped before `joined`, whose cell it borrows.
    attempt: Option<Attempt<'a, F, A>>,
    joined: Option<Joined<'a, K, V, S>>,
    joins: &'a Joins<K, V, S>,
    keeps: Keeps,
    /// Until the first poll.
    start: Option<(K, F)>,
    place: &'static Location<'static>,
}

impl<'a, K, V, S, F, A> Part<'a, K, V, S, F, A> {
    #[track_caller]
    pub(crate) fn new(joins: &'a Joins<K, V, S>, keeps: Keeps, key: K, make: F) -> Self {
        Part::at(joins, keeps, key, make, Location::caller())
    }

    pub(crate) fn at(
        joins: &'a Joins<K, V, S>,
        keeps: Keeps,
        key: K,
        make: F,
        place: &'static Location<'static>,
    ) -> Self {
        Part { attempt: None, joined: None, joins, keeps, start: Some((key, make)), place }
    }
}

impl<K: Hash + Eq, V: Clone, S: BuildHasher, F, A> Part<'_, K, V, S, F, A>
where
    F: FnOnce() -> A,
    A: Future,
{
    /// A clone of the value, and whether it is another's, or also another's; `value_of` tells what
    /// came of this caller's own attempt.
    pub(crate) fn poll<E>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        value_of: impl FnOnce(A::Output) -> Result<V, E>,
    ) -> Poll<Result<(V, bool), E>> {
        ready!(context::check_budget(cx));
        // SAFETY: the attempt is pinned with the whole: it is not moved, and dropped in place.
        let this = unsafe { self.get_unchecked_mut() };
        if let Some((key, make)) = this.start.take() {
            if let Some(value) = this.find(&key) {
                context::spend();
                return Poll::Ready(Ok((value, true)));
            }
            this.begin(key, make);
        }
        let joined = this.joined.as_ref().expect("a call was polled after its end");
        if let Some(value) = joined.cell().get().cloned() {
            this.end();
            context::spend();
            return Poll::Ready(Ok((value, true)));
        }
        let attempt = this.attempt.as_mut().expect("it began with the joining");
        // SAFETY: as above.
        let attempted = ready!(unsafe { Pin::new_unchecked(attempt) }.poll(cx));
        let result = match attempted {
            Attempted::Over => Ok((joined.value(), true)),
            Attempted::Mine(output, leading) => value_of(output).map(|value| {
                let shared = this.keeps == Keeps::Nothing && joined.detach();
                (joined.cell().write(value, leading).clone(), shared)
            }),
        };
        this.end();
        Poll::Ready(result)
    }

    fn find(&self, key: &K) -> Option<V> {
        match self.keeps {
            Keeps::Value => self.joins.find(key)?.cell.get().cloned(),
            Keeps::Nothing => None,
        }
    }

    fn begin(&mut self, key: K, make: F) {
        let joined = self.joined.insert(self.joins.join(key));
        let once: *const Once = ptr::from_ref(joined.cell().once());
        // SAFETY: the cell lies in the entry's allocation, which `joined` keeps until `end` or the
        // drop of the whole; both drop the attempt, the one user of this reference, before it.
        let once = unsafe { &*once };
        self.attempt = Some(Attempt::at(once, make, self.place));
    }

    fn end(&mut self) {
        // In this order.
        self.attempt = None;
        self.joined = None;
    }
}

impl<K, V, S, F, A> fmt::Debug for Part<'_, K, V, S, F, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part").field("attempt", &self.attempt).finish_non_exhaustive()
    }
}

//! The futures of a once-map's computations.

use std::borrow::Borrow;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, Hash};
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use raddle_base::context;

use super::joins::Joins;
use super::part::{Keeps, Part};

/// The value of an attempt that cannot fail.
pub(crate) fn unfailing<V>(value: V) -> Result<V, Infallible> {
    Ok(value)
}

/// Writes a public future that plays a [`Part`].
macro_rules! part_future {
    (
        $(#[$meta:meta])* $name:ident, $output:ty, $made:ty $(, $error:ident)?;
        $value_of:expr, |$result:ident| $finish:expr
    ) => {
        $(#[$meta])*
        #[must_use = "futures do nothing unless awaited"]
        pub struct $name<'a, K, V, S, F, A> {
            part: $crate::once_map::part::Part<'a, K, V, S, F, A>,
        }

        impl<'a, K, V, S, F, A> $name<'a, K, V, S, F, A> {
            pub(super) fn new(part: $crate::once_map::part::Part<'a, K, V, S, F, A>) -> Self {
                $name { part }
            }
        }

        impl<K, V, S, F, A $(, $error)?> std::future::Future for $name<'_, K, V, S, F, A>
        where
            K: std::hash::Hash + Eq,
            V: Clone,
            S: std::hash::BuildHasher,
            F: FnOnce() -> A,
            A: std::future::Future<Output = $made>,
        {
            type Output = $output;

            fn poll(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<$output> {
                // SAFETY: the only field is pinned with the whole, and not moved out of it.
                let part = unsafe { self.map_unchecked_mut(|this| &mut this.part) };
                part.poll(cx, $value_of).map(|$result| $finish)
            }
        }

        impl<K, V, S, F, A> std::fmt::Debug for $name<'_, K, V, S, F, A> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.part).finish()
            }
        }
    };
}

pub(crate) use part_future;

/// What came of an attempt that cannot fail.
pub(crate) fn sure<T>(result: Result<T, Infallible>) -> T {
    match result {
        Ok(value) => value,
    }
}

part_future! {
    /// The future of [`OnceMap::compute`](super::OnceMap::compute).
    Compute, V, V;
    unfailing, |result| sure(result).0
}

part_future! {
    /// The future of [`OnceMap::try_compute`](super::OnceMap::try_compute).
    TryCompute, Result<V, E>, Result<V, E>, E;
    |made| made, |result| result.map(|(value, _)| value)
}

/// The future of [`OnceMap::compute_ref`](super::OnceMap::compute_ref).
#[must_use = "futures do nothing unless awaited"]
pub struct ComputeRef<'a, Q: ?Sized, K, V, S, F, A> {
    joins: &'a Joins<K, V, S>,
    /// Until the first poll.
    start: Option<(&'a Q, F)>,
    /// Pinned; from the first poll on, if the value was not there.
    part: Option<Part<'a, K, V, S, F, A>>,
    place: &'static Location<'static>,
}

impl<'a, Q: ?Sized, K, V, S, F, A> ComputeRef<'a, Q, K, V, S, F, A> {
    #[track_caller]
    pub(super) fn new(joins: &'a Joins<K, V, S>, key: &'a Q, make: F) -> Self {
        ComputeRef { joins, start: Some((key, make)), part: None, place: Location::caller() }
    }
}

impl<K, Q, V, S, F, A> Future for ComputeRef<'_, Q, K, V, S, F, A>
where
    K: Hash + Eq + Borrow<Q>,
    Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    V: Clone,
    S: BuildHasher,
    F: FnOnce() -> A,
    A: Future<Output = V>,
{
    type Output = V;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<V> {
        ready!(context::check_budget(cx));
        // SAFETY: the part is pinned with the whole, and not moved out of it.
        let this = unsafe { self.get_unchecked_mut() };
        if let Some((key, make)) = this.start.take() {
            let found = this.joins.find(key);
            if let Some(value) = found.and_then(|entry| entry.cell.get().cloned()) {
                context::spend();
                return Poll::Ready(value);
            }
            let part = Part::at(this.joins, Keeps::Value, key.to_owned(), make, this.place);
            this.part = Some(part);
        }
        let part = this.part.as_mut().expect("a call was polled after its end");
        // SAFETY: as above.
        unsafe { Pin::new_unchecked(part) }.poll(cx, unfailing).map(|result| sure(result).0)
    }
}

impl<Q: ?Sized, K, V, S, F, A> fmt::Debug for ComputeRef<'_, Q, K, V, S, F, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ComputeRef").field(&self.part).finish()
    }
}

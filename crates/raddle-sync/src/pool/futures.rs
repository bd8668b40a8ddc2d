//! The names of a pool's futures. What is inside is made of the futures of whoever makes and checks
//! objects, which have no names; so a name stands around it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

macro_rules! name {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[must_use = "futures do nothing unless awaited"]
        pub struct $name<F>(pub(super) F);

        impl<F: Future> Future for $name<F> {
            type Output = F::Output;

            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
                // SAFETY: the only field is pinned with the whole, and not moved out of it.
                unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(cx)
            }
        }

        impl<F> fmt::Debug for $name<F> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

name! {
    /// The future of [`Pool::get`](super::Pool::get).
    Get
}

name! {
    /// The future of [`Pool::replenish_to`](super::Pool::replenish_to).
    ReplenishTo
}

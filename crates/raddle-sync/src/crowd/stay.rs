//! The wait in a crowd as a future: a node, and a reference to what it waits for.
//!
//! Public futures are names for [`Stay`] with a borrowed or an owned reference;
//! `named_future!` writes such a name.

use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::task::{Context, Poll};

use raddle_base::wait::{WaitKind, WaitSite, Waiter};

use super::Crowd;

/// Something that lets everybody go when its value fulfils a condition.
pub(crate) trait Gather {
    fn crowd(&self) -> &Crowd;

    fn is_over(value: usize) -> bool;
}

/// Waits until the value fulfils the condition.
pub(crate) struct Stay<R: Deref<Target: Gather>> {
    of: R,
    node: Waiter,
}

impl<R: Deref<Target: Gather>> Stay<R> {
    #[track_caller]
    pub(crate) fn new(of: R, kind: WaitKind) -> Self {
        Stay::at(of, WaitSite::here(kind))
    }

    /// The same, for a wait that was written in another place.
    pub(crate) fn at(of: R, site: WaitSite) -> Self {
        Stay { of, node: Waiter::at(site, ()) }
    }

    pub(crate) fn of(&self) -> &R {
        &self.of
    }
}

impl<R: Deref<Target: Gather>> Future for Stay<R> {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.into_ref().get_ref();
        // SAFETY: the node is pinned with the future that owns it, used with this crowd only, and
        // leaves when the future is dropped.
        let node = unsafe { Pin::new_unchecked(&this.node) };
        // SAFETY: as above.
        unsafe { this.of.crowd().poll(node, cx, R::Target::is_over) }.map(drop)
    }
}

impl<R: Deref<Target: Gather>> Drop for Stay<R> {
    fn drop(&mut self) {
        // SAFETY: as in `poll`; a future that was polled was pinned and did not move since.
        unsafe { self.of.crowd().leave(Pin::new_unchecked(&self.node)) };
    }
}

impl<R: Deref<Target: Gather>> fmt::Debug for Stay<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stay").field(&self.node).finish()
    }
}

/// Writes a public future that is a name for an inner one.
macro_rules! named_future {
    ($(#[$meta:meta])* $name:ident $(<$life:lifetime>)? = $inner:ty => $output:ty) => {
        $(#[$meta])*
        #[derive(Debug)]
        #[must_use = "futures do nothing unless awaited"]
        pub struct $name $(<$life>)? ($inner);

        impl $(<$life>)? std::future::Future for $name $(<$life>)? {
            type Output = $output;

            #[inline]
            fn poll(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<$output> {
                // SAFETY: the only field is pinned with the whole, and not moved out of it.
                unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(cx)
            }
        }
    };
}

pub(crate) use named_future;

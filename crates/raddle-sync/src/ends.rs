//! The ends of a channel, counted side by side: who keeps it open, and who is the last to go.
//!
//! Question: how do ends come and go without a lock, how does exactly one of a side find out that
//! it was the last, and how does it know what all before it did? A count of strong ends begins with
//! one. A strong end adds one for each clone, so the count it adds to is not zero; a weak end adds
//! one by an exchange, and only to a count that is not zero. So the count reaches zero once, and
//! stays there. Each end goes with a release, and the last one acquires what all others did.
//! Models: `model_mpsc_end_publishes`, `model_mpsc_upgrade_against_last_sender`,
//! `model_mpmc_upgrade_against_last_end`, `model_broadcast_end_against_recv`,
//! `model_watch_two_senders_end`.

use std::marker::PhantomData;
use std::ops::Deref;

use raddle_base::shim::Arc;
use raddle_base::shim::atomic::AtomicUsize;
use raddle_base::shim::atomic::Ordering::{AcqRel, Acquire, Relaxed};

/// How many ends a side has.
pub(crate) struct Count {
    strong: AtomicUsize,
    weak: AtomicUsize,
}

impl Count {
    /// One end, which the first [`End`] stands for.
    pub(crate) fn new() -> Self {
        Count { strong: AtomicUsize::new(1), weak: AtomicUsize::new(0) }
    }

    pub(crate) fn strong(&self) -> usize {
        // Relaxed: for information, old when it arrives.
        self.strong.load(Relaxed)
    }

    pub(crate) fn weak(&self) -> usize {
        // Relaxed: as above.
        self.weak.load(Relaxed)
    }

    /// Whether no strong end is left. What all of them did is visible then.
    pub(crate) fn is_zero(&self) -> bool {
        // Acquire: pairs with the release of each end's going.
        self.strong.load(Acquire) == 0
    }

    fn join(&self) {
        // Relaxed: made from an end that is alive, as a reference count is.
        self.strong.fetch_add(1, Relaxed);
    }

    /// From weak to strong, unless no strong one is left.
    fn revive(&self) -> bool {
        // Relaxed: only a first guess for the exchange below.
        let mut count = self.strong.load(Relaxed);
        while count != 0 {
            // Relaxed: a count that is not zero keeps the channel open; nothing is published.
            match self.strong.compare_exchange_weak(count, count + 1, Relaxed, Relaxed) {
                Ok(_) => return true,
                Err(now) => count = now,
            }
        }
        false
    }

    /// One less; whether it was the last one.
    fn leave(&self) -> bool {
        // Release: what this end did. Acquire: what all others did, for the last one to pass on.
        self.strong.fetch_sub(1, AcqRel) == 1
    }
}

/// The senders of a channel.
pub(crate) enum Senders {}

/// The receivers of a channel.
pub(crate) enum Receivers {}

/// What the ends of a side share.
pub(crate) trait Counted<S> {
    fn count(&self) -> &Count;

    /// The last strong end of the side has gone. Called once.
    fn last_left(&self);
}

/// A strong end: one of those that keep the channel open.
pub(crate) struct End<C: Counted<S>, S = Senders> {
    chan: Arc<C>,
    side: PhantomData<fn() -> S>,
}

impl<C: Counted<S>, S> End<C, S> {
    /// One that was counted in.
    pub(crate) fn counted(chan: Arc<C>) -> Self {
        End { chan, side: PhantomData }
    }

    pub(crate) fn chan(&self) -> &C {
        &self.chan
    }

    /// The same, for those who keep it alive without counting.
    pub(crate) fn shared(&self) -> Arc<C> {
        self.chan.clone()
    }

    pub(crate) fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.chan, &other.chan)
    }

    pub(crate) fn downgrade(&self) -> WeakEnd<C, S> {
        WeakEnd::new(self.chan.clone())
    }
}

impl<C: Counted<S>, S> Deref for End<C, S> {
    type Target = C;

    #[inline]
    fn deref(&self) -> &C {
        &self.chan
    }
}

impl<C: Counted<S>, S> Clone for End<C, S> {
    fn clone(&self) -> Self {
        self.chan.count().join();
        End::counted(self.chan.clone())
    }
}

impl<C: Counted<S>, S> Drop for End<C, S> {
    fn drop(&mut self) {
        if self.chan.count().leave() {
            self.chan.last_left();
        }
    }
}

/// An end that does not keep the channel open.
pub(crate) struct WeakEnd<C: Counted<S>, S> {
    chan: Arc<C>,
    side: PhantomData<fn() -> S>,
}

impl<C: Counted<S>, S> WeakEnd<C, S> {
    fn new(chan: Arc<C>) -> Self {
        // Relaxed: counted for information only.
        chan.count().weak.fetch_add(1, Relaxed);
        WeakEnd { chan, side: PhantomData }
    }

    pub(crate) fn upgrade(&self) -> Option<End<C, S>> {
        self.chan.count().revive().then(|| End::counted(self.chan.clone()))
    }

    pub(crate) fn count(&self) -> &Count {
        self.chan.count()
    }
}

impl<C: Counted<S>, S> Clone for WeakEnd<C, S> {
    fn clone(&self) -> Self {
        WeakEnd::new(self.chan.clone())
    }
}

impl<C: Counted<S>, S> Drop for WeakEnd<C, S> {
    fn drop(&mut self) {
        // Relaxed: counted for information only.
        self.chan.count().weak.fetch_sub(1, Relaxed);
    }
}

/// Writes the public names of an end of a channel, strong and weak.
macro_rules! counted_ends {
    (
        $(#[$meta:meta])*
        pub struct $end:ident<T, K: $kind:ident = $default:ident> and struct $weak:ident
            of $chan:ty, $side:ident: $noun:literal
    ) => {
        $(#[$meta])*
        pub struct $end<T, K: $kind = $default> {
            pub(super) chan: crate::ends::End<$chan, crate::ends::$side>,
            kind: std::marker::PhantomData<fn() -> K>,
        }

        impl<T, K: $kind> $end<T, K> {
            pub(super) fn from_end(chan: crate::ends::End<$chan, crate::ends::$side>) -> Self {
                $end { chan, kind: std::marker::PhantomData }
            }

            /// Whether both belong to the same channel.
            pub fn same_channel(&self, other: &Self) -> bool {
                self.chan.same_channel(&other.chan)
            }

            /// A handle that does not keep the channel open. Allocates nothing.
            pub fn downgrade(&self) -> $weak<T, K> {
                $weak { chan: self.chan.downgrade(), kind: std::marker::PhantomData }
            }

            #[doc = concat!("How many ", $noun, "s there are.")]
            pub fn strong_count(&self) -> usize {
                crate::ends::Counted::<crate::ends::$side>::count(&*self.chan).strong()
            }

            #[doc = concat!("How many weak ", $noun, "s there are.")]
            pub fn weak_count(&self) -> usize {
                crate::ends::Counted::<crate::ends::$side>::count(&*self.chan).weak()
            }
        }

        impl<T, K: $kind> Clone for $end<T, K> {
            fn clone(&self) -> Self {
                Self::from_end(self.chan.clone())
            }
        }

        #[doc = concat!("A ", $noun, " that does not keep the channel open.")]
        pub struct $weak<T, K: $kind = $default> {
            chan: crate::ends::WeakEnd<$chan, crate::ends::$side>,
            kind: std::marker::PhantomData<fn() -> K>,
        }

        impl<T, K: $kind> $weak<T, K> {
            #[doc = concat!("A ", $noun, ", unless all are gone. Never waits.")]
            pub fn upgrade(&self) -> Option<$end<T, K>> {
                self.chan.upgrade().map($end::from_end)
            }

            #[doc = concat!("How many ", $noun, "s there are.")]
            pub fn strong_count(&self) -> usize {
                self.chan.count().strong()
            }

            #[doc = concat!("How many weak ", $noun, "s there are.")]
            pub fn weak_count(&self) -> usize {
                self.chan.count().weak()
            }
        }

        impl<T, K: $kind> Clone for $weak<T, K> {
            fn clone(&self) -> Self {
                $weak { chan: self.chan.clone(), kind: std::marker::PhantomData }
            }
        }

        impl<T, K: $kind> std::fmt::Debug for $weak<T, K> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($weak)).finish_non_exhaustive()
            }
        }
    };
}

pub(crate) use counted_ends;

//! What a list asks of its nodes, and why it must be asked with `unsafe` and raw pointers.
//!
//! # The version that looks right
//!
//! ```no_run
//! # use std::ptr::NonNull;
//! struct Links<N> { prev: Option<NonNull<N>>, next: Option<NonNull<N>> }
//!
//! /// A node shows where its links are.
//! trait Linked: Sized {
//!     fn links(&mut self) -> &mut Links<Self>;
//! }
//!
//! /// Unlinks `node` by letting its neighbours name each other.
//! fn unlink<N: Linked>(node: &mut N) {
//!     let links = node.links();
//!     let (prev, next) = (links.prev.take(), links.next.take());
//!     if let Some(mut prev) = prev {
//!         unsafe { prev.as_mut() }.links().next = next;
//!     }
//!     if let Some(mut next) = next {
//!         unsafe { next.as_mut() }.links().prev = prev;
//!     }
//! }
//! ```
//!
//! It is unsound, three times over.
//!
//! 1. *`prev.as_mut()` makes a second exclusive reference.* A waiter lives inside a future. While
//!    another thread unlinks its neighbour, the future's own thread may hold `&mut` to all of it,
//!    because it is being polled. Two exclusive references to the same memory are undefined
//!    behaviour, even if the bytes that each side touches differ, and even under a lock.
//! 2. *Nothing keeps the node where it is.* Safe code may move or drop a node that is linked; its
//!    neighbours then name freed memory. And a type without a marker is `Unpin`, which tells the
//!    compiler that an exclusive reference to it has no rivals.
//! 3. *The trait is safe*, so safe code may return other links at each call, and the list breaks
//!    through no fault of an unsafe block.
//!
//! # The version in use
//!
//! [`Linked`] is an unsafe trait (against 3). It goes from pointer to pointer, and the list makes
//! shared references to [`Links`] only, whose fields are cells (against 1). [`Links`] is neither
//! `Unpin` nor to be copied, so neither is a node that contains it, and pushing is unsafe: the
//! caller promises that the node stays where it is until it has left the list (against 2).
//!
//! The trait is implemented by a marker, not by the node, so that a node may stand in several
//! lists at once through several links.

use core::fmt;
use core::marker::PhantomPinned;
use core::ptr::NonNull;

use crate::const_unless_loom;
use crate::shim::cell::UnsafeCell;

/// Says, for one kind of list, what its nodes are and where in them the links lie.
///
/// # Safety
///
/// [`links`](Linked::links) gives, for the same node, the same place each time; the place lies
/// inside the node and is used by this kind of list alone.
pub unsafe trait Linked {
    /// What stands in the list.
    type Node;

    /// The links inside `node`. To be computed without making a reference to the node, by
    /// `&raw mut` or an offset.
    ///
    /// # Safety
    ///
    /// `node` points to a live node.
    unsafe fn links(node: NonNull<Self::Node>) -> NonNull<Links<Self::Node>>;
}

/// The field of a node through which a list runs. Not `Unpin`, and so is what contains it.
pub struct Links<N> {
    /// Both are `None` in a node that stands in no list.
    prev: UnsafeCell<Option<NonNull<N>>>,
    next: UnsafeCell<Option<NonNull<N>>>,
    _pinned: PhantomPinned,
}

// SAFETY: the fields are private, and only a list that is used exclusively reads or writes them;
// whoever shares nodes between threads puts the list under a lock.
unsafe impl<N: Send> Send for Links<N> {}
// SAFETY: as above: a shared `Links` gives access to nothing.
unsafe impl<N: Send> Sync for Links<N> {}

impl<N> Links<N> {
    const_unless_loom! {
        /// The links of a node that stands in no list.
        #[must_use]
        pub const fn new() -> Self {
            let (prev, next) = (UnsafeCell::new(None), UnsafeCell::new(None));
            Self { prev, next, _pinned: PhantomPinned }
        }
    }

    /// The node before.
    ///
    /// # Safety
    ///
    /// Nobody writes these links meanwhile.
    #[inline]
    pub(crate) unsafe fn prev(&self) -> Option<NonNull<N>> {
        // SAFETY: no writer, by this function's contract.
        self.prev.with(|prev| unsafe { *prev })
    }

    /// The node behind.
    ///
    /// # Safety
    ///
    /// Nobody writes these links meanwhile.
    #[inline]
    pub(crate) unsafe fn next(&self) -> Option<NonNull<N>> {
        // SAFETY: no writer, by this function's contract.
        self.next.with(|next| unsafe { *next })
    }

    /// Names the node before.
    ///
    /// # Safety
    ///
    /// Nobody else reads or writes these links.
    #[inline]
    pub(crate) unsafe fn set_prev(&self, node: Option<NonNull<N>>) {
        // SAFETY: exclusive, by this function's contract.
        self.prev.with_mut(|prev| unsafe { *prev = node });
    }

    /// Names the node behind.
    ///
    /// # Safety
    ///
    /// Nobody else reads or writes these links.
    #[inline]
    pub(crate) unsafe fn set_next(&self, node: Option<NonNull<N>>) {
        // SAFETY: exclusive, by this function's contract.
        self.next.with_mut(|next| unsafe { *next = node });
    }
}

impl<N> Default for Links<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<N> fmt::Debug for Links<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The content may be in somebody else's hands.
        f.write_str("Links")
    }
}

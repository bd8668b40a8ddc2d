//! What a queue of owned things needs to know about a thing: how to become a raw pointer and
//! back, and where its link lies.
//!
//! The ring ([`deque`](crate::deque)), the queues ([`fifo`](crate::fifo), [`inbox`](crate::inbox),
//! [`injector`](crate::injector)) move ownership through one machine word and allocate nothing for
//! it. [`Pointer`] is the conversion; [`QueueLink`] adds the one `next` field through which queued
//! things are chained; [`Link`] is that field.
//!
//! ```
//! use raddle_base::fifo::Fifo;
//! use raddle_base::pointer::{Link, Pointer, QueueLink};
//! use std::ptr::NonNull;
//!
//! struct Job {
//!     link: Link,
//!     number: u32,
//! }
//!
//! struct Queued(Box<Job>);
//!
//! // SAFETY: the box is converted there and back.
//! unsafe impl Pointer for Queued {
//!     fn into_raw(self) -> NonNull<()> {
//!         self.0.into_raw()
//!     }
//!     unsafe fn from_raw(raw: NonNull<()>) -> Self {
//!         Queued(unsafe { Pointer::from_raw(raw) })
//!     }
//! }
//!
//! // SAFETY: always the same field, and a box has one owner.
//! unsafe impl QueueLink for Queued {
//!     unsafe fn link(raw: NonNull<()>) -> NonNull<Link> {
//!         let job: *mut Job = raw.cast().as_ptr();
//!         unsafe { NonNull::new_unchecked(&raw mut (*job).link) }
//!     }
//! }
//!
//! let mut queue = Fifo::new();
//! for number in [1, 2] {
//!     queue.push_back(Queued(Box::new(Job { link: Link::new(), number })));
//! }
//! assert_eq!(queue.pop_front().map(|queued| queued.0.number), Some(1));
//! ```
//!
//! The link is a cell of the shim, so that the model checker sees each access to it: a queue that
//! publishes a thing with too weak an ordering is reported as a race on the link.

use core::fmt;
use core::ptr::NonNull;
use std::sync::Arc;

use crate::const_unless_loom;
use crate::shim::cell::UnsafeCell;

/// An owned value that can be carried as one thin pointer.
///
/// # Safety
///
/// `from_raw(into_raw(x))` gives `x` back, on any thread on which `x` may be, and the raw pointer
/// alone keeps whatever `x` owned alive.
pub unsafe trait Pointer: Sized {
    /// Gives up the value; the pointer now owns what the value owned.
    fn into_raw(self) -> NonNull<()>;

    /// Takes the value back.
    ///
    /// # Safety
    ///
    /// `raw` came from [`into_raw`](Pointer::into_raw) of this very type and is used up by this
    /// call: each raw pointer is turned back at most once.
    unsafe fn from_raw(raw: NonNull<()>) -> Self;
}

/// A [`Pointer`] to something that carries a [`Link`], so that it can stand in a queue without an
/// allocation.
///
/// # Safety
///
/// [`link`](QueueLink::link) gives the same link for the same pointer each time, valid for as long
/// as the raw pointer is owned; and no two owned pointers that could be queued at the same time
/// share a link. (So `Box` may implement it; `Arc` may not, unless something else makes sure that
/// only one of its clones is ever queued.)
pub unsafe trait QueueLink: Pointer {
    /// The link of the thing behind `raw`.
    ///
    /// # Safety
    ///
    /// `raw` came from [`into_raw`](Pointer::into_raw) and was not turned back yet.
    unsafe fn link(raw: NonNull<()>) -> NonNull<Link>;
}

/// The one field by which a queued thing names the thing behind it.
///
/// Written by whoever owns the thing: the pushing side before it publishes, the queue afterwards.
pub struct Link {
    next: UnsafeCell<Option<NonNull<()>>>,
}

// SAFETY: the field is private and its accessors are unsafe; their contract asks for exclusive use.
unsafe impl Send for Link {}
// SAFETY: as above: a shared `Link` gives no access without the contract of `next` and `set_next`.
unsafe impl Sync for Link {}

impl Link {
    const_unless_loom! {
        /// A link that names nothing.
        pub const fn new() -> Self {
            Self { next: UnsafeCell::new(None) }
        }
    }

    /// The thing behind, if any.
    ///
    /// # Safety
    ///
    /// The caller owns the thing the link belongs to; nobody writes the link meanwhile.
    #[inline]
    pub(crate) unsafe fn next(&self) -> Option<NonNull<()>> {
        // SAFETY: no writer, by this function's contract.
        self.next.with(|next| unsafe { *next })
    }

    /// Names the thing behind.
    ///
    /// # Safety
    ///
    /// The caller owns the thing the link belongs to; nobody else reads or writes the link.
    #[inline]
    pub(crate) unsafe fn set_next(&self, behind: Option<NonNull<()>>) {
        // SAFETY: exclusive, by this function's contract.
        self.next.with_mut(|next| unsafe { *next = behind });
    }
}

impl Default for Link {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The content may be in somebody else's hands.
        f.write_str("Link")
    }
}

// SAFETY: `Box::into_raw` and `Box::from_raw` are inverse, and the box is sized, so thin.
unsafe impl<T> Pointer for Box<T> {
    #[inline]
    fn into_raw(self) -> NonNull<()> {
        // SAFETY: a box is never null.
        unsafe { NonNull::new_unchecked(Box::into_raw(self).cast()) }
    }

    #[inline]
    unsafe fn from_raw(raw: NonNull<()>) -> Self {
        // SAFETY: the caller hands over what `into_raw` gave.
        unsafe { Box::from_raw(raw.cast::<T>().as_ptr()) }
    }
}

// SAFETY: `Arc::into_raw` keeps the count that `Arc::from_raw` takes back; `T` is sized, so thin.
unsafe impl<T> Pointer for Arc<T> {
    #[inline]
    fn into_raw(self) -> NonNull<()> {
        // SAFETY: an `Arc` is never null.
        unsafe { NonNull::new_unchecked(Arc::into_raw(self).cast_mut().cast()) }
    }

    #[inline]
    unsafe fn from_raw(raw: NonNull<()>) -> Self {
        // SAFETY: the caller hands over what `into_raw` gave.
        unsafe { Arc::from_raw(raw.cast::<T>().as_ptr()) }
    }
}

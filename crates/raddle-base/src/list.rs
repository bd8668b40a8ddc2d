//! A doubly linked list through its nodes: no allocation, and any node leaves in O(1).
//!
//! It answers: how does a queue hold waiters that live in other people's futures, each of which
//! may go away at any moment? Wait queues, timer slots and the set of live tasks are such lists.
//!
//! A list does not own its nodes and has no lock of its own. Who uses it keeps three promises, all
//! made at [`push_back`](List::push_back): a node stays alive and in place until it has left; it
//! stands in one list of a kind at a time; and whoever touches the list has exclusive use of all
//! lists of that kind which its nodes may be in (one lock for all of them, usually).
//!
//! ```text
//!   List { first, last }
//!            │      └───────────────────────┐
//!            ▼                              ▼
//!     None ◄─ prev │ next ─► ◄─ prev │ next ─► None         a node alone has None on both sides,
//!                                                           and so has one that is in no list
//! ```
//!
//! The trait and the reasons for its shape are in [`linked`].

pub mod linked;
#[cfg(test)]
mod tests;

use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;

pub use linked::{Linked, Links};

/// A list of the nodes of `L`. See the [module](self).
pub struct List<L: Linked> {
    /// First and last node; `None` when empty.
    ends: Option<Ends<L::Node>>,
    kind: PhantomData<L>,
}

struct Ends<N> {
    first: NonNull<N>,
    last: NonNull<N>,
}

// SAFETY: the list itself is two pointers; the nodes are touched by whoever holds it (or its lock)
// exclusively, from any thread, hence `Node: Send`.
unsafe impl<L: Linked<Node: Send>> Send for List<L> {}
// SAFETY: through a shared list only pointers can be had.
unsafe impl<L: Linked<Node: Send>> Sync for List<L> {}

impl<L: Linked> List<L> {
    /// An empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self { ends: None, kind: PhantomData }
    }

    /// True when no node stands in the list.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ends.is_none()
    }

    /// The first node.
    #[inline]
    #[must_use]
    pub fn front(&self) -> Option<NonNull<L::Node>> {
        self.ends.as_ref().map(|ends| ends.first)
    }

    /// The last node.
    #[inline]
    #[must_use]
    pub fn back(&self) -> Option<NonNull<L::Node>> {
        self.ends.as_ref().map(|ends| ends.last)
    }

    /// Puts `node` behind all others.
    ///
    /// # Safety
    ///
    /// Until it has left the list, the node stays alive and in place, and nobody makes an
    /// exclusive reference to it whose type is `Unpin`. It stands in no list of this kind now.
    /// The caller has exclusive use of every list of this kind that shares nodes with this one,
    /// now and at each later call.
    #[inline]
    pub unsafe fn push_back(&mut self, node: NonNull<L::Node>) {
        // SAFETY: the caller vouches for `node`.
        unsafe { self.insert(self.back(), node, None) };
    }

    /// Puts `node` before all others.
    ///
    /// # Safety
    ///
    /// As for [`push_back`](List::push_back).
    #[inline]
    pub unsafe fn push_front(&mut self, node: NonNull<L::Node>) {
        // SAFETY: the caller vouches for `node`.
        unsafe { self.insert(None, node, self.front()) };
    }

    /// Puts `node` immediately before `place`.
    ///
    /// # Safety
    ///
    /// As for [`push_back`](List::push_back); and `place` stands in this list.
    pub unsafe fn insert_before(&mut self, place: NonNull<L::Node>, node: NonNull<L::Node>) {
        // SAFETY: `place` is in this list, hence alive, and its links are ours.
        let prev = unsafe { links::<L>(&place).prev() };
        // SAFETY: the caller vouches for `node`; the other two are neighbours.
        unsafe { self.insert(prev, node, Some(place)) };
    }

    /// Takes the first node out.
    #[inline]
    pub fn pop_front(&mut self) -> Option<NonNull<L::Node>> {
        let node = self.front()?;
        // SAFETY: it stands in this list.
        unsafe { self.unlink(node) };
        Some(node)
    }

    /// Takes the last node out.
    #[inline]
    pub fn pop_back(&mut self) -> Option<NonNull<L::Node>> {
        let node = self.back()?;
        // SAFETY: it stands in this list.
        unsafe { self.unlink(node) };
        Some(node)
    }

    /// Takes `node` out, wherever in the list it stands; false when it stood in none. O(1).
    ///
    /// # Safety
    ///
    /// The node is alive, and stands either in this list or in no list of this kind.
    #[inline]
    pub unsafe fn remove(&mut self, node: NonNull<L::Node>) -> bool {
        // SAFETY: the node is alive and its links are ours, by this function's contract.
        let has_prev = unsafe { links::<L>(&node).prev() }.is_some();
        if !has_prev && self.front() != Some(node) {
            return false;
        }
        // SAFETY: something is before it, or it is our first: so it is in this list.
        unsafe { self.unlink(node) };
        true
    }

    /// Moves all nodes of `other` behind those that stand here. O(1).
    pub fn append(&mut self, other: &mut Self) {
        let Some(theirs) = other.ends.take() else { return };
        match &mut self.ends {
            None => self.ends = Some(theirs),
            Some(ends) => {
                // SAFETY: both nodes are in lists that are borrowed exclusively.
                unsafe { links::<L>(&ends.last).set_next(Some(theirs.first)) };
                // SAFETY: as above.
                unsafe { links::<L>(&theirs.first).set_prev(Some(ends.last)) };
                ends.last = theirs.last;
            }
        }
    }

    /// Takes all nodes out, as a list of their own. O(1).
    #[must_use]
    pub fn take(&mut self) -> Self {
        core::mem::take(self)
    }

    /// The nodes from first to last.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, L> {
        Iter { next: self.front(), list: PhantomData }
    }

    /// A place in the list from which nodes can be taken out; it starts at the first.
    pub fn cursor(&mut self) -> Cursor<'_, L> {
        let at = self.front();
        Cursor { list: self, at }
    }

    /// Links `node` between two neighbours, `None` being the outside.
    ///
    /// # Safety
    ///
    /// `prev` and `next` are neighbours in this list; `node` as in [`push_back`](List::push_back).
    #[inline]
    unsafe fn insert(
        &mut self,
        prev: Option<NonNull<L::Node>>,
        node: NonNull<L::Node>,
        next: Option<NonNull<L::Node>>,
    ) {
        // SAFETY: the caller vouches for `node`; its links are ours from now on.
        let own = unsafe { links::<L>(&node) };
        // SAFETY: as above.
        unsafe { own.set_prev(prev) };
        // SAFETY: as above.
        unsafe { own.set_next(next) };
        // SAFETY: neighbours stand in this list, so they are alive and their links are ours.
        prev.inspect(|prev| unsafe { links::<L>(prev).set_next(Some(node)) });
        // SAFETY: as above.
        next.inspect(|next| unsafe { links::<L>(next).set_prev(Some(node)) });
        let first = if prev.is_none() { Some(node) } else { self.front() };
        let last = if next.is_none() { Some(node) } else { self.back() };
        self.ends = first.zip(last).map(|(first, last)| Ends { first, last });
    }

    /// Takes `node` out.
    ///
    /// # Safety
    ///
    /// The node stands in this list.
    #[inline]
    unsafe fn unlink(&mut self, node: NonNull<L::Node>) {
        // SAFETY: the node is in this list, so it is alive and its links are ours.
        let own = unsafe { links::<L>(&node) };
        // SAFETY: as above.
        let (prev, next) = unsafe { (own.prev(), own.next()) };
        // SAFETY: as above.
        unsafe { own.set_prev(None) };
        // SAFETY: as above.
        unsafe { own.set_next(None) };
        // SAFETY: neighbours stand in this list, so they are alive and their links are ours.
        prev.inspect(|prev| unsafe { links::<L>(prev).set_next(next) });
        // SAFETY: as above.
        next.inspect(|next| unsafe { links::<L>(next).set_prev(prev) });
        let first = if prev.is_none() { next } else { self.front() };
        let last = if next.is_none() { prev } else { self.back() };
        self.ends = first.zip(last).map(|(first, last)| Ends { first, last });
    }
}

/// The links of a node, borrowed for as long as the caller holds its pointer.
///
/// # Safety
///
/// `node` points to a live node, which stays alive while the result is in use.
#[inline]
unsafe fn links<L: Linked>(node: &NonNull<L::Node>) -> &Links<L::Node> {
    // SAFETY: the node is alive, so `L::links` may be asked and gives a live place, to which only
    // shared references are ever made.
    unsafe { L::links(*node).as_ref() }
}

impl<L: Linked> Default for List<L> {
    fn default() -> Self {
        Self::new()
    }
}

impl<L: Linked> fmt::Debug for List<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List").field("is_empty", &self.is_empty()).finish()
    }
}

/// The nodes of a list, from first to last. See [`List::iter`].
pub struct Iter<'a, L: Linked> {
    next: Option<NonNull<L::Node>>,
    list: PhantomData<&'a List<L>>,
}

impl<L: Linked> Iterator for Iter<'_, L> {
    type Item = NonNull<L::Node>;

    fn next(&mut self) -> Option<NonNull<L::Node>> {
        let node = self.next?;
        // SAFETY: the node stands in the list, which is borrowed: nobody changes its links.
        self.next = unsafe { links::<L>(&node).next() };
        Some(node)
    }
}

impl<L: Linked> fmt::Debug for Iter<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Iter").field("next", &self.next).finish()
    }
}

/// A place in a list, for taking out nodes on the way. See [`List::cursor`].
pub struct Cursor<'a, L: Linked> {
    list: &'a mut List<L>,
    at: Option<NonNull<L::Node>>,
}

impl<L: Linked> Cursor<'_, L> {
    /// The node at this place; `None` behind the last.
    #[inline]
    #[must_use]
    pub fn current(&self) -> Option<NonNull<L::Node>> {
        self.at
    }

    /// Goes on to the node behind, if there is one to leave.
    #[inline]
    pub fn move_next(&mut self) {
        // SAFETY: the node stands in the list, which is borrowed exclusively.
        self.at = self.at.and_then(|node| unsafe { links::<L>(&node).next() });
    }

    /// Takes the node at this place out and goes on to the one behind it.
    #[inline]
    pub fn remove_current(&mut self) -> Option<NonNull<L::Node>> {
        let node = self.at?;
        self.move_next();
        // SAFETY: the node stands in the list.
        unsafe { self.list.unlink(node) };
        Some(node)
    }
}

impl<L: Linked> fmt::Debug for Cursor<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cursor").field("at", &self.at).finish()
    }
}

//! The inbox in twins: order and counts on real threads, every interleaving of short programs
//! under the model checker.

use std::ptr::NonNull;
use std::sync::Arc;

use crate::inbox::Inbox;
use crate::pointer::{Link, Pointer, QueueLink};
use crate::shim::cell::UnsafeCell;

#[cfg(loom)]
mod models;
mod sequential;

/// A thing to push: its content is a checked cell, so that the model sees a missing publication.
struct Item(Box<Node>);

struct Node {
    link: Link,
    value: UnsafeCell<u32>,
    /// Counts the nodes that are alive.
    _alive: Option<Arc<()>>,
}

impl Item {
    fn new(value: u32) -> Self {
        Self(Box::new(Node { link: Link::new(), value: UnsafeCell::new(value), _alive: None }))
    }

    fn counted(value: u32, alive: Arc<()>) -> Self {
        let mut item = Self::new(value);
        item.0._alive = Some(alive);
        item
    }

    /// The value, by exclusive access.
    fn value(self) -> u32 {
        // SAFETY: the box is owned; the model checks that this is so.
        self.0.value.with_mut(|value| unsafe { value.replace(u32::MAX) })
    }
}

// SAFETY: a node is owned by one item and carries no thread-bound state.
unsafe impl Send for Item {}

// SAFETY: that of the box.
unsafe impl Pointer for Item {
    fn into_raw(self) -> NonNull<()> {
        self.0.into_raw()
    }

    unsafe fn from_raw(raw: NonNull<()>) -> Self {
        // SAFETY: as the caller promises.
        Self(unsafe { Box::from_raw(raw.cast().as_ptr()) })
    }
}

// SAFETY: a box has one owner and with it one link.
unsafe impl QueueLink for Item {
    unsafe fn link(raw: NonNull<()>) -> NonNull<Link> {
        // SAFETY: `raw` is a live node, as the caller promises.
        unsafe { NonNull::new_unchecked(&raw mut (*raw.cast::<Node>().as_ptr()).link) }
    }
}

fn taken(inbox: &Inbox<Item>) -> Vec<u32> {
    inbox.take_all().into_iter().map(Item::value).collect()
}

//! What tells a channel with a bound from one without, for the types of its ends.
//!
//! Both share one core (`chan.rs`), whose word counts free places and positions. Without a bound
//! there are no places to count, and the positions get all of the word.

use std::fmt;

use crate::permits::Layout;

/// Whether a channel has a bound: [`Bounded`] or [`Unbounded`], and nothing else.
pub trait Kind: fmt::Debug + 'static {
    #[doc(hidden)]
    const PLACES: u32;
}

/// The channel has a bound, and senders wait for room.
#[derive(Debug)]
pub enum Bounded {}

/// The channel has no bound.
#[derive(Debug)]
pub enum Unbounded {}

impl Kind for Bounded {
    const PLACES: u32 = 28;
}

impl Kind for Unbounded {
    const PLACES: u32 = 0;
}

impl<K: Kind> Layout for K {
    const FREE_BITS: u32 = K::PLACES;
}

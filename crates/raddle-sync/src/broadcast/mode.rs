//! The two kinds of channel: what happens when there is no room.

/// What a channel does when there is no room: [`Lagging`] or [`Lossless`]. Not to be implemented
/// elsewhere.
pub trait Mode {
    /// Whether a value can go while it is being cloned, so that each receiver brings an entry of
    /// its own.
    #[doc(hidden)]
    const OVERWRITES: bool;
}

/// The oldest value makes room. A receiver that has not seen it is told how many it has missed.
#[derive(Debug)]
pub enum Lagging {}

/// Senders wait until the slowest receiver has made room.
#[derive(Debug)]
pub enum Lossless {}

impl Mode for Lagging {
    const OVERWRITES: bool = true;
}

impl Mode for Lossless {
    const OVERWRITES: bool = false;
}

//! What tells the four channels apart, for the types of their ends.
//!
//! All share one core (`chan.rs`), which knows a capacity and nothing else of the kind. The kind
//! says which methods there are: who never waits has a plain `send`, and places are reserved only
//! where there are any.

use std::fmt;

/// [`Bounded`], [`Unbounded`], [`Rendezvous`] or [`Overwriting`], and nothing else.
pub trait Kind: fmt::Debug + 'static {}

/// A kind whose senders wait: [`Bounded`] or [`Rendezvous`].
pub trait Waits: Kind {}

/// A kind with room for so many values: [`Bounded`] or [`Overwriting`].
pub trait HasRoom: Kind {}

/// Room for so many values; senders wait for room.
#[derive(Debug)]
pub enum Bounded {}

/// Room for any number of values; senders never wait.
#[derive(Debug)]
pub enum Unbounded {}

/// No room: a sender waits until a receiver has taken the value.
#[derive(Debug)]
pub enum Rendezvous {}

/// Room for so many values; a new one pushes the oldest out.
#[derive(Debug)]
pub enum Overwriting {}

impl Kind for Bounded {}
impl Kind for Unbounded {}
impl Kind for Rendezvous {}
impl Kind for Overwriting {}

impl Waits for Bounded {}
impl Waits for Rendezvous {}

impl HasRoom for Bounded {}
impl HasRoom for Overwriting {}

//! What a primitive must offer, a trait each, so that one body serves the primitives of all peers.
//!
//! The traits are implemented for the peers' own types; where a primitive is a pair of endpoints or
//! has several types, a marker stands for it. Methods give the peer's own future wherever its shape
//! allows, so that no wrapper is measured. Outputs that are results stay results: unwrapping them
//! would cost some contenders a branch.

use std::future::Future;
use std::ops::{Deref, DerefMut};

/// An event that stays set until it is reset.
pub(crate) trait Event: Sized {
    fn new() -> Self;

    fn is_set(&self) -> bool;

    fn set(&self);

    fn reset(&self);

    fn wait(&self) -> impl Future<Output = ()>;
}

/// An event that one wait takes.
pub(crate) trait AutoEvent: Sized {
    fn new() -> Self;

    fn set(&self);

    fn wait(&self) -> impl Future<Output = ()>;
}

/// A mutex around a number.
pub(crate) trait Lock: Sized + Send + Sync + 'static {
    type Guard<'a>: DerefMut<Target = usize> + Send;

    fn new() -> Self;

    fn lock(&self) -> impl Future<Output = Self::Guard<'_>> + Send;
}

/// A mutex and a condition variable.
pub(crate) trait Condition: Sized {
    type Lock: Lock;

    fn new() -> Self;

    fn wait<'a>(
        &self,
        guard: <Self::Lock as Lock>::Guard<'a>,
    ) -> impl Future<Output = <Self::Lock as Lock>::Guard<'a>>;

    fn notify_one(&self);
}

/// A reader-writer lock around a number.
pub(crate) trait ReadWrite: Sized + Send + Sync + 'static {
    type Read<'a>: Deref<Target = usize> + Send;
    type Write<'a>: DerefMut<Target = usize> + Send;

    fn new() -> Self;

    fn read(&self) -> impl Future<Output = Self::Read<'_>> + Send;

    fn write(&self) -> impl Future<Output = Self::Write<'_>> + Send;

    fn try_read(&self) -> Option<Self::Read<'_>>;
}

/// A semaphore; a permit goes back when it is dropped.
pub(crate) trait Permits: Sized {
    type Permit<'a>
    where
        Self: 'a;

    fn new(permits: usize) -> Self;

    fn acquire(&self) -> impl Future<Output = Self::Permit<'_>>;
}

/// A value that came out of a channel.
pub(crate) trait Got {
    /// The value; panics if there was none.
    fn value(self) -> usize;
}

impl Got for usize {
    #[inline]
    fn value(self) -> usize {
        self
    }
}

impl Got for Option<usize> {
    #[inline]
    fn value(self) -> usize {
        self.expect("a value was sent")
    }
}

impl<E> Got for Result<usize, E> {
    #[inline]
    fn value(self) -> usize {
        match self {
            Ok(value) => value,
            Err(_) => panic!("a value was sent"),
        }
    }
}

/// A channel of one value.
pub(crate) trait Single {
    type Tx;
    type Rx;

    fn channel() -> (Self::Tx, Self::Rx);

    fn send(tx: Self::Tx, value: usize);

    fn recv(rx: Self::Rx) -> impl Future<Output = impl Got>;
}

/// A channel of many values.
pub(crate) trait Line {
    type Tx;
    type Rx;

    fn channel() -> (Self::Tx, Self::Rx);

    fn send(tx: &mut Self::Tx, value: usize) -> impl Future<Output = impl Sized>;

    fn recv(rx: &mut Self::Rx) -> impl Future<Output = impl Got>;
}

/// A barrier.
pub(crate) trait Meeting: Sized {
    fn new(parties: usize) -> Self;

    fn wait(&self) -> impl Future<Output = impl Sized>;
}

/// A latch.
pub(crate) trait Gate: Sized {
    fn new(count: usize) -> Self;

    fn count_down(&self);

    fn wait(&self) -> impl Future<Output = ()>;
}

/// A wait group: clones take part, a drop is done, a wait is done and waits for the others.
pub(crate) trait Group: Clone {
    fn new() -> Self;

    fn wait(self) -> impl Future<Output = ()>;
}

/// A cell that is initialised once.
pub(crate) trait Cell: Sized {
    fn new() -> Self;

    fn get_or_init<F, A>(&self, init: F) -> impl Future<Output = &usize>
    where
        F: FnOnce() -> A,
        A: Future<Output = usize>;
}

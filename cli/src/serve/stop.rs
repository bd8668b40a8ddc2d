//! The order to stop: given once, heard by every connection, however late it listens.
//!
//! A semaphore that never has a permit: to wait for one is to wait until it is closed.

use std::sync::Arc;

use raddle::sync::Semaphore;

/// One order, shared by all clones.
#[derive(Clone, Debug)]
pub(crate) struct Stop(Arc<Semaphore>);

impl Stop {
    /// Not yet given.
    pub(crate) fn new() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    /// Gives the order.
    pub(crate) fn order(&self) {
        self.0.close();
    }

    /// Waits for the order; at once when it has been given.
    pub(crate) async fn ordered(&self) {
        let closed = self.0.acquire().await;
        debug_assert!(closed.is_err());
    }
}

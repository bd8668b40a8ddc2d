//! What a pool is told: how objects are made and checked, and in which order they are used.

use std::convert::Infallible;
use std::future::{Future, ready};
use std::marker::PhantomData;

use raddle_base::clock::Instant;

/// Makes and checks the objects of a pool.
pub trait ManageObject: Send + Sync + 'static {
    /// What the pool holds.
    type Object: Send + 'static;
    /// Why an object could not be made.
    type Error;

    /// Makes an object.
    fn create(&self) -> impl Future<Output = Result<Self::Object, Self::Error>> + Send;

    /// Whether an idle object can be used again. One that cannot is let go, and another taken.
    fn is_recyclable(
        &self,
        object: &mut Self::Object,
        status: &ObjectStatus,
    ) -> impl Future<Output = bool> + Send {
        let _ = (object, status);
        ready(true)
    }

    /// Told of each object that leaves the pool for good. Runs under no lock.
    fn on_detached(&self, object: &mut Self::Object) {
        let _ = object;
    }
}

/// Makes nothing: for pools that only hold what they are given. See
/// [`Pool::extend`](super::Pool::extend).
#[derive(Debug)]
pub struct NeverManageObject<T>(PhantomData<fn() -> T>);

impl<T> NeverManageObject<T> {
    /// The only one there is.
    pub const fn new() -> Self {
        NeverManageObject(PhantomData)
    }
}

impl<T> Default for NeverManageObject<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Send + 'static> ManageObject for NeverManageObject<T> {
    type Object = T;
    type Error = Infallible;

    /// Waits for ever.
    fn create(&self) -> impl Future<Output = Result<T, Infallible>> + Send {
        std::future::pending()
    }
}

/// The life of an object so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ObjectStatus {
    /// When it was made, or given to the pool; unless the pool reads no clock.
    pub created: Option<Instant>,
    /// When it came back last; unless the pool reads no clock.
    pub last_used: Option<Instant>,
    /// How often it was used again.
    pub recycle_count: usize,
}

/// Which of the idle objects is used next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum IdleOrder {
    /// The one that came back last: the others cool down and can be let go.
    #[default]
    Lifo,
    /// The one that came back first: all are used alike.
    Fifo,
}

/// What becomes of an object whose check is dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AfterCancel {
    /// It leaves the pool: nobody knows in which state the check has left it.
    #[default]
    Detach,
    /// It goes back to the idle ones.
    Return,
}

/// How a pool treats its objects. The default reads no clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PoolConfig {
    /// Which of the idle objects is used next.
    pub order: IdleOrder,
    /// What becomes of an object whose check is dropped.
    pub after_cancel: AfterCancel,
    /// Whether to keep the times of an [`ObjectStatus`]: one clock read when an object is made and
    /// one each time it comes back.
    pub keep_times: bool,
}

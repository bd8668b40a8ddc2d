//! The pool itself: taking objects out, giving some in, letting some go.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use raddle_base::shim::mutex::Mutex;

use super::checkout::{Checked, Pooled};
use super::core::{Inner, Next, Objects, Slot};
use super::futures::{Get, ReplenishTo};
use super::manage::{ManageObject, ObjectStatus, PoolConfig};
use crate::block_on::{block_on, wait_timeout};
use crate::semaphore::Semaphore;

/// Holds objects that are costly to make, hands them out, and takes them back when they are
/// dropped. Clones are the same pool.
///
/// * *Order.* Who waits for an object is served first come first served.
/// * *Cancel safety.* A [`get`](Self::get) that is dropped keeps no place; an object that it was
///   checking is treated as [`PoolConfig::after_cancel`] says.
/// * *Cost.* A checkout with an idle object is one exchange and one short lock, and so is its
///   return; no clock is read unless [`PoolConfig::keep_times`] asks for it. Waiting does not
///   allocate; the list of idle objects grows to the most that were idle.
///
/// ```
/// use raddle_sync::block_on;
/// use raddle_sync::pool::{ManageObject, Pool};
///
/// struct Buffers;
///
/// impl ManageObject for Buffers {
///     type Object = Vec<u8>;
///     type Error = std::convert::Infallible;
///
///     async fn create(&self) -> Result<Vec<u8>, Self::Error> {
///         Ok(Vec::with_capacity(4096))
///     }
/// }
///
/// let pool = Pool::bounded(2, Buffers);
/// let buffer = block_on(pool.get()).unwrap();
/// assert_eq!(pool.status().idle, 0);
/// drop(buffer);
/// assert_eq!(pool.status().idle, 1);
/// ```
pub struct Pool<M: ManageObject> {
    inner: Arc<Inner<M>>,
}

/// How full a pool is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolStatus {
    /// The most objects there can be.
    pub max: usize,
    /// Objects there are, idle and out.
    pub size: usize,
    /// Objects that wait to be used.
    pub idle: usize,
}

impl<M: ManageObject> Pool<M> {
    /// A pool of at most `max` objects.
    ///
    /// # Panics
    ///
    /// If `max` is zero, or more than [`Semaphore::MAX_PERMITS`].
    #[track_caller]
    pub fn bounded(max: usize, manage: M) -> Self {
        Self::with_config(max, manage, PoolConfig::default())
    }

    /// A pool without a limit.
    pub fn unbounded(manage: M) -> Self {
        Self::bounded(Semaphore::MAX_PERMITS, manage)
    }

    /// As [`bounded`](Self::bounded), with a configuration.
    ///
    /// # Panics
    ///
    /// As [`bounded`](Self::bounded).
    #[track_caller]
    pub fn with_config(max: usize, manage: M, config: PoolConfig) -> Self {
        assert!(max > 0, "a pool needs room for an object");
        let permits = Semaphore::new(max);
        let objects = Mutex::new(Objects { idle: VecDeque::new(), size: 0 });
        Pool { inner: Arc::new(Inner { manage, config, permits, objects, max }) }
    }

    /// Takes an object out: an idle one that can be used again, else a new one. Waits while all are
    /// out.
    ///
    /// # Errors
    ///
    /// If a new one was needed and could not be made; the place is free again.
    #[track_caller]
    pub fn get(&self) -> Get<impl Future<Output = Result<Pooled<M>, M::Error>>> {
        let inner = &self.inner;
        let acquire = inner.permits.acquire();
        Get(async move {
            let permit = acquire.await.unwrap_or_else(|_| unreachable!("never closed"));
            loop {
                let slot = match inner.next() {
                    Next::Idle(slot) => Checked::new(inner, slot).check().await,
                    Next::Room(room) => Some(room.fill(inner.manage.create().await?)),
                };
                if let Some(slot) = slot {
                    permit.forget();
                    return Ok(Pooled::new(inner, slot));
                }
            }
        })
    }

    /// Takes an idle object out, as it is and unchecked, if there is one and none is waited for.
    pub fn try_get(&self) -> Option<Pooled<M>> {
        let permit = self.inner.permits.try_acquire().ok()?;
        // Room, if that is what there is, is free again at the end of this statement.
        let Next::Idle(slot) = self.inner.next() else { return None };
        permit.forget();
        Some(Pooled::new(&self.inner, slot))
    }

    /// Blocks the thread as [`get`](Self::get) does the task.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task: use [`get`](Self::get) there.
    #[track_caller]
    pub fn blocking_get(&self) -> Result<Pooled<M>, M::Error> {
        block_on(self.get())
    }

    /// As [`blocking_get`](Self::blocking_get) for at most `limit`.
    ///
    /// # Panics
    ///
    /// As [`blocking_get`](Self::blocking_get).
    #[track_caller]
    pub fn blocking_get_timeout(&self, limit: Duration) -> Option<Result<Pooled<M>, M::Error>> {
        wait_timeout(self.get(), limit)
    }

    /// Makes objects until `count` exist, or as many as there is room for; tells how many it made.
    ///
    /// # Errors
    ///
    /// If one could not be made; those made before stay.
    ///
    /// # Cancel safety
    ///
    /// Objects made before stay; the one that is being made is dropped, and its place is free.
    pub fn replenish_to(
        &self,
        count: usize,
    ) -> ReplenishTo<impl Future<Output = Result<usize, M::Error>>> {
        let inner = &self.inner;
        ReplenishTo(async move {
            let mut made = 0;
            // A permit, so that there are never more objects than permits.
            while let Ok(permit) = inner.permits.try_acquire() {
                let Some(room) = inner.reserve(count) else { break };
                inner.put_back(room.fill(inner.manage.create().await?));
                drop(permit);
                made += 1;
            }
            Ok(made)
        })
    }

    /// Gives an object to the pool.
    ///
    /// # Errors
    ///
    /// If the pool has as many as it may; the object comes back.
    pub fn insert(&self, object: M::Object) -> Result<(), M::Object> {
        let inner = &self.inner;
        let status = ObjectStatus { created: inner.now(), ..ObjectStatus::default() };
        let mut objects = inner.objects.lock();
        if objects.size == inner.max {
            return Err(object);
        }
        objects.size += 1;
        objects.idle.push_back(Slot { object, status });
        Ok(())
    }

    /// Gives objects to the pool as long as there is room, and drops the others; tells how many it
    /// took.
    pub fn extend(&self, objects: impl IntoIterator<Item = M::Object>) -> usize {
        objects.into_iter().filter_map(|object| self.insert(object).ok()).count()
    }

    /// Lets go of idle objects for which `keep` does not hold; tells how many. `keep` runs under no
    /// lock, on objects that are not idle meanwhile.
    pub fn retain(&self, mut keep: impl FnMut(&mut M::Object, &ObjectStatus) -> bool) -> usize {
        let inner = &self.inner;
        // As many as there are now: those that come back meanwhile are not looked at.
        let (idle, mut gone) = (self.status().idle, 0);
        for _ in 0..idle {
            // A permit, as for any object that is not idle. Without one, others are about to take
            // all that are.
            let Ok(_permit) = inner.permits.try_acquire() else { break };
            // From the front, and back to the back: the order stays.
            let taken = inner.objects.lock().idle.pop_front();
            let Some(mut slot) = taken else { break };
            if keep(&mut slot.object, &slot.status) {
                inner.put_back(slot);
            } else {
                inner.detached(&mut slot.object);
                gone += 1;
            }
        }
        gone
    }

    /// How full the pool is.
    pub fn status(&self) -> PoolStatus {
        let objects = self.inner.objects.lock();
        PoolStatus { max: self.inner.max, size: objects.size, idle: objects.idle.len() }
    }
}

impl<M: ManageObject> Clone for Pool<M> {
    fn clone(&self) -> Self {
        Pool { inner: self.inner.clone() }
    }
}

impl<M: ManageObject> fmt::Debug for Pool<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pool").field(&self.status()).finish()
    }
}

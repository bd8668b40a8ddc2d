//! What the handles of a pool share: permits, idle objects, and room for those being made.

use std::collections::VecDeque;

use raddle_base::clock::Instant;
use raddle_base::shim::mutex::Mutex;

use super::manage::{IdleOrder, ManageObject, ObjectStatus, PoolConfig};
use crate::semaphore::Semaphore;

/// An object and its life so far.
pub(super) struct Slot<T> {
    pub(super) object: T,
    pub(super) status: ObjectStatus,
}

pub(super) struct Inner<M: ManageObject> {
    pub(super) manage: M,
    pub(super) config: PoolConfig,
    /// One permit for each object that may be out.
    pub(super) permits: Semaphore,
    pub(super) objects: Mutex<Objects<M::Object>>,
    pub(super) max: usize,
}

pub(super) struct Objects<T> {
    pub(super) idle: VecDeque<Slot<T>>,
    /// Objects, idle, out and being made.
    pub(super) size: usize,
}

/// What the holder of a permit gets.
pub(super) enum Next<'a, M: ManageObject> {
    Idle(Slot<M::Object>),
    Room(Room<'a, M>),
}

/// Room for an object that is being made; free again when dropped.
pub(super) struct Room<'a, M: ManageObject>(&'a Inner<M>);

impl<M: ManageObject> Room<'_, M> {
    pub(super) fn fill(self, object: M::Object) -> Slot<M::Object> {
        let status = ObjectStatus { created: self.0.now(), ..ObjectStatus::default() };
        std::mem::forget(self);
        Slot { object, status }
    }
}

impl<M: ManageObject> Drop for Room<'_, M> {
    fn drop(&mut self) {
        self.0.objects.lock().size -= 1;
    }
}

impl<M: ManageObject> Inner<M> {
    /// For the holder of a permit: an idle object, or room for a new one, which there is then.
    pub(super) fn next(&self) -> Next<'_, M> {
        let mut objects = self.objects.lock();
        match self.config.order {
            IdleOrder::Lifo => objects.idle.pop_back(),
            IdleOrder::Fifo => objects.idle.pop_front(),
        }
        .map_or_else(
            || {
                objects.size += 1;
                Next::Room(Room(self))
            },
            Next::Idle,
        )
    }

    /// Room for an object, if there are fewer than `count`, and fewer than there may be.
    pub(super) fn reserve(&self, count: usize) -> Option<Room<'_, M>> {
        let mut objects = self.objects.lock();
        (objects.size < count.min(self.max)).then(|| {
            objects.size += 1;
            Room(self)
        })
    }

    /// Puts an object among the idle ones.
    pub(super) fn put_back(&self, slot: Slot<M::Object>) {
        self.objects.lock().idle.push_back(slot);
    }

    /// An object has left for good.
    pub(super) fn detached(&self, object: &mut M::Object) {
        self.objects.lock().size -= 1;
        self.manage.on_detached(object);
    }

    pub(super) fn now(&self) -> Option<Instant> {
        self.config.keep_times.then(Instant::now)
    }
}

//! An object that is checked, and one that is out.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Weak};

use super::core::{Inner, Slot};
use super::manage::{AfterCancel, ManageObject, ObjectStatus};

/// An object that is checked. If the check is dropped or panics, it goes where the configuration
/// says.
pub(super) struct Checked<'a, M: ManageObject> {
    inner: &'a Inner<M>,
    /// None once the check is over.
    slot: Option<Slot<M::Object>>,
}

impl<'a, M: ManageObject> Checked<'a, M> {
    pub(super) fn new(inner: &'a Inner<M>, slot: Slot<M::Object>) -> Self {
        Checked { inner, slot: Some(slot) }
    }

    /// The object, if it can be used again; else it was let go.
    pub(super) async fn check(mut self) -> Option<Slot<M::Object>> {
        let slot = self.slot.as_mut()?;
        let good = self.inner.manage.is_recyclable(&mut slot.object, &slot.status).await;
        let mut slot = self.slot.take()?;
        if good {
            slot.status.recycle_count += 1;
            return Some(slot);
        }
        self.inner.detached(&mut slot.object);
        None
    }
}

impl<M: ManageObject> Drop for Checked<'_, M> {
    fn drop(&mut self) {
        if let Some(mut slot) = self.slot.take() {
            match self.inner.config.after_cancel {
                AfterCancel::Return => self.inner.put_back(slot),
                AfterCancel::Detach => self.inner.detached(&mut slot.object),
            }
        }
    }
}

/// An object that is out of its [`Pool`](super::Pool), and goes back when dropped. If the pool is
/// gone by then, so is the object.
pub struct Pooled<M: ManageObject> {
    /// None only in the destructor and in [`detach`](Self::detach).
    slot: Option<Slot<M::Object>>,
    pool: Weak<Inner<M>>,
}

impl<M: ManageObject> Pooled<M> {
    pub(super) fn new(pool: &Arc<Inner<M>>, slot: Slot<M::Object>) -> Self {
        Pooled { slot: Some(slot), pool: Arc::downgrade(pool) }
    }

    /// The object, out of the pool for good; its place there is free.
    pub fn detach(mut self) -> M::Object {
        let mut slot = self.slot.take().expect("taken by `detach` only");
        if let Some(inner) = self.pool.upgrade() {
            inner.detached(&mut slot.object);
            inner.permits.add_permits(1);
        }
        slot.object
    }

    /// The life of the object so far.
    pub fn status(&self) -> ObjectStatus {
        self.slot().status
    }

    fn slot(&self) -> &Slot<M::Object> {
        self.slot.as_ref().expect("taken by `detach` only")
    }
}

impl<M: ManageObject> Deref for Pooled<M> {
    type Target = M::Object;

    fn deref(&self) -> &M::Object {
        &self.slot().object
    }
}

impl<M: ManageObject> DerefMut for Pooled<M> {
    fn deref_mut(&mut self) -> &mut M::Object {
        &mut self.slot.as_mut().expect("taken by `detach` only").object
    }
}

impl<M: ManageObject> Drop for Pooled<M> {
    fn drop(&mut self) {
        let (Some(mut slot), Some(inner)) = (self.slot.take(), self.pool.upgrade()) else { return };
        slot.status.last_used = inner.now();
        // The object first: whoever gets the permit finds it.
        inner.put_back(slot);
        inner.permits.add_permits(1);
    }
}

impl<M: ManageObject<Object: fmt::Debug>> fmt::Debug for Pooled<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pooled").field(&**self).finish()
    }
}

//! The waker of a task: a counted pointer to its header, with the verbs of the state word.

use std::task::{RawWaker, RawWakerVTable, Waker};

use raddle_base::context::{self, Entered};

use crate::task::header::RawTask;

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

/// Makes this thread one that polls tasks: their wakers are recognised as their own.
pub(crate) fn enter_worker() -> Entered {
    /// # Safety
    ///
    /// `data` is that of a task being polled.
    unsafe fn id_of(data: *const ()) -> u64 {
        // SAFETY: the poll holds a reference.
        unsafe { RawTask::from_data(data) }.header().id.as_u64()
    }
    // SAFETY: polls begin with the data of a task whose run reference they hold.
    unsafe { context::enter_worker(&VTABLE, id_of) }
}

/// A waker that borrows a reference of the caller's.
///
/// # Safety
///
/// A reference to the task outlives the waker, and the waker is not dropped.
#[inline]
pub(crate) unsafe fn borrowed(raw: RawTask) -> Waker {
    // SAFETY: the vtable's functions keep the contract of `RawWaker` for a counted pointer.
    unsafe { Waker::new(raw.as_data(), &VTABLE) }
}

/// # Safety
///
/// `data` is that of a waker of this vtable, used as `RawWaker` asks.
unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: the waker being cloned holds a reference.
    let raw = unsafe { RawTask::from_data(data) };
    raw.header().state.ref_inc();
    RawWaker::new(data, &VTABLE)
}

/// # Safety
///
/// `data` is that of a waker of this vtable, used as `RawWaker` asks.
unsafe fn wake(data: *const ()) {
    // SAFETY: the waker holds a reference and gives it to the verb.
    let raw = unsafe { RawTask::from_data(data) };
    raw.settle(raw.header().state.wake_by_val());
}

/// # Safety
///
/// `data` is that of a waker of this vtable, used as `RawWaker` asks.
unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the waker holds a reference.
    let raw = unsafe { RawTask::from_data(data) };
    raw.settle(raw.header().state.wake_by_ref());
}

/// # Safety
///
/// `data` is that of a waker of this vtable, used as `RawWaker` asks.
unsafe fn drop_waker(data: *const ()) {
    // SAFETY: the waker holds a reference and gives it up.
    let raw = unsafe { RawTask::from_data(data) };
    raw.drop_refs(1);
}

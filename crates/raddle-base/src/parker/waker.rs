//! A waker that hands a parker its token: what a thread that waits for a future gives to it.
//!
//! Written out by hand and not through `std::task::Wake`, which asks for std's `Arc`: under the
//! model checker ours is another one.

use std::mem::ManuallyDrop;
use std::task::{RawWaker, RawWakerVTable, Waker};

use super::Parker;
use crate::shim::Arc;

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

/// A waker that unparks `parker`. Does not allocate: it shares the parker's count of references.
pub fn waker(parker: &Arc<Parker>) -> Waker {
    let data = Arc::into_raw(parker.clone()).cast();
    // SAFETY: the functions below treat the pointer as the `Arc<Parker>` it was made from, and a
    // parker may be used from any thread.
    unsafe { Waker::from_raw(RawWaker::new(data, &VTABLE)) }
}

/// The parker behind a live waker, without touching its count of references.
fn borrow(data: *const ()) -> ManuallyDrop<Arc<Parker>> {
    // SAFETY: the waker that was called owns a reference, and keeps it: the `Arc` made from it
    // here is not dropped.
    ManuallyDrop::new(unsafe { Arc::from_raw(data.cast()) })
}

fn clone(data: *const ()) -> RawWaker {
    RawWaker::new(Arc::into_raw(Arc::clone(&borrow(data))).cast(), &VTABLE)
}

fn wake(data: *const ()) {
    borrow(data).unpark();
    drop_waker(data);
}

fn wake_by_ref(data: *const ()) {
    borrow(data).unpark();
}

fn drop_waker(data: *const ()) {
    drop(ManuallyDrop::into_inner(borrow(data)));
}

//! Wakers for tests: one that counts, one that runs a closure for each of its three events.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{RawWaker, RawWakerVTable, Wake, Waker};

/// Counts its wakes. Live clones are seen through `Arc::strong_count`.
#[derive(Default)]
pub(crate) struct Counter(AtomicUsize);

impl Counter {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.load(SeqCst)
    }
}

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// What happens to a [`Hostile`] waker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    Clone,
    Wake,
    Drop,
}

/// A waker that runs foreign code wherever a waker can.
pub(crate) struct Hostile(Box<dyn Fn(Event) + Send + Sync>);

impl Hostile {
    pub(crate) fn waker(act: impl Fn(Event) + Send + Sync + 'static) -> Waker {
        raw(Arc::new(Hostile(Box::new(act))))
    }
}

fn raw(hostile: Arc<Hostile>) -> Waker {
    static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);
    // SAFETY: the four functions treat the pointer as an `Arc<Hostile>`, which it is.
    unsafe { Waker::from_raw(RawWaker::new(Arc::into_raw(hostile).cast(), &VTABLE)) }
}

fn clone(data: *const ()) -> RawWaker {
    // SAFETY: the waker that is cloned keeps the `Arc` alive.
    let hostile = unsafe { &*data.cast::<Hostile>() };
    (hostile.0)(Event::Clone);
    // SAFETY: as above; the count grows for the clone.
    unsafe { Arc::increment_strong_count(data.cast::<Hostile>()) };
    let waker = std::mem::ManuallyDrop::new(
        // SAFETY: the clone owns the count added above.
        raw(unsafe { Arc::from_raw(data.cast::<Hostile>()) }),
    );
    RawWaker::new(waker.data(), waker.vtable())
}

fn wake(data: *const ()) {
    // SAFETY: the waker owned one count, which goes at the end, also if the call panics.
    let hostile = unsafe { Arc::from_raw(data.cast::<Hostile>()) };
    (hostile.0)(Event::Wake);
    (hostile.0)(Event::Drop);
}

fn wake_by_ref(data: *const ()) {
    // SAFETY: the waker that is called keeps the `Arc` alive.
    let hostile = unsafe { &*data.cast::<Hostile>() };
    (hostile.0)(Event::Wake);
}

fn drop_waker(data: *const ()) {
    // SAFETY: the waker owned one count, and is gone after this.
    let hostile = unsafe { Arc::from_raw(data.cast::<Hostile>()) };
    (hostile.0)(Event::Drop);
}

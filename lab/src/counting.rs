//! An allocator that counts: the probe's global allocator, absent from every timed program.
//!
//! It counts what was asked for (`Layout::size`), not what malloc rounds it up to.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

static LIVE: AtomicI64 = AtomicI64::new(0);
static CALLS: AtomicU64 = AtomicU64::new(0);

/// The system's allocator with two counters.
#[derive(Debug)]
pub struct Counting;

/// Bytes now live and allocations so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    pub(crate) live: i64,
    pub(crate) calls: u64,
}

/// Reads both counters.
pub(crate) fn count() -> Count {
    // Relaxed: statistics read while the process is quiet; they order nothing.
    Count { live: LIVE.load(Ordering::Relaxed), calls: CALLS.load(Ordering::Relaxed) }
}

fn note(change: i64, calls: u64) {
    // Relaxed: see `count`.
    LIVE.fetch_add(change, Ordering::Relaxed);
    // Relaxed: see `count`.
    CALLS.fetch_add(calls, Ordering::Relaxed);
}

// SAFETY: every call is passed on to the system's allocator unchanged, which keeps the contract;
// the counters do not touch the memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as i64, 1);
        // SAFETY: the caller keeps `alloc`'s contract, which is System's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as i64, 1);
        // SAFETY: the caller keeps `alloc_zeroed`'s contract, which is System's.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        note(-(layout.size() as i64), 0);
        // SAFETY: the caller keeps `dealloc`'s contract, which is System's.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size as i64 - layout.size() as i64, 1);
        // SAFETY: the caller keeps `realloc`'s contract, which is System's.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

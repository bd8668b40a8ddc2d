//! Giving way inside code that only computes: an allocator that looks at the time.
//!
//! A process that computes without a call of raddle's keeps its worker. Where the code cannot be
//! sprinkled with [`check`](crate::check), it usually allocates; so an allocator can look at the
//! time now and then, and give the others a turn. That is safe only where nobody else on the thread
//! can notice: a stack that is left inside of an allocation may have a lock in hand, or a borrowed
//! thread-local. Hence the looks happen only inside [`preemptible`], whose caller answers for it.
//!
//! The idea of a look at each n-th allocation is smarm's; the scopes are not.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use raddle_fiber::foreign;

use crate::seat::{self, Seat};

/// A global allocator that gives way on behalf of the process that allocates, inside
/// [`preemptible`]. Everywhere else it is the allocator it wraps, and some five instructions.
///
/// ```
/// use raddle_actor::PreemptAlloc;
///
/// #[global_allocator]
/// static ALLOCATOR: PreemptAlloc = PreemptAlloc::system();
/// ```
#[derive(Debug)]
pub struct PreemptAlloc<A = System> {
    inner: A,
}

impl PreemptAlloc {
    /// Around the allocator of the system.
    pub const fn system() -> Self {
        PreemptAlloc { inner: System }
    }
}

impl<A> PreemptAlloc<A> {
    /// Around another allocator.
    pub const fn around(inner: A) -> Self {
        PreemptAlloc { inner }
    }
}

// SAFETY: all memory is the inner allocator's, asked for and given back by the same calls. A stack
// that is left before such a call is in no allocator's code.
unsafe impl<A: GlobalAlloc> GlobalAlloc for PreemptAlloc<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        look();
        // SAFETY: forwarded.
        unsafe { self.inner.alloc(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: forwarded.
        unsafe { self.inner.dealloc(memory, layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        look();
        // SAFETY: forwarded.
        unsafe { self.inner.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        look();
        // SAFETY: forwarded.
        unsafe { self.inner.realloc(memory, layout, size) }
    }
}

#[inline]
fn look() {
    seat::with_current(|seat| {
        if let Some(seat) = seat
            && seat.slice().depth.get() != 0
        {
            count(seat);
        }
    });
}

fn count(seat: &Seat) {
    if seat.slice().is_over() {
        give_way(seat);
    }
}

#[cold]
fn give_way(seat: &Seat) {
    let slice = seat.slice();
    // What the way out and back allocates does not count.
    let depth = slice.depth.replace(0);
    // An allocator must not unwind. So a kill waits until the stack is out of here (the shield);
    // and if the runtime ends before, the stack is kept for ever as it is (the mark as foreign
    // code).
    foreign(|| seat.shielded(|| seat.yield_now()));
    slice.depth.set(depth);
    slice.begin();
}

/// Runs `f`, in which the process gives way at an allocation when it has computed for 0.1 ms. It
/// needs [`PreemptAlloc`] as the global allocator; without it, and outside of processes, `f` just
/// runs.
///
/// A kill that arrives meanwhile waits for the next [`check`](crate::check) or wait: an allocation
/// cannot unwind. A process that is still inside when the runtime ends is not unwound at all: its
/// stack is kept for ever, and what lies there is never dropped.
///
/// # Safety
///
/// Any allocation in `f` may let other code of this thread run. So `f` must not allocate while
/// unsafe code holds a reference into a thread-local, or into anything else that code on this
/// thread reaches and may change. (A lock of `std` in hand while `f` allocates is no undefined
/// behaviour, but whoever waits for it on this thread waits for ever.) Plain computing on what `f`
/// owns is fine.
pub unsafe fn preemptible<R>(f: impl FnOnce() -> R) -> R {
    struct Leave<'a>(&'a Cell<u32>);
    impl Drop for Leave<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() - 1);
        }
    }
    seat::with_current(|seat| {
        let Some(seat) = seat else { return f() };
        let slice = seat.slice();
        if slice.depth.get() == 0 {
            slice.begin();
        }
        slice.depth.set(slice.depth.get() + 1);
        let _leave = Leave(&slice.depth);
        f()
    })
}

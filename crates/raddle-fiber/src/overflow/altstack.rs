//! The stack a thread handles a stack overflow on.

use crate::stack::sys::{self, PAGE};
use std::cell::Cell;
use std::ptr::{self, NonNull};

/// What the handler needs, beside what the kernel writes.
const ROOM: usize = 32 << 10;

/// A mapping with a guard page at its lower end. Goes with the thread.
struct AltStack(Cell<Option<(NonNull<u8>, usize)>>);

thread_local! {
    static STACK: AltStack = const { AltStack(Cell::new(None)) };
}

/// Gives this thread its alternate stack. If there is no memory for one, or the thread is about to
/// end, there is no report.
pub(super) fn install() {
    let _ = STACK.try_with(|stack| {
        // SAFETY: reads a value the kernel gave at the start.
        let least = unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) } as usize;
        let length = (ROOM + 2 * least).next_multiple_of(PAGE) + PAGE;
        let Some(base) = sys::map_with_guard_page(length) else { return };
        // SAFETY: the guard page is the first of the mapping.
        let lowest = unsafe { base.add(PAGE) };
        let new =
            libc::stack_t { ss_sp: lowest.as_ptr().cast(), ss_flags: 0, ss_size: length - PAGE };
        // SAFETY: the memory stays mapped until it is no longer the alternate stack.
        if unsafe { libc::sigaltstack(&new, ptr::null_mut()) } == 0 {
            stack.0.set(Some((base, length)));
        } else {
            // SAFETY: mapped above, and in nobody's use.
            unsafe { sys::unmap(base, length) };
        }
    });
}

impl Drop for AltStack {
    fn drop(&mut self) {
        let Some((base, length)) = self.0.take() else { return };
        let mut now = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: 0, ss_size: 0 };
        // SAFETY: asks, and writes the structure.
        unsafe { libc::sigaltstack(ptr::null(), &mut now) };
        if now.ss_sp.addr() == base.addr().get() + PAGE {
            let none =
                libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
            // SAFETY: switches the alternate stack off. The thread does not run on it.
            unsafe { libc::sigaltstack(&none, ptr::null_mut()) };
        }
        // SAFETY: nobody else knows the mapping; a thread that ends handles no fault on it.
        unsafe { sys::unmap(base, length) };
    }
}

//! Telling AddressSanitizer and LeakSanitizer about stacks and switches.
//!
//! Their functions are in the program only if it was built with them, so they are looked up as weak
//! symbols: an address, or null. AddressSanitizer wants to know before each switch where it goes,
//! and after it that it has arrived; it keeps a second stack of its own for each, whose handle is
//! stored meanwhile. LeakSanitizer is told that what lies on a stack in use is not lost.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

/// The sanitizer's function for a switch that is about to be made: where to keep the handle of the
/// second stack (null to destroy it), and where the other stack lies.
pub(crate) type Start = unsafe extern "C" fn(*mut *mut c_void, *const c_void, usize);
type Finish = unsafe extern "C" fn(*mut c_void, *mut *const c_void, *mut usize);
type Region = unsafe extern "C" fn(*const c_void, usize);

/// The address of a function that may not be in this program; null then.
macro_rules! weak {
    ($name:literal) => {{
        let address: *mut c_void;
        // SAFETY: loads an entry of the offset table, which is null if the symbol is undefined.
        unsafe {
            std::arch::asm!(
                concat!(".weak ", $name),
                concat!("mov {}, qword ptr [rip + ", $name, "@GOTPCREL]"),
                out(reg) address,
                options(nostack, preserves_flags, readonly),
            );
        }
        address
    }};
}

const UNKNOWN: u8 = 0;
const ABSENT: u8 = 1;
const PRESENT: u8 = 2;
static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
static START: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static FINISH: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static UNPOISON: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static ROOT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static NO_ROOT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Is this program built with AddressSanitizer?
#[inline]
pub(crate) fn at_work() -> bool {
    // Acquire: pairs with the store below, so that the addresses are there.
    match STATE.load(Ordering::Acquire) {
        ABSENT => false,
        PRESENT => true,
        _ => look(),
    }
}

#[cold]
fn look() -> bool {
    let functions = [
        (&START, weak!("__sanitizer_start_switch_fiber")),
        (&FINISH, weak!("__sanitizer_finish_switch_fiber")),
        (&UNPOISON, weak!("__asan_unpoison_memory_region")),
        (&ROOT, weak!("__lsan_register_root_region")),
        (&NO_ROOT, weak!("__lsan_unregister_root_region")),
    ];
    let present = functions.iter().all(|(_, address)| !address.is_null());
    for (place, address) in functions {
        place.store(address, Ordering::Relaxed); // published by the store to STATE
    }
    // Release: whoever sees it sees the addresses. Threads that race write the same.
    STATE.store(if present { PRESENT } else { ABSENT }, Ordering::Release);
    present
}

/// Where the other side's stack lies, and the handle of this side's second stack.
#[derive(Clone, Copy)]
pub(crate) struct Side {
    pub(crate) bottom: *const c_void,
    pub(crate) size: usize,
    pub(crate) saved: *mut c_void,
}

impl Side {
    /// Nothing yet.
    pub(crate) const UNSET: Side = Side { bottom: ptr::null(), size: 0, saved: ptr::null_mut() };
}

/// The function for a switch that is about to be made.
pub(crate) fn start() -> Option<Start> {
    // Relaxed: `at_work` ordered the load.
    let address = START.load(Ordering::Relaxed);
    // SAFETY: null, or the address of the sanitizer's function, whose signature this is.
    unsafe { std::mem::transmute::<*mut c_void, Option<Start>>(address) }
}

/// Before a switch to the stack `bottom..bottom + size`. Returns the handle of the second stack of
/// the side that is left.
pub(crate) fn start_switch(bottom: *const c_void, size: usize) -> *mut c_void {
    let mut saved = ptr::null_mut();
    if let Some(start) = start() {
        // SAFETY: the place is writable; the other stack lies there.
        unsafe { start(&mut saved, bottom, size) };
    }
    saved
}

/// After a switch: `saved` is the handle of the second stack of the side that was arrived at (null
/// the first time); returns where the stack lies that was left.
pub(crate) fn finish_switch(saved: *mut c_void) -> (*const c_void, usize) {
    let (mut bottom, mut size) = (ptr::null(), 0);
    // Relaxed: `at_work` ordered the load.
    let address = FINISH.load(Ordering::Relaxed);
    if !address.is_null() {
        // SAFETY: as in `start_switch`; both places are writable.
        unsafe {
            std::mem::transmute::<*mut c_void, Finish>(address)(saved, &mut bottom, &mut size);
        }
    }
    (bottom, size)
}

/// A stack is about to be used: nothing of its past counts, and what lies on it is not lost.
#[inline]
pub(crate) fn stack_taken(bottom: *const u8, size: usize) {
    if at_work() {
        region(&UNPOISON, bottom, size);
        region(&ROOT, bottom, size);
    }
}

/// A stack is not used any more.
#[inline]
pub(crate) fn stack_given_back(bottom: *const u8, size: usize) {
    if at_work() {
        region(&NO_ROOT, bottom, size);
        region(&UNPOISON, bottom, size);
    }
}

fn region(function: &AtomicPtr<c_void>, bottom: *const u8, size: usize) {
    // Relaxed: `at_work` ordered the load.
    let address = function.load(Ordering::Relaxed);
    if !address.is_null() {
        // SAFETY: the address is that of a function with this signature; the region is a stack of
        // ours, wholly mapped.
        unsafe { std::mem::transmute::<*mut c_void, Region>(address)(bottom.cast(), size) }
    }
}

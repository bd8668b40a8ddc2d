//! The signal handler: is this fault a stack overflow of a fiber?
//!
//! Everything in here is async-signal-safe: it reads memory, writes to standard error, and aborts.

use super::report;
use crate::control;
use crate::stack::map;
use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::mem::{self, MaybeUninit};
use std::ptr;
use std::sync::Once;

type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut c_void);
type PlainHandler = extern "C" fn(libc::c_int);

/// The action that was in force before: written once, before the handler is installed.
struct Before(UnsafeCell<MaybeUninit<libc::sigaction>>);

// SAFETY: written before there is a reader, see `install`.
unsafe impl Sync for Before {}

static BEFORE: Before = Before(UnsafeCell::new(MaybeUninit::uninit()));

/// Installs the handler, once in a process.
pub(super) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: an action without flags and without signals to block is all zeros.
        let mut action: libc::sigaction = unsafe { mem::zeroed() };
        action.sa_sigaction = on_fault as Handler as libc::sighandler_t;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: the first call fills BEFORE, which nobody reads yet; the second installs a
        // handler that keeps to what handlers may do.
        unsafe {
            libc::sigaction(libc::SIGSEGV, ptr::null(), (*BEFORE.0.get()).as_mut_ptr());
            libc::sigaction(libc::SIGSEGV, &action, ptr::null_mut());
        }
    });
}

extern "C" fn on_fault(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes both structures for a handler that asked for them.
    let (code, address, stack_pointer) = unsafe {
        let context = &*context.cast::<libc::ucontext_t>();
        let rsp = context.uc_mcontext.gregs[libc::REG_RSP as usize];
        ((*info).si_code, (*info).si_addr().addr(), rsp as usize)
    };
    // Codes above zero are the kernel's own: the address is that of a fault.
    if code > 0
        && let Some(place) = map::find(address)
        && address < place.bottom
        && map::find(stack_pointer) == Some(place)
    {
        // SAFETY: the thread runs on this stack, so its control block is there; it lies at the
        // upper end, which an overflow does not reach.
        let control = unsafe { &*control::of(place) };
        report::write(control, place, address);
        // SAFETY: never returns.
        unsafe { libc::abort() }
    }
    pass_on(signal, info, context);
}

/// Lets whoever was there before decide.
fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: written before the handler was installed, and never again.
    let before = unsafe { (*BEFORE.0.get()).assume_init_ref() };
    match before.sa_sigaction {
        libc::SIG_DFL | libc::SIG_IGN => {
            // The fault happens again after the return, and ends the process as usual.
            // SAFETY: an action of zeros is the default one.
            unsafe {
                let default: libc::sigaction = mem::zeroed();
                libc::sigaction(signal, &default, ptr::null_mut());
            }
        }
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: the flag says that the function takes three arguments.
            let handler = unsafe { mem::transmute::<libc::sighandler_t, Handler>(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: neither of the constants, so it is a function of one argument.
            let handler = unsafe { mem::transmute::<libc::sighandler_t, PlainHandler>(handler) };
            handler(signal);
        }
    }
}

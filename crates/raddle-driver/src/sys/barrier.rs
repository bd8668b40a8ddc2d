//! Makes another thread of this process pass through the kernel without disturbing what it does.

use super::thread::Tid;
use std::mem::{self, MaybeUninit};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Interrupts the CPUs that run threads of this process, so that a thread there runs the work the
/// kernel has queued for it. False where the kernel does not offer it, or a filter refuses it.
#[must_use]
pub(crate) fn interrupt_all() -> bool {
    const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;
    const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
    // SAFETY: membarrier takes no pointer. An unregistered process is told so by EPERM; it then
    // registers and asks again. Any other error means that the kernel cannot do it.
    let barrier =
        |command: libc::c_int| unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 };
    barrier(PRIVATE_EXPEDITED)
        || (barrier(REGISTER_PRIVATE_EXPEDITED) && barrier(PRIVATE_EXPEDITED))
}

/// How often a thread was interrupted by a signal.
static INTERRUPTED: AtomicU32 = AtomicU32::new(0);

/// Interrupts one thread of this process by a signal whose handler does nothing and after which
/// calls are restarted. A thread that has ended is not disturbed any more. False where the program
/// has another handler for that signal (SIGURG, which is ignored by default, and which few use).
pub(crate) fn interrupt(thread: Tid) -> bool {
    static OURS: OnceLock<bool> = OnceLock::new();
    if !*OURS.get_or_init(take_signal) {
        return false;
    }
    // SAFETY: no pointer is passed. The worst a number can name is a later thread of this process,
    // for which the handler does nothing either.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread.0, libc::SIGURG) == 0 }
}

/// Sets the handler, unless the program has one.
fn take_signal() -> bool {
    extern "C" fn pass(_signal: libc::c_int) {
        // Relaxed: a count, for tests.
        INTERRUPTED.fetch_add(1, Ordering::Relaxed);
    }
    // SAFETY: both structures are on this frame, and all-zero ones are valid; the handler makes one
    // atomic operation.
    unsafe {
        let mut old = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
        if libc::sigaction(libc::SIGURG, ptr::null(), &raw mut old) != 0
            || !matches!(old.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN)
        {
            return false;
        }
        let mut new: libc::sigaction = mem::zeroed();
        new.sa_sigaction = pass as extern "C" fn(libc::c_int) as usize;
        new.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGURG, &raw const new, ptr::null_mut()) == 0
    }
}

#[cfg(test)]
#[path = "tests/barrier.rs"]
mod tests;

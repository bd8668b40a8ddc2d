//! Makes another thread of this process pass through the kernel without disturbing what it does.

/// Interrupts the CPUs that run threads of this process, so that a thread there runs the work the
/// kernel has queued for it. Does nothing where the kernel does not offer it.
pub(crate) fn interrupt_all() {
    const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;
    const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
    // SAFETY: membarrier takes no pointer. An unregistered process is told so by EPERM; it then
    // registers and asks again. Any other error means that the kernel cannot do it.
    unsafe {
        if libc::syscall(libc::SYS_membarrier, PRIVATE_EXPEDITED, 0, 0) == 0 {
            return;
        }
        if libc::syscall(libc::SYS_membarrier, REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 {
            libc::syscall(libc::SYS_membarrier, PRIVATE_EXPEDITED, 0, 0);
        }
    }
}

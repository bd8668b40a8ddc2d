//! How many workers a machine is good for, and binding a thread to a processor.
//!
//! Std's `available_parallelism` already takes the affinity mask and the quota of the control
//! group (v1 and v2) into account, rounding a fractional quota down, at least to 1.

use std::io;
use std::num::NonZeroUsize;

/// The largest number of workers a runtime may have.
pub const MAX_WORKERS: usize = 1024;

/// The number of workers by default.
pub(crate) fn available_workers() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MAX_WORKERS)
}

/// Binds the calling thread to processor `cpu`.
pub(crate) fn pin_to_cpu(cpu: usize) -> io::Result<()> {
    if cpu >= libc::CPU_SETSIZE as usize {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("there is no processor {cpu}"),
        ));
    }
    // SAFETY: an all-zero `cpu_set_t` is the empty set; `cpu` is in range; the set outlives the
    // call, which binds the calling thread (pid 0) only.
    let result = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Sets the slack of this thread's timers to 1 ns, so that a sleep ends when it should and not up
/// to 50 µs later. A kernel that refuses leaves the default.
pub(crate) fn sharpen_timers() {
    // SAFETY: PR_SET_TIMERSLACK takes a number and changes the calling thread only.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong, 0, 0, 0) };
}

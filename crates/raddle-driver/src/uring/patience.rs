//! Memory for a ring that is refused at first. Used where rings are made.
//!
//! Kernels charge rings to the user's limit of locked memory (all but 5.12 to 6.13 do, unless the
//! process has CAP_IPC_LOCK), and take the charge off some time after a ring was closed. A runtime
//! that follows another may thus be refused what it will be given a moment later.

use std::io;
use std::thread;
use std::time::Duration;

/// Pauses between attempts: this one, then twice as long each. 63 ms in all.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const PAUSES: u32 = 6;

/// Makes something of a ring; if memory is refused, again after a while. Blocks the thread
/// meanwhile, which is to become a worker's or makes a runtime.
pub(crate) fn patiently<T>(make: impl Fn() -> io::Result<T>) -> io::Result<T> {
    for attempt in 0..PAUSES {
        match make() {
            Err(error) if error.raw_os_error() == Some(libc::ENOMEM) => {
                thread::sleep(FIRST_PAUSE * 2u32.pow(attempt));
            }
            result => return result,
        }
    }
    make().map_err(explain)
}

/// Says what the refusal most likely means.
fn explain(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(libc::ENOMEM) => io::Error::new(
            error.kind(),
            "the limit of locked memory (ulimit -l) is too low for a ring a worker",
        ),
        _ => error,
    }
}

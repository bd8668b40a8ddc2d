//! Tells all who wait by the boot-time clock that the machine was suspended.
//!
//! The kernel has a timer descriptor that ends its read when clocks have jumped
//! (`TFD_TIMER_CANCEL_ON_SET`): the wall clock runs ahead of the monotonic one by each suspension,
//! and the kernel looks for that when it resumes. One thread of the process reads such a
//! descriptor, armed for never. It also wakes when somebody sets the wall clock; then those who
//! wait look at their clock in vain, once.
//!
//! # Protocol
//!
//! Who waits takes a place in the queue of [`resumed`] first, and reads the clocks after that. A
//! suspension before the reading is in what it reads; one after it is told to the place it has.
//! The descriptor is armed before the state says so, and keeps a jump for the next read.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::LazyLock;
// std's, not the shim's: a static of the process, which no model runs.
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use raddle_base::fork;
use raddle_sync::{Notified, Notify};

/// Told after each suspension.
static RESUMED: LazyLock<Notify> = LazyLock::new(Notify::new);

/// The number of forks before the thread was started, and below it one of the states.
static STATE: AtomicU64 = AtomicU64::new(NEVER);

/// Nobody has asked for the thread.
const NEVER: u64 = 0;
/// Somebody is starting it.
const STARTS: u64 = 1;
/// It runs.
const RUNS: u64 = 2;
/// It cannot be had.
const REFUSED: u64 = 3;
const BITS: u32 = 2;

fn state(is: u64) -> u64 {
    u64::from(fork::generation()) << BITS | is
}

/// A future that ends after the next suspension. It hears of those from its creation on.
#[track_caller]
pub(crate) fn resumed() -> Notified<'static> {
    RESUMED.notified()
}

/// Tells those who wait.
pub(crate) fn tell() {
    RESUMED.notify_waiters();
}

/// Whether suspensions are told of. The first call starts the thread that does.
pub(crate) fn is_watched() -> bool {
    // Acquire: pairs with the release in `start`, though the descriptor is the thread's alone.
    let now = STATE.load(Acquire);
    if now == state(RUNS) {
        return true;
    }
    if now == state(STARTS) || now == state(REFUSED) {
        return false;
    }
    // Never, or by a thread of the parent process.
    fork::watch();
    // Relaxed: whoever wins writes the outcome with release; the others look again later.
    if STATE.compare_exchange(now, state(STARTS), Relaxed, Relaxed).is_err() {
        return false;
    }
    let started = start().is_ok();
    // Release: see above.
    STATE.store(state(if started { RUNS } else { REFUSED }), Release);
    started
}

fn start() -> io::Result<()> {
    let timer = arm()?;
    // Lives as long as the process: it owns nothing but its descriptor and is asleep.
    std::thread::Builder::new().name(String::from("raddle-resume")).spawn(move || watch(&timer))?;
    Ok(())
}

/// A timer that never ends, and whose read does when the clocks jump.
fn arm() -> io::Result<OwnedFd> {
    // SAFETY: the descriptor returned is new and owned by nobody else.
    let timer = unsafe {
        match libc::timerfd_create(libc::CLOCK_REALTIME, libc::TFD_CLOEXEC) {
            -1 => return Err(io::Error::last_os_error()),
            fd => OwnedFd::from_raw_fd(fd),
        }
    };
    let never = libc::timespec { tv_sec: libc::time_t::MAX, tv_nsec: 0 };
    let once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let spec = libc::itimerspec { it_interval: once, it_value: never };
    let flags = libc::TFD_TIMER_ABSTIME | libc::TFD_TIMER_CANCEL_ON_SET;
    // SAFETY: `spec` is readable, and the old setting is not asked for.
    match unsafe {
        libc::timerfd_settime(timer.as_raw_fd(), flags, &raw const spec, ptr::null_mut())
    } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(timer),
    }
}

/// The thread.
fn watch(timer: &OwnedFd) {
    while wait(timer).is_ok() {
        // A waker that panics has had its turn, and all others theirs.
        let _ = catch_unwind(AssertUnwindSafe(tell));
    }
    // Release: as in `is_watched`. Then all who wait begin to look at their clocks themselves.
    STATE.store(state(REFUSED), Release);
    let _ = catch_unwind(AssertUnwindSafe(tell));
}

/// Waits for a jump.
fn wait(timer: &OwnedFd) -> io::Result<()> {
    let mut count = [0_u8; 8];
    loop {
        // SAFETY: the array is room for its length.
        let read = unsafe { libc::read(timer.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) };
        if read != -1 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::ECANCELED) => return Ok(()),
            Some(libc::EINTR) => {}
            _ => return Err(error),
        }
    }
}

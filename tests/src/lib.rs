//! What the behaviour tests share: a watchdog, drop counters, and who wants the long ones.
//!
//! Each file under `tests/tests` is named after a promise and tests it through the public API.
//! Tests named `stress_…` make a few rounds and go on for seconds with `RADDLE_STRESS` set; those
//! named `limit_…`, which check times in milliseconds, run only with `RADDLE_LIMITS`: see
//! `cargo xtask stress`.

pub mod locals;
pub mod stress;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// How long a test may take before it counts as stuck.
const LIMIT: Duration = Duration::from_secs(180);

/// Runs `test` on a thread of its own and panics if it is stuck.
///
/// # Panics
///
/// If `test` panics, or takes more than three minutes.
pub fn watched(test: impl FnOnce() + Send + 'static) {
    let (done, wait) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        test();
        // The receiver waits for this or for the limit.
        let _ = done.send(());
    });
    match wait.recv_timeout(LIMIT) {
        Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => {
            if let Err(payload) = thread.join() {
                std::panic::resume_unwind(payload);
            }
        }
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("stuck: not done after {LIMIT:?}"),
    }
}

/// Whether the tests that check times are wanted.
pub fn wants_limits() -> bool {
    std::env::var_os("RADDLE_LIMITS").is_some()
}

/// Counts how many guards have been dropped.
#[derive(Debug, Clone, Default)]
pub struct Drops(Arc<AtomicUsize>);

impl Drops {
    /// A guard that counts when it is dropped.
    pub fn guard(&self) -> DropGuard {
        DropGuard(self.0.clone())
    }

    /// How many guards have been dropped.
    pub fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// Counts its drop.
#[derive(Debug)]
pub struct DropGuard(Arc<AtomicUsize>);

impl Drop for DropGuard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Forks, runs `child` in the child, and gives the child's wait status.
///
/// # Panics
///
/// If the fork fails.
pub fn forked(child: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child runs `child` and then leaves by `_exit`; other threads of this process
    // hold no lock that it needs (the panic hook is silenced by the caller).
    match unsafe { libc::fork() } {
        0 => {
            let code = child();
            // Not `_exit`: a sanitizer hooks that and looks for leaks in the copied heap.
            // SAFETY: ends the child at once.
            unsafe { libc::syscall(libc::SYS_exit_group, code) };
            unreachable!("the process has ended")
        }
        pid => {
            assert!(pid > 0, "fork failed");
            let mut status = 0;
            // SAFETY: waits for the child made above.
            assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
            status
        }
    }
}

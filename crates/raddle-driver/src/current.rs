//! Which driver serves this thread.
//!
//! A worker installs its own driver while it runs. A thread without one (a blocking job, a
//! `block_on` from outside) may install another thread's [`Remote`]: its I/O is posted there. A
//! thread with neither gets a clear error.

use crate::errors;
use crate::remote::Remote;
use std::cell::Cell;
use std::io;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::Arc;

thread_local! {
    /// Null, or the address of an `Arc<Remote>` of which this cell holds one count. A plain cell
    /// has no destructor to register, so that access is one load. A guard that is forgotten leaks
    /// the count.
    static CURRENT: Cell<*const Remote> = const { Cell::new(ptr::null()) };
}

/// This thread's driver is installed while this lives; the one before comes back on drop.
///
/// Drop guards in the reverse order of their making, as scopes do.
#[derive(Debug)]
#[must_use = "the driver is uninstalled as soon as this is dropped"]
pub struct Guard {
    /// Null, or an address with one count, as in the cell.
    previous: *const Remote,
    _not_send: PhantomData<*const ()>,
}

/// Makes `remote` the driver of this thread: I/O polled here is posted to that driver's owner,
/// or goes to it directly if this thread is the owner.
pub fn install_remote(remote: Arc<Remote>) -> Guard {
    let previous = CURRENT.with(|current| current.replace(Arc::into_raw(remote)));
    Guard { previous, _not_send: PhantomData }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mine = CURRENT.with(|current| current.replace(self.previous));
        if !mine.is_null() {
            // SAFETY: the cell held one count of this Arc, which is taken over here.
            drop(unsafe { Arc::from_raw(mine) });
        }
    }
}

/// The driver of this thread.
///
/// # Errors
///
/// There is none, or this process is a forked child of the one that made it.
#[inline]
pub(crate) fn with<R>(run: impl FnOnce(&Arc<Remote>) -> R) -> io::Result<R> {
    let current = CURRENT.with(Cell::get);
    if current.is_null() {
        return Err(errors::no_runtime());
    }
    // SAFETY: the cell holds a count, which this handle borrows and does not drop. It stays for
    // the call: `run` is code of this crate that neither installs nor drops a guard.
    let remote = ManuallyDrop::new(unsafe { Arc::from_raw(current) });
    if remote.is_forked() {
        return Err(errors::forked());
    }
    Ok(run(&remote))
}

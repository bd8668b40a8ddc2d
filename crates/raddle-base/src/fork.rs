//! Whether this process is a fork of the one in which something was made.
//!
//! A child of `fork` has one thread and copies of everything else: worker threads are gone, and
//! rings and epoll sets are shared with the parent. Using a runtime there would hang, or steal
//! the parent's events. Whoever holds such things notes [`generation`] when they are made and
//! compares later: one load, no system call. A worker does not even compare: the one thread of the
//! child is a copy of the one that forked, and what it has asked to be [told](tell_in_child) is.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

static GENERATION: AtomicU32 = AtomicU32::new(0);

/// What a runtime tells who uses it in a forked child.
pub const MESSAGE: &str = "raddle: this runtime was made before a fork and cannot be used in the \
     child process; fork before making a runtime, or let the child only exec or exit";

/// The number of forks between the process that asked first and this one.
#[inline]
pub fn generation() -> u32 {
    // Relaxed: changes only in the one thread of a new child.
    GENERATION.load(Ordering::Relaxed)
}

/// Begins to count forks. To be called once before [`generation`] is relied on; more often does
/// no harm.
pub fn watch() {
    extern "C" fn in_child() {
        // Relaxed: the child has one thread. An atomic addition is safe in a fork handler.
        GENERATION.fetch_add(1, Ordering::Relaxed);
        let (data, tell) = TOLD.get();
        // SAFETY: as promised to `tell_in_child`, whose guard has not been dropped.
        unsafe { tell(data) };
    }
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        // SAFETY: the handler is a plain function that touches one atomic. Failure (no memory)
        // leaves forks uncounted, which is the state before this call.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
}

/// What is called in a child, and with what.
type Told = (*const (), unsafe fn(*const ()));

/// For threads that want to be told nothing.
///
/// # Safety
///
/// Nothing is asked.
unsafe fn nothing(_: *const ()) {}

crate::local! {
    static TOLD: Cell<Told> = const { Cell::new((ptr::null(), nothing)) };
}

/// Has `tell` called with `data` in each child that this thread forks, until the guard is dropped.
/// Guards are dropped in the reverse order of their making.
///
/// # Safety
///
/// `data` stays valid until the guard is dropped, and `tell` does no more than to touch atomics
/// there, as a fork handler may.
pub unsafe fn tell_in_child(data: *const (), tell: unsafe fn(*const ())) -> Telling {
    watch();
    Telling { before: TOLD.replace((data, tell)), thread: PhantomData }
}

/// Ends on drop what [`tell_in_child`] began.
#[derive(Debug)]
#[must_use = "it ends when this is dropped"]
pub struct Telling {
    before: Told,
    /// The entry is this thread's.
    thread: PhantomData<*const ()>,
}

impl Drop for Telling {
    fn drop(&mut self) {
        TOLD.set(self.before);
    }
}

/// Ends the process with [`MESSAGE`]: for a worker that finds itself in a forked child, where
/// unwinding would run destructors that belong to the parent.
#[cold]
pub fn abort() -> ! {
    let text = MESSAGE.as_bytes();
    // SAFETY: writes `text` to the standard error descriptor; nothing else is touched.
    unsafe {
        libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len());
        libc::write(libc::STDERR_FILENO, b"\n".as_ptr().cast(), 1);
    }
    std::process::abort()
}

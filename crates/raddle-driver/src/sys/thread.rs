//! Names of threads: a cheap one of the calling thread, and the kernel's.

/// A number that no other living thread has.
///
/// The address of a thread-local: one instruction, no call. A thread that has ended may pass its
/// number on to a later one.
#[inline]
pub(crate) fn token() -> usize {
    thread_local! {
        static MARK: u8 = const { 0 };
    }
    MARK.with(|mark| std::ptr::from_ref(mark).addr())
}

/// The kernel's number of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tid(pub(super) libc::pid_t);

impl Tid {
    /// Of the calling thread.
    pub(crate) fn own() -> Tid {
        // SAFETY: takes nothing and cannot fail.
        Tid(unsafe { libc::gettid() })
    }
}

//! A cheap name for the calling thread.

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

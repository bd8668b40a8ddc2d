//! The usual sizes of a ring: those by which drivers are made, and the kernel is asked whether it
//! gives one.

/// Submission entries of a ring.
pub(crate) const ENTRIES: u32 = 1024;
/// Receive buffers of a ring.
pub(crate) const BUFFERS: u32 = 4096;
/// Bytes of each of them.
pub(crate) const BUFFER_SIZE: u32 = 4096;

/// Completion entries of a ring with so many submission entries.
pub(crate) fn completions(entries: u32) -> u32 {
    entries.saturating_mul(8)
}

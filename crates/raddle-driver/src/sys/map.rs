//! A range of anonymous memory, page-aligned and zeroed.

use std::io;

/// Unmapped on drop. Pages cost memory only once they are touched.
pub(crate) struct Map {
    start: *mut u8,
    len: usize,
}

// SAFETY: an address range of the process. Whoever uses the addresses argues for the access.
unsafe impl Send for Map {}
// SAFETY: as above.
unsafe impl Sync for Map {}

impl Map {
    /// A new range of `len` bytes.
    pub(crate) fn new(len: usize) -> io::Result<Map> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping, placed by the kernel, touches no memory of ours.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), len, access, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Map { start: start.cast(), len })
    }

    /// Leaves the range out of forked children: the kernel knows its pages, and a copy made on
    /// write in this process would part from them.
    pub(crate) fn keep_from_children(&self) {
        // SAFETY: our own range. Failing is harmless as long as nobody forks.
        unsafe { libc::madvise(self.start.cast(), self.len, libc::MADV_DONTFORK) };
    }

    /// Where it begins.
    pub(crate) fn start(&self) -> *mut u8 {
        self.start
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by `new`; its user has let go of it.
        unsafe { libc::munmap(self.start.cast(), self.len) };
    }
}

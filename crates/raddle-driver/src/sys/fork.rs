//! Is this process the one that started the runtime, or a forked child of it?
//!
//! `getpid` is a system call. A page that the kernel wipes in a forked child answers the same
//! question with one load: it holds a mark that a child finds zeroed.

use super::errno::check;
use std::io;
use std::sync::OnceLock;

const MARK: u8 = 1;

/// The address of the mark; 0 if the page could not be had.
static PAGE: OnceLock<usize> = OnceLock::new();

/// Makes the page. Called when a driver is made; later calls cost one load.
pub(crate) fn arm() {
    PAGE.get_or_init(|| map().unwrap_or(0));
}

fn map() -> io::Result<usize> {
    const LEN: usize = 4096;
    // SAFETY: a fresh anonymous mapping is asked for; it touches no memory of ours.
    let page = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            LEN,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if page == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping made above, whole, which nobody else knows yet. It is never unmapped.
    unsafe {
        check(libc::madvise(page, LEN, libc::MADV_WIPEONFORK))?;
        page.cast::<u8>().write_volatile(MARK);
    }
    Ok(page.expose_provenance())
}

/// Whether this process was forked after [`arm`].
#[inline]
pub(crate) fn in_child() -> bool {
    match PAGE.get() {
        // SAFETY: the address of a page that `map` made and nobody unmaps or writes again.
        Some(&page) if page != 0 => unsafe {
            std::ptr::with_exposed_provenance::<u8>(page).read_volatile() != MARK
        },
        _ => false,
    }
}

/// The error for any use of a driver in a forked child.
pub(crate) fn error() -> io::Error {
    io::Error::other(
        "this process was forked from one with a running raddle runtime: start a new runtime, \
         or exec, before doing I/O",
    )
}

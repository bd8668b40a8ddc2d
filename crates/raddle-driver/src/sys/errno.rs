//! How results of system calls become `io::Result`.

use std::io;

/// The result of a call that returns −1 and sets `errno`.
#[inline]
pub(crate) fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// As [`check`], for calls that return a length.
#[inline]
pub(crate) fn check_len(result: libc::ssize_t) -> io::Result<usize> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result as usize) }
}

/// As [`check`], for calls made through `syscall`.
#[inline]
pub(crate) fn check_long(result: libc::c_long) -> io::Result<libc::c_long> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// The result of a completion: not negative, or a negated error number.
#[inline]
pub(crate) fn from_completion(result: i32) -> io::Result<u32> {
    if result < 0 { Err(io::Error::from_raw_os_error(-result)) } else { Ok(result as u32) }
}

/// Repeats a call that a signal interrupted.
#[inline]
pub(crate) fn retry<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Whether an error says "not now": the descriptor has nothing to read or no room to write.
#[inline]
pub(crate) fn would_block(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
}

/// Whether an error says that the process or the system is out of descriptors.
pub(crate) fn out_of_descriptors(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

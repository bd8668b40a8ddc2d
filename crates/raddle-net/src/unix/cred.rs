//! Who is at the other end of a Unix stream.

use std::io;
use std::os::fd::AsRawFd;

/// Credentials of the process at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UCred {
    pid: i32,
    uid: u32,
    gid: u32,
}

impl UCred {
    pub(super) fn of_peer(socket: &impl AsRawFd) -> io::Result<UCred> {
        let mut cred = libc::ucred { pid: 0, uid: 0, gid: 0 };
        let mut len = size_of::<libc::ucred>() as libc::socklen_t;
        // SAFETY: value and length are on this frame.
        let result = unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_PEERCRED,
                (&raw mut cred).cast(),
                &raw mut len,
            )
        };
        match result {
            0 => Ok(UCred { pid: cred.pid, uid: cred.uid, gid: cred.gid }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// The process; `None` if it lies outside this process's namespace.
    pub fn pid(&self) -> Option<i32> {
        (self.pid > 0).then_some(self.pid)
    }

    /// The effective user.
    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// The effective group.
    pub fn gid(&self) -> u32 {
        self.gid
    }
}

//! Submission entries: what a request looks like to the kernel.
//!
//! An entry is 64 plain bytes. Building one is safe; handing it to the kernel is what makes its
//! addresses count, and whoever does that ([`super::uring::Submission::push`]) answers for them.

use std::os::fd::RawFd;

/// The kernel's `struct io_uring_sqe`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Sqe {
    opcode: u8,
    flags: u8,
    ioprio: u16,
    fd: i32,
    off: u64,
    addr: u64,
    len: u32,
    op_flags: u32,
    user_data: u64,
    buf_group: u16,
    personality: u16,
    file_index: i32,
    addr3: u64,
    pad: u64,
}

const _: () = assert!(size_of::<Sqe>() == 64);

/// Operation codes in use. The probe asks the kernel for every one of them.
pub(crate) mod code {
    pub(crate) const FSYNC: u8 = 3;
    pub(crate) const POLL_ADD: u8 = 6;
    pub(crate) const SENDMSG: u8 = 9;
    pub(crate) const TIMEOUT: u8 = 11;
    pub(crate) const ACCEPT: u8 = 13;
    pub(crate) const ASYNC_CANCEL: u8 = 14;
    pub(crate) const CONNECT: u8 = 16;
    pub(crate) const OPENAT: u8 = 18;
    pub(crate) const CLOSE: u8 = 19;
    pub(crate) const READ: u8 = 22;
    pub(crate) const WRITE: u8 = 23;
    pub(crate) const SEND: u8 = 26;
    pub(crate) const RECV: u8 = 27;
    /// Not used. It came with Linux 6.1, so its presence tells that the kernel is that new: what
    /// multishot receives and ring registrations need cannot be asked for one by one.
    pub(crate) const SENDMSG_ZC: u8 = 48;

    pub(crate) const ALL: [u8; 14] = [
        FSYNC,
        POLL_ADD,
        SENDMSG,
        TIMEOUT,
        ACCEPT,
        ASYNC_CANCEL,
        CONNECT,
        OPENAT,
        CLOSE,
        READ,
        WRITE,
        SEND,
        RECV,
        SENDMSG_ZC,
    ];
}

/// The buffer is one the kernel picks from a group.
const BUFFER_SELECT: u8 = 1 << 5;
const RECV_MULTISHOT: u16 = 1 << 1;
const POLL_MULTI: u32 = 1 << 0;
const CANCEL_ALL: u32 = 1 << 0;
const CANCEL_ANY: u32 = 1 << 2;
const FSYNC_DATASYNC: u32 = 1 << 0;
/// The most bytes one read or write takes, as for the system calls.
const MAX_LEN: usize = 0x7fff_f000;

impl Sqe {
    fn new(opcode: u8, fd: RawFd) -> Sqe {
        Sqe { opcode, fd, ..Sqe::default() }
    }

    fn buffer<T>(mut self, at: *const T, len: usize) -> Sqe {
        self.addr = at.expose_provenance() as u64;
        self.len = len.min(MAX_LEN) as u32;
        self
    }

    /// With the word that comes back in each completion.
    pub(crate) fn with_user_data(mut self, user_data: u64) -> Sqe {
        self.user_data = user_data;
        self
    }

    /// `offset` of `None` is where the file stands.
    pub(crate) fn read(fd: RawFd, at: *mut u8, len: usize, offset: Option<u64>) -> Sqe {
        let mut sqe = Sqe::new(code::READ, fd).buffer(at, len);
        sqe.off = offset.unwrap_or(u64::MAX);
        sqe
    }

    pub(crate) fn write(fd: RawFd, at: *const u8, len: usize, offset: Option<u64>) -> Sqe {
        let mut sqe = Sqe::new(code::WRITE, fd).buffer(at, len);
        sqe.off = offset.unwrap_or(u64::MAX);
        sqe
    }

    pub(crate) fn send(fd: RawFd, at: *const u8, len: usize) -> Sqe {
        let mut sqe = Sqe::new(code::SEND, fd).buffer(at, len);
        sqe.op_flags = libc::MSG_NOSIGNAL as u32;
        sqe
    }

    /// As [`send`](Self::send), and goes on until all is sent.
    pub(crate) fn send_all(fd: RawFd, at: *const u8, len: usize) -> Sqe {
        let mut sqe = Sqe::send(fd, at, len);
        sqe.op_flags |= libc::MSG_WAITALL as u32;
        sqe
    }

    pub(crate) fn sendmsg(fd: RawFd, header: *const libc::msghdr) -> Sqe {
        let mut sqe = Sqe::new(code::SENDMSG, fd).buffer(header, 1);
        sqe.op_flags = libc::MSG_NOSIGNAL as u32;
        sqe
    }

    pub(crate) fn recv(fd: RawFd, at: *mut u8, len: usize) -> Sqe {
        Sqe::new(code::RECV, fd).buffer(at, len)
    }

    /// Receives again and again, each time into a buffer of `group`.
    pub(crate) fn recv_multishot(fd: RawFd, group: u16) -> Sqe {
        let mut sqe = Sqe::new(code::RECV, fd);
        sqe.flags = BUFFER_SELECT;
        sqe.ioprio = RECV_MULTISHOT;
        sqe.buf_group = group;
        sqe
    }

    /// Waits for `events` once, or again and again.
    pub(crate) fn poll(fd: RawFd, events: u32, multi: bool) -> Sqe {
        let mut sqe = Sqe::new(code::POLL_ADD, fd);
        // The kernel wants the halves of this word swapped on big-endian machines.
        const LITTLE: bool = 1u32.to_le() == 1;
        sqe.op_flags = if LITTLE { events } else { events.rotate_left(16) };
        sqe.len = if multi { POLL_MULTI } else { 0 };
        sqe
    }

    pub(crate) fn accept(fd: RawFd, at: *mut libc::sockaddr, len: *mut libc::socklen_t) -> Sqe {
        let mut sqe = Sqe::new(code::ACCEPT, fd).buffer(at, 0);
        sqe.off = len.expose_provenance() as u64;
        sqe.op_flags = (libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK) as u32;
        sqe
    }

    pub(crate) fn connect(fd: RawFd, at: *const libc::sockaddr, len: libc::socklen_t) -> Sqe {
        let mut sqe = Sqe::new(code::CONNECT, fd).buffer(at, 0);
        sqe.off = len.into();
        sqe
    }

    pub(crate) fn open(path: *const libc::c_char, flags: i32, mode: libc::mode_t) -> Sqe {
        let mut sqe = Sqe::new(code::OPENAT, libc::AT_FDCWD).buffer(path, mode as usize);
        sqe.op_flags = flags as u32;
        sqe
    }

    pub(crate) fn fsync(fd: RawFd, data_only: bool) -> Sqe {
        let mut sqe = Sqe::new(code::FSYNC, fd);
        sqe.op_flags = if data_only { FSYNC_DATASYNC } else { 0 };
        sqe
    }

    pub(crate) fn close(fd: RawFd) -> Sqe {
        Sqe::new(code::CLOSE, fd)
    }

    /// Completes with `ETIME` after the time behind `at`, which is read at submission.
    pub(crate) fn timeout(at: *const libc::timespec) -> Sqe {
        Sqe::new(code::TIMEOUT, -1).buffer(at, 1)
    }

    /// Cancels the request that was submitted with `user_data`.
    pub(crate) fn cancel(user_data: u64) -> Sqe {
        let mut sqe = Sqe::new(code::ASYNC_CANCEL, -1);
        sqe.addr = user_data;
        sqe
    }

    /// Cancels everything in the ring.
    pub(crate) fn cancel_any() -> Sqe {
        let mut sqe = Sqe::new(code::ASYNC_CANCEL, -1);
        sqe.op_flags = CANCEL_ALL | CANCEL_ANY;
        sqe
    }
}

//! A ring: its setup, its two queues in shared memory, and the calls that make the kernel look.
//!
//! The kernel and this process each write one end of each queue. [`Submission`] and
//! [`Completion`] are the ends that belong to us: there is one of each per ring, they need
//! `&mut`, and so they go under whatever lock their owner chooses. Entering the kernel needs only
//! the descriptor and is open to any thread.

use super::errno::{check_long, retry};
use super::sqe::Sqe;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};
use std::time::Duration;

mod abi;

pub(crate) use abi::{BufferEntry, setup};
use abi::{Cqe as RawCqe, GetEvents, Params, Probe};

/// The completion queue has overflowed: entering flushes what the kernel kept aside.
pub(crate) const SQ_CQ_OVERFLOW: u32 = 1 << 1;
/// The kernel has work that runs when the owner enters.
pub(crate) const SQ_TASKRUN: u32 = 1 << 2;

/// A mapping of the ring's memory, unmapped on drop.
struct Mapping {
    at: *mut u8,
    len: usize,
}

// SAFETY: a mapping is an address range of the process; every access goes through atomics or
// through the one owner of a queue end.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn new(fd: &OwnedFd, len: usize, offset: i64) -> io::Result<Mapping> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
        // SAFETY: a new mapping, placed by the kernel, touches no memory of ours.
        let at = unsafe { libc::mmap(ptr::null_mut(), len, access, flags, fd.as_raw_fd(), offset) };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Mapping { at: at.cast(), len })
    }

    fn word(&self, offset: u32) -> *const AtomicU32 {
        self.at.wrapping_add(offset as usize).cast_const().cast()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by `new`, and nothing uses it after its owner is dropped.
        unsafe { libc::munmap(self.at.cast(), self.len) };
    }
}

/// The memory a ring shares with the kernel. Stays mapped after the ring is closed, for as long as
/// somebody looks at it.
pub(crate) struct Memory {
    rings: Mapping,
    entries: Mapping,
    params: Params,
}

/// The ring's descriptor. Dropping the last reference closes the ring.
pub(crate) struct Uring {
    fd: OwnedFd,
    memory: Arc<Memory>,
}

/// What the kernel says to a request: the word it was submitted with, a result, and flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cqe {
    pub(crate) user_data: u64,
    pub(crate) result: i32,
    pub(crate) flags: u32,
}

impl Cqe {
    /// Whether more completions of the same request will come.
    pub(crate) fn more(self) -> bool {
        const MORE: u32 = 1 << 1;
        self.flags & MORE != 0
    }

    /// The provided buffer that was filled or at least picked.
    pub(crate) fn buffer(self) -> Option<u16> {
        const BUFFER: u32 = 1 << 0;
        (self.flags & BUFFER != 0).then_some((self.flags >> 16) as u16)
    }
}

impl Memory {
    /// Where the kernel writes the tail of the completion queue.
    pub(crate) fn tail(&self) -> *const AtomicU32 {
        self.rings.word(self.params.cq_off.tail)
    }

    /// Where the kernel writes the flags of the submission queue.
    pub(crate) fn flags(&self) -> *const AtomicU32 {
        self.rings.word(self.params.sq_off.flags)
    }

    /// The tail of the completion queue now.
    pub(crate) fn load_tail(&self) -> u32 {
        // SAFETY: the mapping lives as long as `self`. Relaxed: a hint to look at the queue.
        unsafe { (*self.tail()).load(Ordering::Relaxed) }
    }

    /// Whether completions have been posted that nobody has taken, or entries prepared that nobody
    /// has submitted.
    pub(crate) fn is_pending(&self) -> bool {
        // Relaxed: hints.
        // SAFETY: the mapping lives as long as `self`.
        let load = |offset| unsafe { (*self.rings.word(offset)).load(Ordering::Relaxed) };
        let (sq, cq) = (&self.params.sq_off, &self.params.cq_off);
        load(cq.head) != load(cq.tail) || load(sq.head) != load(sq.tail)
    }

    /// The flags of the submission queue now.
    pub(crate) fn load_flags(&self) -> u32 {
        // SAFETY: the mapping lives as long as `self`. Relaxed: a hint to enter the kernel, which
        // does the ordering.
        unsafe { (*self.flags()).load(Ordering::Relaxed) }
    }

    /// The two queue ends of this ring.
    ///
    /// # Safety
    ///
    /// At most once per ring: two submissions or two completions would write the same indices.
    pub(crate) unsafe fn split(self: &Arc<Memory>) -> (Submission, Completion) {
        let (sq, cq) = (&self.params.sq_off, &self.params.cq_off);
        let array = self.rings.word(sq.array).cast_mut().cast::<u32>();
        for at in 0..self.params.sq_entries {
            // SAFETY: the array has `sq_entries` words, which the kernel reads only for entries
            // below the tail; none is yet. Slot and entry are the same number from here on.
            unsafe { array.add(at as usize).write(at) };
        }
        let submission = Submission {
            head: self.rings.word(sq.head),
            tail_word: self.rings.word(sq.tail),
            tail: 0,
            entries: self.entries.at.cast(),
            capacity: self.params.sq_entries,
            _memory: Arc::clone(self),
        };
        let completion = Completion {
            head_word: self.rings.word(cq.head),
            tail: self.rings.word(cq.tail),
            head: 0,
            entries: self.rings.word(cq.cqes).cast(),
            mask: self.params.cq_entries - 1,
            _memory: Arc::clone(self),
        };
        (submission, completion)
    }
}

impl Uring {
    /// Sets up a ring of `entries` submissions and `completions` completions.
    pub(crate) fn new(entries: u32, completions: u32, flags: u32) -> io::Result<Arc<Uring>> {
        let mut params = Params {
            flags: flags | setup::CQSIZE | setup::CLAMP | setup::SUBMIT_ALL,
            cq_entries: completions,
            ..Params::default()
        };
        // SAFETY: `params` lives for the call; the descriptor returned is new and owned by nobody
        // else.
        let fd = unsafe {
            let fd = libc::syscall(libc::SYS_io_uring_setup, entries, &raw mut params);
            OwnedFd::from_raw_fd(check_long(fd)? as i32)
        };
        // Where one mapping is not enough for both queues, the kernel is too old for the probe.
        let sq_len = params.sq_off.array as usize + params.sq_entries as usize * size_of::<u32>();
        let cq_len = params.cq_off.cqes as usize + params.cq_entries as usize * size_of::<RawCqe>();
        let rings = Mapping::new(&fd, sq_len.max(cq_len), 0)?;
        let bytes = params.sq_entries as usize * size_of::<Sqe>();
        let entries = Mapping::new(&fd, bytes, abi::OFF_SQES)?;
        Ok(Arc::new(Uring { fd, memory: Arc::new(Memory { rings, entries, params }) }))
    }

    /// What the kernel said it can do.
    pub(crate) fn features(&self) -> u32 {
        self.memory.params.features
    }

    /// The shared memory.
    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// Submits up to `submit` entries, and runs what the kernel has queued for this thread if
    /// `look` is set. The number taken comes back.
    pub(crate) fn enter(&self, submit: u32, look: bool) -> io::Result<u32> {
        let flags = if look { abi::ENTER_GETEVENTS } else { 0 };
        // SAFETY: no argument is passed by address. The entries' own addresses were answered for
        // when they were pushed.
        let taken = unsafe {
            libc::syscall(
                libc::SYS_io_uring_enter,
                self.fd.as_raw_fd(),
                submit,
                0,
                flags,
                ptr::null::<libc::c_void>(),
                0usize,
            )
        };
        check_long(taken).map(|taken| taken as u32)
    }

    /// Submits up to `submit` entries and waits for a completion, for `limit` at most.
    pub(crate) fn enter_and_wait(&self, submit: u32, limit: Option<Duration>) -> io::Result<u32> {
        let time = limit.map(super::epoll::timespec);
        let arg = GetEvents {
            sigmask: 0,
            sigmask_size: 0,
            min_wait_usec: 0,
            time: time.as_ref().map_or(0, |time| ptr::from_ref(time).expose_provenance() as u64),
        };
        // SAFETY: the argument and the time it points at are on this frame.
        let taken = unsafe {
            libc::syscall(
                libc::SYS_io_uring_enter,
                self.fd.as_raw_fd(),
                submit,
                1,
                abi::ENTER_GETEVENTS | abi::ENTER_EXT_ARG,
                &raw const arg,
                size_of::<GetEvents>(),
            )
        };
        check_long(taken).map(|taken| taken as u32)
    }

    /// Whether the kernel supports every one of `codes`.
    pub(crate) fn supports(&self, codes: &[u8]) -> io::Result<bool> {
        let mut probe = Probe::default();
        // SAFETY: the probe has room for as many operations as the count says.
        unsafe {
            self.register(abi::REGISTER_PROBE, (&raw mut probe).cast(), abi::PROBE_OPS as u32)?;
        }
        Ok(codes.iter().all(|&code| probe.supports(code)))
    }

    /// Gives the kernel a ring of buffers under the name `group`.
    ///
    /// # Safety
    ///
    /// `ring` must be page-aligned room for `entries` entries and stay valid until this ring is
    /// closed or the group unregistered.
    pub(crate) unsafe fn register_buffers(
        &self,
        ring: *mut BufferEntry,
        entries: u32,
        group: u16,
    ) -> io::Result<()> {
        let mut argument = abi::BufferReg {
            ring_addr: ring.expose_provenance() as u64,
            ring_entries: entries,
            group,
            flags: 0,
            reserved: [0; 3],
        };
        // SAFETY: the argument is on this frame; the caller answers for the ring.
        unsafe { self.register(abi::REGISTER_PBUF_RING, (&raw mut argument).cast(), 1) }
    }

    /// Takes the ring of buffers back from the kernel.
    pub(crate) fn unregister_buffers(&self, group: u16) -> io::Result<()> {
        let mut argument =
            abi::BufferReg { ring_addr: 0, ring_entries: 0, group, flags: 0, reserved: [0; 3] };
        // SAFETY: the argument is on this frame and names a group.
        unsafe { self.register(abi::UNREGISTER_PBUF_RING, (&raw mut argument).cast(), 1) }
    }

    /// How many buffers of a group the kernel has picked so far. `EINVAL` before Linux 6.8.
    #[cfg(test)]
    pub(crate) fn buffers_head(&self, group: u16) -> io::Result<u32> {
        let mut argument = [0u32; 10];
        argument[0] = group.into();
        // SAFETY: room for the group, the head and eight reserved words.
        unsafe { self.register(26, argument.as_mut_ptr().cast(), 1)? };
        Ok(argument[1])
    }

    /// # Safety
    ///
    /// `argument` must be what `code` expects.
    unsafe fn register(
        &self,
        code: u32,
        argument: *mut libc::c_void,
        count: u32,
    ) -> io::Result<()> {
        // SAFETY: promised by the caller.
        retry(|| unsafe {
            let fd = self.fd.as_raw_fd();
            check_long(libc::syscall(libc::SYS_io_uring_register, fd, code, argument, count))
        })
        .map(drop)
    }
}

/// Our end of the submission queue.
pub(crate) struct Submission {
    head: *const AtomicU32,
    tail_word: *const AtomicU32,
    tail: u32,
    entries: *mut Sqe,
    capacity: u32,
    _memory: Arc<Memory>,
}

// SAFETY: the pointers lead into the mapping that `_memory` keeps; `&mut` guards our end.
unsafe impl Send for Submission {}

impl Submission {
    /// How many entries the kernel has not taken yet.
    pub(crate) fn waiting(&self) -> u32 {
        // SAFETY: the mapping is alive. Acquire: the kernel has read an entry before it moves the
        // head past it, so the slot may be written again.
        let head = unsafe { (*self.head).load(Ordering::Acquire) };
        self.tail.wrapping_sub(head)
    }

    /// Publishes an entry; gives it back if the queue is full.
    ///
    /// # Safety
    ///
    /// Every address in the entry must stay valid, and untouched where the kernel writes, until
    /// its last completion is reaped or the ring is closed.
    pub(crate) unsafe fn push(&mut self, sqe: Sqe) -> Result<(), Sqe> {
        if self.waiting() == self.capacity {
            return Err(sqe);
        }
        let slot = self.tail & (self.capacity - 1);
        // SAFETY: the slot is below the capacity and the kernel has let go of it (see `waiting`).
        unsafe { self.entries.add(slot as usize).write(sqe) };
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: the mapping is alive. Release: the entry is written before the kernel sees it.
        unsafe { (*self.tail_word).store(self.tail, Ordering::Release) };
        Ok(())
    }
}

/// Our end of the completion queue.
pub(crate) struct Completion {
    head_word: *const AtomicU32,
    tail: *const AtomicU32,
    head: u32,
    entries: *const RawCqe,
    mask: u32,
    _memory: Arc<Memory>,
}

// SAFETY: the pointers lead into the mapping that `_memory` keeps; `&mut` guards our end.
unsafe impl Send for Completion {}

impl Completion {
    /// How many completions are there.
    pub(crate) fn ready(&self) -> u32 {
        // SAFETY: the mapping is alive. Acquire: the completions below the tail were written
        // before it.
        let tail = unsafe { (*self.tail).load(Ordering::Acquire) };
        tail.wrapping_sub(self.head)
    }

    /// The number of completions taken so far: what the kernel's tail is compared with.
    pub(crate) fn head(&self) -> u32 {
        self.head
    }

    /// The completion `ahead` places after the head; `ahead` must be below [`ready`](Self::ready).
    pub(crate) fn peek(&self, ahead: u32) -> Cqe {
        debug_assert!(ahead < self.ready());
        let slot = self.head.wrapping_add(ahead) & self.mask;
        // SAFETY: below the tail, so the kernel has written it and will not until the head moves.
        let raw = unsafe { self.entries.add(slot as usize).read() };
        Cqe { user_data: raw.user_data, result: raw.result, flags: raw.flags }
    }

    /// Gives `count` slots back to the kernel.
    pub(crate) fn advance(&mut self, count: u32) {
        self.head = self.head.wrapping_add(count);
        // SAFETY: the mapping is alive. Release: the slots were read before the kernel reuses them.
        unsafe { (*self.head_word).store(self.head, Ordering::Release) };
    }
}

/// The tail of a ring of provided buffers lies in the first entry's unused half-word.
///
/// # Safety
///
/// `ring` must be the start of a live ring of buffers.
pub(crate) unsafe fn buffer_tail<'a>(ring: *mut BufferEntry) -> &'a AtomicU16 {
    // SAFETY: promised by the caller; the field is aligned for 16 bits and only used as the tail.
    unsafe { AtomicU16::from_ptr(&raw mut (*ring).reserved) }
}

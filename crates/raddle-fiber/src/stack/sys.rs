//! The system calls behind stacks, each with the errors that mean something here.

use super::error::StackError;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of a page, on every x86-64.
pub(crate) const PAGE: usize = 4096;
/// Advice to make pages fault without a mapping of their own (Linux 6.13).
const MADV_GUARD_INSTALL: libc::c_int = 102;

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

fn limit(resource: libc::__rlimit_resource_t) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: 0 };
    // SAFETY: writes the structure; on failure it still says that there is no limit.
    unsafe { libc::getrlimit(resource, &mut limit) };
    limit.rlim_cur
}

/// What a refusal to map means.
fn explain(code: i32) -> StackError {
    match code {
        libc::EAGAIN => StackError::LockedMemory { limit: limit(libc::RLIMIT_MEMLOCK) },
        libc::ENOMEM => match limit(libc::RLIMIT_AS) {
            libc::RLIM_INFINITY => StackError::OutOfMemory,
            limit => StackError::AddressSpace { limit },
        },
        code => StackError::Os(code),
    }
}

/// Reserves address space that nobody may touch yet.
fn reserve(length: usize) -> Result<NonNull<u8>, StackError> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
    // SAFETY: a new mapping at a place the kernel chooses touches nothing that exists.
    let address = unsafe { libc::mmap(ptr::null_mut(), length, libc::PROT_NONE, flags, -1, 0) };
    if address == libc::MAP_FAILED {
        return Err(explain(errno()));
    }
    NonNull::new(address.cast()).ok_or(StackError::OutOfMemory)
}

/// Maps `length` bytes at a multiple of `align`: writable, not reserved, not locked, without huge
/// pages. Nothing of it is resident.
pub(crate) fn map(length: usize, align: usize) -> Result<NonNull<u8>, StackError> {
    let mut base = reserve(length)?;
    if !base.addr().get().is_multiple_of(align) {
        // SAFETY: reserved just now, and known to nobody.
        unsafe { unmap(base, length) };
        base = reserve_aligned(length, align)?;
    }
    // Unlocked before it becomes writable: with `mlockall(MCL_FUTURE)` in force the kernel would
    // fill all of it otherwise. A refusal only means that it was not locked.
    // SAFETY: both calls are about the mapping made above.
    unsafe { libc::munlock(base.as_ptr().cast(), length) };
    if let Err(code) = protect(base, length, libc::PROT_READ | libc::PROT_WRITE) {
        // SAFETY: reserved just now, and known to nobody.
        unsafe { unmap(base, length) };
        return Err(explain(code));
    }
    // A huge page would make one touched stack cost as much as hundreds. Kernels without them
    // refuse, which is as good.
    // SAFETY: advice about the mapping made above.
    unsafe { libc::madvise(base.as_ptr().cast(), length, libc::MADV_NOHUGEPAGE) };
    Ok(base)
}

/// Writable memory, the first page of which is a guard. For a thread's alternate stack.
pub(crate) fn map_with_guard_page(length: usize) -> Option<NonNull<u8>> {
    let base = reserve(length).ok()?;
    // SAFETY: the second page lies in the mapping.
    let above = unsafe { base.add(PAGE) };
    if protect(above, length - PAGE, libc::PROT_READ | libc::PROT_WRITE).is_ok() {
        return Some(base);
    }
    // SAFETY: reserved just now, and known to nobody.
    unsafe { unmap(base, length) };
    None
}

/// Reserves more than is wanted and gives the ends back.
fn reserve_aligned(length: usize, align: usize) -> Result<NonNull<u8>, StackError> {
    let whole = length + align;
    let start = reserve(whole)?;
    let before = start.addr().get().next_multiple_of(align) - start.addr().get();
    // SAFETY: all three pieces lie in the reservation, and nobody knows of it yet.
    unsafe {
        let base = start.add(before);
        if before > 0 {
            unmap(start, before);
        }
        unmap(base.add(length), whole - before - length);
        Ok(base)
    }
}

/// Gives address space back.
///
/// # Safety
///
/// It was mapped here, and nothing on it is used any more.
pub(crate) unsafe fn unmap(base: NonNull<u8>, length: usize) {
    // SAFETY: passed on to the caller. A refusal (the limit of mappings, when a hole would split
    // one) leaves the memory mapped, which is a leak.
    unsafe { libc::munmap(base.as_ptr().cast(), length) };
}

fn protect(base: NonNull<u8>, length: usize, how: libc::c_int) -> Result<(), i32> {
    // SAFETY: callers pass memory of an arena that is being set up: nobody reads or writes it.
    let code = unsafe { libc::mprotect(base.as_ptr().cast(), length, how) };
    if code == 0 { Ok(()) } else { Err(errno()) }
}

/// Makes a guard without a mapping. `false`: this kernel cannot, or not in this memory.
pub(crate) fn guard_by_advice(base: NonNull<u8>, length: usize) -> bool {
    // SAFETY: advice about memory of a stack that nobody has yet.
    unsafe { libc::madvise(base.as_ptr().cast(), length, MADV_GUARD_INSTALL) == 0 }
}

/// Makes a guard that costs mappings.
pub(crate) fn guard_by_protection(base: NonNull<u8>, length: usize) -> Result<(), i32> {
    protect(base, length, libc::PROT_NONE)
}

/// Gives the pages back to the kernel; they read as zeros afterwards.
///
/// # Safety
///
/// Nothing that lies there is used any more.
pub(crate) unsafe fn release(base: NonNull<u8>, length: usize) {
    // SAFETY: passed on to the caller. A refusal leaves the pages where they are.
    unsafe { libc::madvise(base.as_ptr().cast(), length, libc::MADV_DONTNEED) };
}

/// Is this page in memory?
pub(crate) fn resident(page: NonNull<u8>) -> bool {
    let mut answer = 0_u8;
    // SAFETY: asks about one page, and writes one byte.
    let code = unsafe { libc::mincore(page.as_ptr().cast(), PAGE, &mut answer) };
    code != 0 || answer & 1 == 1
}

/// How many mappings a process may have.
pub(crate) fn max_mappings() -> usize {
    let text = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap_or_default();
    text.trim().parse().unwrap_or(65_530)
}

/// Is a shadow stack in force on this thread? Asked until one answer was no: threads inherit it.
pub(crate) fn shadow_stack() -> bool {
    static ABSENT: AtomicBool = AtomicBool::new(false);
    // Relaxed, both: the flag carries no other data.
    if ABSENT.load(Ordering::Relaxed) {
        return false;
    }
    let present = forbids(crate::switch::shadow_stack_status());
    ABSENT.store(!present, Ordering::Relaxed);
    present
}

/// Does this status mean that returns are checked?
pub(crate) fn forbids(status: u64) -> bool {
    const ARCH_SHSTK_SHSTK: u64 = 1;
    status & ARCH_SHSTK_SHSTK != 0
}

#[cfg(test)]
mod tests;

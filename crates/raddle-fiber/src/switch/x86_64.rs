//! The switch for x86-64: which registers travel, where they lie, and how unwinders find their way.
//!
//! # What a switch saves
//!
//! Inline assembly that declares every register clobbered makes the compiler save exactly what is
//! alive at that place, which is often nothing. Three things it cannot be told to save: `rbx` and
//! `rbp`, which the code generator keeps for itself, and the place to go on at. So a switch pushes
//! these three, stores `rsp`, loads the other `rsp`, and goes on there: ten instructions. It leaves
//! by an indirect jump. A `ret` would take the return address of a function that the processor
//! never saw called, and from there on its return predictor is wrong for every frame that is left
//! (measured: six times slower).
//!
//! The direction flag is clear at each switch, because inline assembly and calls ask for that. The
//! control bits of MXCSR and of the x87 unit belong to the thread; [`FpEnv`] is for those who want
//! them to belong to a fiber.
//!
//! # A frame
//!
//! What a switch leaves behind on the stack that it leaves, at the address stored as `rsp`:
//!
//! ```text
//!  +24  (what the compiler has there)
//!  +16  rbx                                  Frame::rbx
//!   +8  address to go on at                  Frame::resume_at
//!   +0  rbp                                  Frame::rbp       <- saved rsp
//! ```
//!
//! `rbp` and the address beside it have the form of a frame record, so whoever walks the chain of
//! frame pointers (profilers do) passes the seam.
//!
//! # A fiber's stack
//!
//! ```text
//!  top of the stack (a page boundary)
//!          the control block; it begins with Link:
//!  L+24      own      saved rsp of the fiber while it is suspended, else null
//!  L+16      end      address of a frame that ends a walk
//!   L+8      back     an address in `start`: with `parent` a frame record
//!   L+0      parent   saved rsp of the resumer while the fiber runs    <- L, 16-aligned
//!          the closure, later the result
//!    S     16-aligned
//!  S-16    the entry function
//!  S-40    before the first resume: Frame { rbp: L, resume_at: start, rbx: closure }
//!
//!  running:   S-24 holds the return address into `start`, below it are the frames of the entry
//!             function, of the closure, and of what they call
//!  suspended: the same, and at the lowest end a Frame, at the address in `own`
//! ```
//!
//! # Unwinding
//!
//! `start` is the outermost frame of a fiber. Its unwind information says: the caller is the
//! resumer, whose registers lie in the Frame at `parent`, or, if `own` is not null because the
//! fiber is suspended, in the frame at `end`, whose caller is undefined. A backtrace of a running
//! fiber thus goes on in its resumer, and a debugger that looks at a suspended one comes to a clean
//! end. No panic takes that way: the entry function catches all of them. The frame is marked as a
//! signal frame, because debuggers expect stacks to change their direction only there.

use super::Word;
use std::arch::{asm, naked_asm};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

/// What a switch leaves on the stack that it leaves; see the picture above.
#[repr(C)]
pub(crate) struct Frame {
    pub(crate) rbp: *const (),
    pub(crate) resume_at: *const (),
    pub(crate) rbx: *const (),
}

/// How a fiber and its resumer find each other: the lowest part of the control block.
#[repr(C, align(16))]
pub(crate) struct Link {
    /// Where the resumer goes on. Meaningful while the fiber runs.
    pub(crate) parent: Cell<*mut Frame>,
    back: *const (),
    end: *const Frame,
    /// Where the fiber goes on. Null while it runs and after its end.
    pub(crate) own: Cell<*mut Frame>,
}

/// The function a fiber starts in: input, control block, closure. It ends with [`finish`].
pub(crate) type Entry = unsafe extern "sysv64" fn(Word, *const Link, *mut ()) -> !;

/// A frame whose caller is nobody.
struct End(Frame);

// SAFETY: the frame is never written, and the addresses in it are of code.
unsafe impl Sync for End {}

static END: End =
    End(Frame { rbp: ptr::null(), resume_at: suspended as *const (), rbx: ptr::null() });

impl Link {
    /// The link of a fiber that has not started.
    pub(crate) fn new() -> Link {
        Link {
            parent: Cell::new(ptr::null_mut()),
            back: start as *const (),
            end: &raw const END.0,
            own: Cell::new(ptr::null_mut()),
        }
    }
}

/// Writes the frame of a fiber that has not started below `below` (S in the picture); returns it.
///
/// # Safety
///
/// The 48 bytes below `below`, which is 16-aligned, are writable and nobody else's; `link` stays
/// where it is as long as the stack is used.
pub(crate) unsafe fn prepare(
    below: *mut u8,
    link: *const Link,
    closure: *mut (),
    entry: Entry,
) -> *mut Frame {
    // SAFETY: within the 48 bytes the caller gives; `below` is aligned for pointers.
    unsafe {
        // 16 bytes for one word, so that `start` calls with the alignment that calls want.
        let place = below.sub(16);
        place.cast::<Entry>().write(entry);
        let frame = place.sub(size_of::<Frame>()).cast::<Frame>();
        frame.write(Frame {
            rbp: link.cast(),
            resume_at: start as *const (),
            rbx: closure.cast_const(),
        });
        frame
    }
}

/// Leaves the resumer for the fiber whose frame is `frame`. Comes back when the fiber leaves or
/// finishes, with the word it sent and with `link`, which the fiber has in a register anyway.
///
/// # Safety
///
/// `frame` was made by [`prepare`] or by a [`leave`] of the fiber of `link` on this thread, and has
/// not been entered since. Everything reachable from the fiber's stack is still valid.
#[inline(always)]
pub(crate) unsafe fn enter(
    link: *const Link,
    frame: *mut Frame,
    word: Word,
) -> (Word, *const Link) {
    let (answer, back): (Word, *const Link);
    // SAFETY: the frame holds what the other side saved, per the contract. Every register that
    // does not come back is declared; rbx, rbp and rsp come back from the frame pushed here.
    unsafe {
        asm!(
            "push rbx",
            "lea rax, [rip + 2f]",
            "push rax",
            "push rbp",
            "mov [rcx], rsp", // Link::parent
            "mov rsp, rdx",
            "pop rbp",
            "pop rax",
            "notrack jmp rax",
            "2:",
            "pop rbx",
            inlateout("rdi") word => answer,
            inlateout("rcx") link => back,
            in("rdx") frame,
            lateout("r12") _, lateout("r13") _, lateout("r14") _, lateout("r15") _,
            clobber_abi("sysv64"),
        );
    }
    (answer, back)
}

/// Leaves the fiber for its resumer. Comes back when the fiber is resumed, with the word sent and
/// with `link`.
///
/// # Safety
///
/// The caller runs on the stack of the fiber of `link`, or on that of a fiber it resumed, and
/// `link.own` is null.
#[inline(always)]
pub(crate) unsafe fn leave(link: *const Link, word: Word) -> (Word, *const Link) {
    let (answer, back): (Word, *const Link);
    // SAFETY: `parent` is the frame of the resumer, which waits in `enter`; it was stored when this
    // fiber was entered. Registers as in `enter`.
    unsafe {
        asm!(
            "push rbx",
            "lea rax, [rip + 2f]",
            "push rax",
            "push rbp",
            "mov [rcx + 24], rsp", // Link::own
            "mov rsp, [rcx]",      // Link::parent
            "pop rbp",
            "pop rax",
            "notrack jmp rax",
            "2:",
            "pop rbx",
            inlateout("rdi") word => answer,
            inlateout("rcx") link => back,
            lateout("r12") _, lateout("r13") _, lateout("r14") _, lateout("r15") _,
            clobber_abi("sysv64"),
        );
    }
    (answer, back)
}

/// Leaves the fiber for good: `own` stays null.
///
/// # Safety
///
/// As for [`leave`], on the fiber's own stack; what still lies on it is never used again, or needs
/// no destructor.
#[inline(always)]
pub(crate) unsafe fn finish(link: *const Link) -> ! {
    // SAFETY: as in `leave`; nothing is saved because nobody comes back.
    unsafe {
        asm!(
            "mov rsp, [rcx]",
            "pop rbp",
            "pop rax",
            "notrack jmp rax",
            in("rcx") link,
            options(noreturn),
        );
    }
}

/// As [`finish`], right after a call of the sanitizer's function, which destroys what the
/// sanitizer made of this side's frames: nothing in between may touch one.
///
/// # Safety
///
/// As for [`finish`]; the resumer's stack lies where the last two arguments say.
pub(crate) unsafe fn finish_watched(
    link: *const Link,
    start: crate::tools::sanitizer::Start,
    bottom: *const c_void,
    size: usize,
) -> ! {
    // SAFETY: as in `finish`. The sanitizer's function keeps rbx, which needs no saving here.
    unsafe {
        asm!(
            "mov rbx, rcx",
            "xor edi, edi",
            "and rsp, -16",
            "call rax",
            "mov rcx, rbx",
            "mov rsp, [rcx]",
            "pop rbp",
            "pop rax",
            "notrack jmp rax",
            in("rax") start,
            in("rcx") link,
            in("rsi") bottom,
            in("rdx") size,
            options(noreturn),
        );
    }
}

/// The outermost frame of every fiber. The first `enter` jumps here, with the closure still on the
/// stack (Frame::rbx), rbp = L, rdi = the first word, rcx = L.
///
/// # Safety
///
/// Only reached through a frame made by [`prepare`].
#[unsafe(naked)]
unsafe extern "sysv64" fn start() {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_signal_frame",
        // The caller's frame ends 24 bytes above the Frame at `parent` or `end`:
        //   breg6(24) deref    own
        //   lit0 ne lit16 mul  16 if it is suspended, else 0
        //   breg6(0) plus      address of `end` or `parent`
        //   deref plus_uconst(24)
        ".cfi_escape 0x0f, 13, 0x76, 0x18, 0x06, 0x30, 0x2e, 0x40, 0x1e, 0x76, 0x00, 0x22, 0x06, \
         0x23, 0x18",
        ".cfi_offset rbx, -8",
        ".cfi_offset rip, -16",
        ".cfi_offset rbp, -24",
        "endbr64",
        "pop rdx", // the closure
        "cld",
        "mov rsi, rcx",
        "mov rax, [rsp]", // the entry function
        "lea rcx, [rip + 2f]",
        "push rcx", // a return address, without a call that nobody returns from
        "notrack jmp rax",
        "2:",
        "ud2",
        ".cfi_endproc",
    )
}

/// Where a walk over a suspended fiber ends. Never executed.
#[unsafe(naked)]
extern "sysv64" fn suspended() {
    naked_asm!(".cfi_startproc", ".cfi_undefined rip", "ud2", "ud2", ".cfi_endproc")
}

/// Calls `f(data)` with the stack pointer at `stack`, and comes back.
///
/// # Safety
///
/// What lies below `stack` is writable, large enough, and nobody else's until this returns; `f`
/// does not unwind.
#[unsafe(naked)]
pub(crate) unsafe extern "sysv64" fn call_on(
    data: *mut (),
    stack: *mut u8,
    f: unsafe extern "sysv64" fn(*mut ()),
) {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_signal_frame",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "mov rsp, rsi",
        "and rsp, -16",
        "call rdx",
        "mov rsp, rbp",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
    )
}

/// The stack pointer.
#[inline(always)]
pub(crate) fn stack_pointer() -> usize {
    let pointer: usize;
    // SAFETY: reads a register.
    unsafe {
        asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    pointer
}

/// The control words of both floating-point units: rounding, precision, masks.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FpEnv {
    mxcsr: u32,
    x87: u16,
}

impl FpEnv {
    /// Nothing: for a place that is filled in before it is read.
    pub(crate) const UNSET: FpEnv = FpEnv { mxcsr: 0x1f80, x87: 0x037f };

    /// Reads what is in force.
    #[inline]
    pub(crate) fn current() -> FpEnv {
        let mut env = FpEnv::UNSET;
        // SAFETY: writes the two fields.
        unsafe {
            asm!(
                "stmxcsr [{0}]",
                "fnstcw [{0} + 4]",
                in(reg) &raw mut env,
                options(nostack, preserves_flags),
            );
        }
        env
    }

    /// Puts it in force.
    #[inline]
    pub(crate) fn load(self) {
        // SAFETY: both words came from `current` (or are the defaults), so they are valid; code
        // that depends on the default rounding asked for another one itself.
        unsafe {
            asm!(
                "ldmxcsr [{0}]",
                "fldcw [{0} + 4]",
                in(reg) &raw const self,
                options(nostack, preserves_flags, readonly),
            );
        }
    }
}

/// A request to valgrind; `default` comes back where there is none.
#[inline]
pub(crate) fn valgrind_request(default: usize, request: [usize; 6]) -> usize {
    let answer: usize;
    // SAFETY: rotating rdi by 128 bits in all and exchanging rbx with itself change nothing; under
    // valgrind the sequence makes it read `request` and answer in rdx.
    unsafe {
        asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            inout("rdx") default => answer,
            in("rax") &raw const request,
            in("rdi") 0_usize,
            options(nostack),
        );
    }
    answer
}

/// Which parts of the processor's shadow stack are in force on this thread: bits, 0 for none.
pub(crate) fn shadow_stack_status() -> u64 {
    const ARCH_SHSTK_STATUS: libc::c_int = 0x5005;
    let mut status = 0_u64;
    // SAFETY: the call writes one u64, or fails on kernels and processors without the feature.
    let code = unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_SHSTK_STATUS, &raw mut status) };
    if code == 0 { status } else { 0 }
}

#[cfg(test)]
mod tests;

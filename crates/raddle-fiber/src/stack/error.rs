//! Why there is no stack: each cause with the limit that was met and what to do about it.

use std::fmt;
use std::io;

/// Why a stack could not be had. Nothing was kept; what is in use goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StackError {
    /// The limit of mappings a process may have is near. Each stack takes two where its guard
    /// cannot be had without; an eighth of the limit is left to the rest of the program.
    Mappings {
        /// `vm.max_map_count`, in mappings.
        limit: usize,
        /// Stacks with such guards that the process has.
        stacks: usize,
    },
    /// The address space of the process is limited (`RLIMIT_AS`).
    AddressSpace {
        /// The limit, in bytes.
        limit: u64,
    },
    /// New memory is locked (`mlockall`), and more than `RLIMIT_MEMLOCK` allows.
    LockedMemory {
        /// The limit, in bytes.
        limit: u64,
    },
    /// The kernel has no memory or no address space left.
    OutOfMemory,
    /// The size is larger than any stack may be.
    TooLarge {
        /// Bytes asked for.
        size: usize,
    },
    /// This thread runs with a shadow stack, which this crate does not switch.
    ShadowStack,
    /// Another refusal of the kernel, by its number.
    Os(i32),
}

impl fmt::Display for StackError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StackError::Mappings { limit, stacks } => write!(
                out,
                "no stack: {stacks} stacks with guards by mprotect are near the limit of {limit} \
                 mappings; raise vm.max_map_count (sysctl), or use Linux 6.13 or later, where \
                 guards need no mappings"
            ),
            StackError::AddressSpace { limit } => write!(
                out,
                "no stack: the address space of this process is limited to {limit} bytes \
                 (RLIMIT_AS, ulimit -v); stacks are reserved 64 MiB at a time"
            ),
            StackError::LockedMemory { limit } => write!(
                out,
                "no stack: memory is locked as it is mapped (mlockall), and RLIMIT_MEMLOCK is \
                 {limit} bytes; raise it (ulimit -l) or lock with MCL_ONFAULT after the start"
            ),
            StackError::OutOfMemory => {
                write!(out, "no stack: the kernel has no memory or address space left")
            }
            StackError::TooLarge { size } => {
                write!(out, "no stack: {size} bytes are more than a stack may have")
            }
            StackError::ShadowStack => write!(
                out,
                "no stack: this thread has a shadow stack, which is not switched with it; start \
                 the program without (GLIBC_TUNABLES=glibc.cpu.x86_shstk=off)"
            ),
            StackError::Os(code) => {
                write!(out, "no stack: {}", io::Error::from_raw_os_error(*code))
            }
        }
    }
}

impl std::error::Error for StackError {}

impl From<StackError> for io::Error {
    fn from(error: StackError) -> io::Error {
        let kind = match error {
            StackError::TooLarge { .. } => io::ErrorKind::InvalidInput,
            StackError::ShadowStack => io::ErrorKind::Unsupported,
            _ => io::ErrorKind::OutOfMemory,
        };
        io::Error::new(kind, error)
    }
}

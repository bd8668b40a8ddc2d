//! What a task is called: a number that is never used twice in a process.

use std::fmt;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of a task. Unique within the process, also across runtimes; never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(NonZeroU64);

/// Numbers that a thread takes at a time, so that spawning does not touch a shared line each
/// time.
const BLOCK: u64 = 1024;

impl Id {
    /// The next number.
    #[inline]
    pub(crate) fn next() -> Id {
        use std::cell::Cell;
        thread_local! {
            static NEXT: Cell<u64> = const { Cell::new(0) };
        }
        let number = NEXT.with(|cell| {
            let mut number = cell.get();
            if number % BLOCK == 0 {
                number = Id::block();
            }
            cell.set(number + 1);
            number
        });
        Id(NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN))
    }

    /// The first number of a block of this thread's own; it is one past a multiple of [`BLOCK`],
    /// so that the last one is a multiple and asks for the next block.
    #[cold]
    fn block() -> u64 {
        static BLOCKS: AtomicU64 = AtomicU64::new(0);
        // Relaxed: the number only has to be unique.
        BLOCKS.fetch_add(1, Ordering::Relaxed) * BLOCK + 1
    }

    /// The id of the task that this thread is polling, or `None` outside of a task.
    pub fn current() -> Option<Id> {
        raddle_base::context::task_id().map(Id)
    }

    /// As a plain number.
    #[inline]
    pub fn as_u64(self) -> u64 {
        self.0.get()
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({})", self.0)
    }
}

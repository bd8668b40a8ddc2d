//! What a waiter waits for, and where in the program: a byte and a static address.
//!
//! A dump of a hanging program wants to say "task 17 waits for a permit at pool.rs:42". The kind
//! is a byte in the node's state word, and the place is the caller's location, which the compiler
//! keeps in read-only memory, so that both are free of cost while nobody looks.

use std::fmt;
use std::panic::Location;

/// What a waiter waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum WaitKind {
    /// Something not named below.
    Other = 0,
    /// Permits of a semaphore.
    Permits = 1,
    /// A notification.
    Notification = 2,
    /// Room in a channel.
    Room = 3,
    /// A value in a channel.
    Value = 4,
    /// The end of the other side of a channel.
    Closed = 5,
    /// Cancellation of a token.
    Cancellation = 6,
    /// A lock.
    Lock = 7,
    /// A shared lock.
    SharedLock = 8,
    /// An event, a latch, a barrier: something that happens once for many.
    Event = 9,
    /// The end of a task.
    Join = 10,
    /// A point in time.
    Time = 11,
    /// Readiness of a descriptor for reading.
    Readable = 12,
    /// Readiness of a descriptor for writing.
    Writable = 13,
    /// An operation of the kernel.
    Operation = 14,
    /// A job of the blocking pool.
    Job = 15,
}

impl WaitKind {
    const ALL: [WaitKind; 16] = [
        WaitKind::Other,
        WaitKind::Permits,
        WaitKind::Notification,
        WaitKind::Room,
        WaitKind::Value,
        WaitKind::Closed,
        WaitKind::Cancellation,
        WaitKind::Lock,
        WaitKind::SharedLock,
        WaitKind::Event,
        WaitKind::Join,
        WaitKind::Time,
        WaitKind::Readable,
        WaitKind::Writable,
        WaitKind::Operation,
        WaitKind::Job,
    ];

    /// A number for it; 0 for [`Other`](Self::Other), which tells as much as no note at all.
    #[inline]
    pub const fn code(self) -> u16 {
        self as u16
    }

    /// The kind that has this [code](Self::code); `None` for 0 and for what is no code.
    pub fn from_code(code: u16) -> Option<WaitKind> {
        Self::ALL.get(usize::from(code)).copied().filter(|kind| *kind != WaitKind::Other)
    }

    /// The phrase that a dump prints.
    pub const fn phrase(self) -> &'static str {
        match self {
            WaitKind::Other => "something",
            WaitKind::Permits => "permits of a semaphore",
            WaitKind::Notification => "a notification",
            WaitKind::Room => "room in a channel",
            WaitKind::Value => "a value in a channel",
            WaitKind::Closed => "the other side of a channel to close",
            WaitKind::Cancellation => "cancellation",
            WaitKind::Lock => "a lock",
            WaitKind::SharedLock => "a shared lock",
            WaitKind::Event => "an event",
            WaitKind::Join => "the end of a task",
            WaitKind::Time => "a point in time",
            WaitKind::Readable => "a descriptor to be readable",
            WaitKind::Writable => "a descriptor to be writable",
            WaitKind::Operation => "an operation of the kernel",
            WaitKind::Job => "a blocking job",
        }
    }
}

/// What is waited for, and where the wait was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitSite {
    /// What is waited for.
    pub kind: WaitKind,
    /// Where the operation that waits was called.
    pub location: &'static Location<'static>,
}

impl WaitSite {
    /// The caller's place, for a wait of this kind.
    #[inline]
    #[track_caller]
    pub const fn here(kind: WaitKind) -> Self {
        WaitSite { kind, location: Location::caller() }
    }
}

impl fmt::Display for WaitSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.kind.phrase(), self.location)
    }
}

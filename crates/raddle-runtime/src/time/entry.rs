//! A sleeping deadline: the node that a `Sleep` holds in place and lends to a wheel.
//!
//! The entry lives in the future that waits, so arming a timer allocates nothing. It spans one
//! cache line together with the rest of `Sleep`.
//!
//! # Who may touch which field
//!
//! "Owner" is whoever has the `Sleep`, by `&mut` or through its pin; "lock" is that of the
//! [`Timers`](crate::time::Timers) the entry is armed with.
//!
//! | field | any other phase | phase Armed |
//! |---|---|---|
//! | `links` | owner | lock |
//! | `deadline` | owner | owner and lock read, nobody writes |
//! | `waker` | owner writes; holds nothing to drop | lock; the owner may read its *address* |
//! | `phase` | owner writes | written under the lock only |
//! | `location` | constant | constant |
//!
//! The step Armed → Fired (or Closed) is the last thing a firing thread does to an entry. It is a
//! release store and the owner's look is an acquire load, so an owner that sees Fired has the
//! entry to itself and may free it without taking the lock.

use std::fmt;
use std::mem::MaybeUninit;
use std::panic::Location;
use std::ptr::NonNull;
use std::task::Waker;

use raddle_base::list::{Linked, Links};
use raddle_base::shim::atomic::AtomicU8;
use raddle_base::shim::atomic::Ordering::{Acquire, Relaxed, Release};
use raddle_base::shim::cell::UnsafeCell;

/// Where an entry is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Not linked: never armed, or taken back.
    Idle,
    /// As idle; the deadline may lie in the past, so the clock is read before arming.
    Unchecked,
    /// Linked into a wheel, with a waker to wake.
    Armed,
    /// The deadline has passed; not linked any more.
    Fired,
    /// The timers were closed before the deadline; not linked any more.
    Closed,
}

impl Phase {
    const ALL: [Phase; 5] =
        [Phase::Idle, Phase::Unchecked, Phase::Armed, Phase::Fired, Phase::Closed];
}

/// One deadline and whom to wake.
pub(crate) struct Entry {
    links: Links<Entry>,
    deadline: UnsafeCell<u64>,
    waker: UnsafeCell<MaybeUninit<Waker>>,
    phase: AtomicU8,
    /// Where the wait was written, for whoever walks a wheel to tell what waits.
    location: &'static Location<'static>,
}

// SAFETY: what is not atomic is accessed by the table above, across threads only under the lock or
// after the acquire of a phase that hands the entry over; `Waker` is Send and Sync.
unsafe impl Send for Entry {}
// SAFETY: as above.
unsafe impl Sync for Entry {}

impl Entry {
    /// An entry that is not armed; deadlines are nanoseconds of the wheel's clock. The wait is the
    /// caller's.
    #[track_caller]
    pub(crate) fn new(deadline: u64, phase: Phase) -> Self {
        Entry {
            links: Links::new(),
            deadline: UnsafeCell::new(deadline),
            waker: UnsafeCell::new(MaybeUninit::uninit()),
            phase: AtomicU8::new(phase as u8),
            location: Location::caller(),
        }
    }

    /// Where the wait was written.
    pub(crate) fn location(&self) -> &'static Location<'static> {
        self.location
    }

    /// The phase, as the owner sees it.
    #[inline]
    pub(crate) fn phase(&self) -> Phase {
        // Acquire: pairs with the release in `finish`. Whatever the firing thread did to the
        // entry happened before the owner frees or reuses it.
        Phase::ALL[usize::from(self.phase.load(Acquire))]
    }

    /// The deadline. Callers are the owner or hold the lock; nobody writes while armed.
    #[inline]
    pub(crate) fn deadline(&self) -> u64 {
        // SAFETY: by the table, reads by owner and lock holder meet no write: the owner writes
        // only while the entry is not armed.
        self.deadline.with(|deadline| unsafe { *deadline })
    }

    /// Gives the entry another phase and deadline.
    ///
    /// # Safety
    ///
    /// The caller is the owner, and the entry is neither armed before nor after.
    pub(crate) unsafe fn rewind(&self, deadline: u64, phase: Phase) {
        // SAFETY: the entry is not armed, so its owner, the caller, has it alone.
        unsafe { self.move_deadline(deadline) };
        // Relaxed: a note of the owner to itself; arming publishes through the lock.
        self.phase.store(phase as u8, Relaxed);
    }

    /// Changes the deadline.
    ///
    /// # Safety
    ///
    /// The caller is the owner, and the entry is not linked: it is in another phase than Armed, or
    /// the caller holds the lock and has just unlinked it.
    pub(crate) unsafe fn move_deadline(&self, deadline: u64) {
        // SAFETY: of the two that may read the deadline, the owner is the caller's caller and the
        // lock holder is the caller or reads linked entries only.
        self.deadline.with_mut(|old| unsafe { *old = deadline });
    }

    /// Puts the waker into an entry that is about to be linked.
    ///
    /// # Safety
    ///
    /// The caller is the owner, the entry is not armed, and it links the entry next.
    pub(crate) unsafe fn arm(&self, waker: Waker) {
        // SAFETY: the owner has an entry that is not armed alone; such an entry holds no waker,
        // so writing over it leaks nothing.
        self.waker.with_mut(|slot| unsafe { (*slot).write(waker) });
        // Relaxed: others look at the phase only under the lock, taken after this.
        self.phase.store(Phase::Armed as u8, Relaxed);
    }

    /// Whether the armed entry would wake the same task as `waker`.
    ///
    /// May run while another thread fires the entry: it then compares with a waker that was moved
    /// out, of which only the address is looked at. A false yes is harmless, because the moved
    /// waker is the same one and is about to be woken.
    ///
    /// # Safety
    ///
    /// The caller is the owner and has seen the phase Armed.
    pub(crate) unsafe fn would_wake(&self, waker: &Waker) -> bool {
        // SAFETY: an entry that was armed holds an initialised waker or the bits of one that was
        // moved out by a read; neither is written to before the owner does so itself. Data pointer
        // and vtable address are compared, nothing behind them is touched.
        self.waker.with(|slot| unsafe {
            let held = &*slot.cast::<std::mem::ManuallyDrop<Waker>>();
            held.data() == waker.data() && std::ptr::eq(held.vtable(), waker.vtable())
        })
    }

    /// Exchanges the waker of an armed entry.
    ///
    /// # Safety
    ///
    /// The caller holds the lock and the entry is linked.
    pub(crate) unsafe fn replace_waker(&self, waker: Waker) -> Waker {
        // SAFETY: a linked entry holds a waker, and the lock excludes others; the owner, who might
        // compare addresses, is the caller's caller.
        self.waker.with_mut(|slot| unsafe {
            std::mem::replace(&mut *slot, MaybeUninit::new(waker)).assume_init()
        })
    }

    /// Moves the waker out and hands the entry back to its owner in `phase`.
    ///
    /// # Safety
    ///
    /// The caller holds the lock and has just unlinked `entry`. It must not touch the entry again:
    /// the owner may free it at once.
    pub(crate) unsafe fn finish(entry: NonNull<Entry>, phase: Phase) -> Waker {
        // SAFETY: an armed entry is live, and holds a waker; reading moves it out, and after the
        // store below no one takes it again.
        unsafe {
            let entry = entry.as_ref();
            let waker = entry.waker.with(|slot| slot.cast::<Waker>().read());
            // Release: all accesses above happen before the owner's acquire in `phase`.
            entry.phase.store(phase as u8, Release);
            waker
        }
    }
}

/// The lists that entries stand in: the slots of a wheel, and those that are due.
#[derive(Debug)]
pub(crate) enum Slots {}

// SAFETY: the address of one and the same field, which only these lists use.
unsafe impl Linked for Slots {
    type Node = Entry;

    unsafe fn links(node: NonNull<Entry>) -> NonNull<Links<Entry>> {
        // SAFETY: the caller gives a live node; a field of it is not null.
        unsafe { NonNull::new_unchecked(&raw mut (*node.as_ptr()).links) }
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("phase", &self.phase()).finish_non_exhaustive()
    }
}

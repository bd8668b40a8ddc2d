//! Who listens to which signal, in a form that a signal handler may read.
//!
//! # Question
//!
//! A handler may run on any thread between any two instructions, and may neither lock nor
//! allocate. How does it reach every listener, on whichever runtime, while listeners come and go?
//!
//! # States
//!
//! Each listener has a *seat*: a signal number, an event descriptor, and whether it is taken.
//! Seats hang on a list that only ever grows; a seat that was left is taken again by a later
//! listener to the same signal. Number and descriptor of a seat never change, and its descriptor
//! is never closed: there are as many as there were listeners at one time.
//!
//! # Protocol
//!
//! A listener takes a free seat of its signal, or makes one and pushes it to the head of the
//! list; only then is the handler installed, if it is not yet. The handler walks the list and adds
//! one to the descriptor of every seat of its signal that is taken. The listener's driver waits
//! for a duplicate of the descriptor.
//!
//! # Race
//!
//! A handler that saw a seat taken may add to its descriptor after the seat was left, and taken
//! again: the new listener to the same signal is told of one that came just before it. Nothing
//! is told to a listener of another signal, and nothing is written to a descriptor that means
//! something else by then.
//!
//! # Proof
//!
//! Memory reached from the list's head is never freed and its fields are written before the
//! release that publishes it. `write` on an event descriptor is async-signal-safe and does not
//! block: it fails when the count is full, and then the listener is told already.

use raddle_base::fork;
use raddle_base::shim::mutex::Mutex;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;
use std::sync::LazyLock;
// std's, not the shim's: these are statics that a signal handler reads; no model runs it.
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

/// The newest seat.
static HEAD: AtomicPtr<Place> = AtomicPtr::new(ptr::null_mut());

/// The number of forks before the first handler was installed.
static GENERATION: AtomicU32 = AtomicU32::new(0);

/// The signals whose handler is installed.
static INSTALLED: LazyLock<Mutex<Vec<i32>>> = LazyLock::new(|| Mutex::new(Vec::new()));

struct Place {
    number: i32,
    event: OwnedFd,
    taken: AtomicBool,
    next: *const Place,
}

/// A taken seat; left when dropped.
pub(super) struct Seat(&'static Place);

// SAFETY: a place is immutable but for its atomic; `next` leads to a place that is never freed.
unsafe impl Sync for Place {}

impl Seat {
    pub(super) fn number(&self) -> i32 {
        self.0.number
    }

    /// A descriptor for the same event, which the caller may close.
    pub(super) fn descriptor(&self) -> io::Result<OwnedFd> {
        self.0.event.try_clone()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        // Release: whoever takes the seat next comes after all this listener did with it.
        self.0.taken.store(false, Ordering::Release);
    }
}

/// Takes a seat for a listener to signal `number`, and sees to it that the handler is there.
pub(super) fn sit(number: i32) -> io::Result<Seat> {
    if !may_be_listened_to(number) {
        let text = "this signal cannot be listened to";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let seat = match take_free(number) {
        Some(seat) => seat,
        None => push(number)?,
    };
    install(number)?;
    Ok(seat)
}

fn may_be_listened_to(number: i32) -> bool {
    let faults = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE];
    let never = [libc::SIGKILL, libc::SIGSTOP];
    (1..=libc::SIGRTMAX()).contains(&number)
        && !faults.contains(&number)
        && !never.contains(&number)
}

fn places() -> impl Iterator<Item = &'static Place> {
    // Acquire: pairs with the release of the push, for the fields of all places from there on.
    let mut at = HEAD.load(Ordering::Acquire).cast_const();
    std::iter::from_fn(move || {
        // SAFETY: null, or a place, which is never freed.
        let place: &'static Place = unsafe { at.as_ref() }?;
        at = place.next;
        Some(place)
    })
}

fn take_free(number: i32) -> Option<Seat> {
    let free = places().filter(|place| place.number == number).find(|place| {
        // Acquire: pairs with the release of the one who left. Nothing depends on a failure.
        place.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
    })?;
    // What was told to the listener before is none of the new one's business.
    let _ = take(free.event.as_fd());
    Some(Seat(free))
}

fn push(number: i32) -> io::Result<Seat> {
    // SAFETY: the descriptor returned is new and owned by nobody else.
    let event = unsafe {
        match libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) {
            -1 => return Err(io::Error::last_os_error()),
            fd => OwnedFd::from_raw_fd(fd),
        }
    };
    // For ever: a handler may be reading it at any time.
    let place = Box::leak(Box::new(Place {
        number,
        event,
        taken: AtomicBool::new(true),
        next: ptr::null(),
    }));
    // Relaxed: only compared, and passed on to readers by the release below, which continues the
    // release sequence of the place it leads to.
    let mut head = HEAD.load(Ordering::Relaxed);
    loop {
        place.next = head;
        // Release: publishes the fields. Relaxed on failure: as above.
        match HEAD.compare_exchange_weak(
            head,
            ptr::from_mut(place),
            Ordering::Release,
            Ordering::Relaxed,
        ) {
            Ok(_) => return Ok(Seat(place)),
            Err(now) => head = now,
        }
    }
}

/// Takes the count of an event descriptor; `WouldBlock` if it is zero.
pub(super) fn take(fd: BorrowedFd<'_>) -> io::Result<()> {
    let mut count = [0_u8; 8];
    // SAFETY: the array is room for its length.
    match unsafe { libc::read(fd.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) } {
        8 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Installs the handler of a signal, if it is not there yet.
fn install(number: i32) -> io::Result<()> {
    let mut installed = INSTALLED.lock();
    if installed.contains(&number) {
        return Ok(());
    }
    if installed.is_empty() {
        fork::watch();
        // Relaxed: written before the first handler can run.
        GENERATION.store(fork::generation(), Ordering::Relaxed);
    }
    // SAFETY: a zeroed sigaction is one with an empty mask and no flags; the handler does what a
    // handler may.
    let result = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_signal as extern "C" fn(i32) as usize;
        action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(number, &raw const action, ptr::null_mut())
    };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    installed.push(number);
    Ok(())
}

/// Tells every listener. Runs as a signal handler.
extern "C" fn on_signal(number: i32) {
    // Relaxed: see where it is stored. The descriptors of a forked child are its parent's.
    if fork::generation() != GENERATION.load(Ordering::Relaxed) {
        return;
    }
    // SAFETY: the address of this thread's error number, which is saved and restored around the
    // calls, is valid.
    let errno = unsafe { *libc::__errno_location() };
    for place in places() {
        // Acquire: a listener that has taken the seat is told, however it got there.
        if place.number == number && place.taken.load(Ordering::Acquire) {
            let one = 1_u64.to_ne_bytes();
            // SAFETY: eight bytes are readable; the descriptor is never closed.
            unsafe { libc::write(place.event.as_raw_fd(), one.as_ptr().cast(), one.len()) };
        }
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

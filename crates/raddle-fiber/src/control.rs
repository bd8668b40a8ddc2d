//! The control block: what a fiber and those around it must agree on, at the top of its stack.
//!
//! # Question
//!
//! Who runs on this stack, and may it leave, be resumed, or be unwound now?
//!
//! # States
//!
//! | state | `link.own` | flags | who may do what |
//! |---|---|---|---|
//! | not started | frame of `prepare` | – | resumed, unwound |
//! | running | null | – | suspends, ends |
//! | suspended | frame of `leave` | – | resumed, unwound |
//! | unwinding | null | `UNWINDING` | ends; a suspension raises |
//! | done | null | `DONE` | its stack is free |
//! | abandoned | null or frame | `ABANDONED` | nothing, ever; the stack is kept |
//!
//! `ELSEWHERE` is added while a running fiber's code runs on its resumer's stack, and `HELD` while
//! it is in a scope that must end first: it cannot leave then. `FP_ENV` and `WATCHED` are fixed
//! before the start and say that a switch has more to do.
//! In a watched fiber the frame lies in `watched_own`, and `link.own` stays null, so that nothing
//! but the slow path finds it.
//!
//! # Protocol
//!
//! Everything here is used by one thread: the one that made the fiber. A resume takes the frame out
//! of `own` and leaves null, so a fiber that runs, or is done, cannot be resumed. A suspension is
//! refused, with its value, unless `own` is null (the caller runs on this stack, or on that of a
//! fiber which this one resumed) and no flag stands against it.
//!
//! # Proof
//!
//! A frame is entered at most once, because entering takes it out; it is valid, because the stack
//! below it belongs to the fiber until the state is *done*, and from *abandoned* there is no way.

use crate::name::Name;
use crate::stack::map::Place;
use crate::switch::{FpEnv, Frame, Link};
use crate::tools::sanitizer::Side;
use std::cell::Cell;
use std::ptr;

/// A forced unwind is under way: suspensions raise.
pub(crate) const UNWINDING: usize = 1;
/// The fiber has ended; its result lies in its place.
pub(crate) const DONE: usize = 2;
/// The fiber will never run again, and its stack is never used again.
pub(crate) const ABANDONED: usize = 4;
/// The fiber's code runs on the stack of its resumer now.
pub(crate) const ELSEWHERE: usize = 8;
/// The fiber has floating-point control words of its own.
pub(crate) const FP_ENV: usize = 16;
/// A sanitizer wants to know of switches.
pub(crate) const WATCHED: usize = 32;
/// Code on this stack is in a scope that must not be left half-way: see [`held`](crate::held).
pub(crate) const HELD: usize = 64;

/// See the file's header. Fields are used by the fiber's thread only.
#[repr(C)]
pub(crate) struct Control {
    pub(crate) link: Link,
    flags: Cell<usize>,
    /// How many declared frames of foreign code lie on the stack.
    pub(crate) foreign: Cell<u32>,
    /// How often the kill was raised and swallowed.
    pub(crate) raised: Cell<u32>,
    /// Where the closure lies at first, and the result in the end.
    pub(crate) place: *mut (),
    pub(crate) bottom: *const u8,
    pub(crate) size: usize,
    pub(crate) id: u64,
    pub(crate) name: Name,
    /// The control words of the side that does not run.
    pub(crate) fp: Cell<FpEnv>,
    /// Watched fibers only, all three.
    pub(crate) watched_own: Cell<*mut Frame>,
    pub(crate) fiber_side: Cell<Side>,
    pub(crate) parent_side: Cell<Side>,
}

impl Control {
    pub(crate) fn new(flags: usize, place: *mut (), bottom: *const u8, size: usize) -> Control {
        Control {
            link: Link::new(),
            flags: Cell::new(flags),
            foreign: Cell::new(0),
            raised: Cell::new(0),
            place,
            bottom,
            size,
            id: 0,
            name: Name::default(),
            fp: Cell::new(FpEnv::UNSET),
            watched_own: Cell::new(ptr::null_mut()),
            fiber_side: Cell::new(Side::UNSET),
            parent_side: Cell::new(Side::UNSET),
        }
    }

    /// Is any of these flags set?
    #[inline(always)]
    pub(crate) fn is(&self, flags: usize) -> bool {
        self.flags.get() & flags != 0
    }

    /// Is there any flag at all?
    #[inline(always)]
    pub(crate) fn is_special(&self) -> bool {
        self.flags.get() != 0
    }

    /// May the fiber leave without further questions: it runs, and nothing is special about it.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.link.own.get().addr() | self.flags.get() == 0
    }

    pub(crate) fn set(&self, flags: usize) {
        self.flags.set(self.flags.get() | flags);
    }

    pub(crate) fn clear(&self, flags: usize) {
        self.flags.set(self.flags.get() & !flags);
    }

    /// Whether it runs: it is neither suspended, nor over.
    pub(crate) fn is_running(&self) -> bool {
        !self.is(DONE | ABANDONED) && self.frame().is_null()
    }

    /// The frame to enter, if the fiber is suspended or has not started.
    pub(crate) fn frame(&self) -> *mut Frame {
        if self.is(WATCHED) { self.watched_own.get() } else { self.link.own.get() }
    }

    /// Puts a frame there, or null.
    pub(crate) fn set_frame(&self, frame: *mut Frame) {
        let place = if self.is(WATCHED) { &self.watched_own } else { &self.link.own };
        place.set(frame);
    }
}

/// Where the control block of the fiber on this stack lies: right below its top.
pub(crate) fn of(place: Place) -> *const Control {
    ptr::with_exposed_provenance(place.top - size_of::<Control>())
}

/// The control block of the fiber on whose stack the caller runs.
pub(crate) fn current() -> Option<&'static Control> {
    // SAFETY: the caller runs there.
    unsafe { at(crate::switch::stack_pointer()) }
}

/// The control block of the fiber on whose stack this address lies.
///
/// # Safety
///
/// There are frames of code at the address. The reference is not kept beyond them.
pub(crate) unsafe fn at(address: usize) -> Option<&'static Control> {
    let place = crate::stack::map::find(address)?;
    // SAFETY: code has run on this stack and is there still, so a fiber has it, and its control
    // block is written before it first runs and stays until it has ended.
    Some(unsafe { &*of(place) })
}

const _: () = assert!(size_of::<Control>().is_multiple_of(16), "the stack below stays aligned");

#[cfg(test)]
mod tests;

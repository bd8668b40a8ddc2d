//! The part of a task that is the same for every future: header, vtable, raw references.

use std::panic::Location;
use std::ptr::NonNull;

use raddle_base::list::{Linked, Links};
use raddle_base::pointer::{Link, Pointer, QueueLink};
use raddle_base::shim::atomic::AtomicU32;
use raddle_base::shim::atomic::Ordering::Relaxed;
use raddle_base::shim::cell::UnsafeCell;

use crate::task::Id;
use crate::task::error::JoinError;
use crate::task::parked::Parked;
use crate::task::state::{State, Wake};

/// What a task knows of the scheduler it belongs to: three verbs on an opaque pointer.
pub(crate) trait Schedule: 'static {
    /// Puts a woken task where it will be polled.
    ///
    /// # Safety
    ///
    /// `data` is the pointer given to `allocate`, and the task has not completed, which is what
    /// keeps it valid: a scheduler lives as long as an unfinished task of its.
    unsafe fn schedule(data: *const (), task: Runnable);

    /// The task has completed: takes it off the live list; true if it was on it (its reference is
    /// then the caller's).
    ///
    /// # Safety
    ///
    /// As for [`schedule`](Self::schedule); called by the completing thread before it gives up
    /// the run reference.
    unsafe fn release(data: *const (), task: RawTask) -> bool;

    /// The error of a task that is cancelled on this thread right now.
    fn cancelled(id: Id) -> JoinError {
        JoinError::cancelled(id)
    }

    /// The task has completed: wakes its joiner.
    ///
    /// # Safety
    ///
    /// The calling thread belongs to the runtime and keeps it alive.
    unsafe fn wake_joiner(data: *const (), joiner: std::task::Waker);

    /// The time on the scheduler's coarse clock, for tasks that are put down.
    ///
    /// # Safety
    ///
    /// As for [`schedule`](Self::schedule).
    unsafe fn tick(data: *const ()) -> u32 {
        let _ = data;
        0
    }

    /// Whether the calling thread belongs to the scheduler, and so keeps it alive. Looks at the
    /// address only.
    fn is_here(data: *const ()) -> bool {
        let _ = data;
        false
    }

    /// A task panicked and nobody will join it, or a destructor of its panicked.
    ///
    /// # Safety
    ///
    /// As for [`schedule`](Self::schedule).
    unsafe fn unhandled_panic(
        data: *const (),
        task: RawTask,
        payload: Box<dyn std::any::Any + Send>,
    );
}

/// What the worker does after a poll.
#[must_use]
pub(crate) enum Step {
    /// Nothing: the task is idle or complete.
    Done,
    /// Put it at the tail of the rotating queue: it yielded, or it was woken while it ran.
    Requeue(Runnable),
}

/// How to treat a task whose future type is not known.
pub(crate) struct Vtable {
    /// Polls once, or cancels, and tells what follows. The caller holds the run reference and
    /// says which worker it is.
    pub(crate) run: unsafe fn(RawTask, u32) -> Step,
    /// Moves the output to the pointer, which is an `Option<Result<T, JoinError>>`.
    pub(crate) take_output: unsafe fn(RawTask, *mut ()),
    /// Drops the stored output.
    pub(crate) drop_output: unsafe fn(RawTask),
    /// Frees the memory.
    pub(crate) dealloc: unsafe fn(RawTask),
    /// Hands the task to its scheduler.
    pub(crate) schedule: unsafe fn(*const (), Runnable),
}

/// What dumps tell of a task beside its id.
#[derive(Clone, Copy)]
pub(crate) struct Meta {
    pub(crate) site: &'static Location<'static>,
}

/// The head of every task. `#[repr(C)]`, so that a debugger and a dump read it without knowing
/// the future; the first cache line holds what a dispatch touches.
#[repr(C)]
pub(crate) struct Header {
    pub(crate) state: State,
    pub(crate) next: Link,
    pub(crate) vtable: &'static Vtable,
    pub(crate) scheduler: *const (),
    /// The worker that polled the task last; for a pinned task, the one that may.
    pub(crate) home: AtomicU32,
    /// The shard of the live list.
    pub(crate) shard: u32,
    pub(crate) id: Id,
    pub(crate) links: Links<Header>,
    pub(crate) site: &'static Location<'static>,
    pub(crate) name: Option<Box<Box<str>>>,
    pub(crate) join_waker: UnsafeCell<Option<std::task::Waker>>,
    /// What it waited for when it was put down last.
    pub(crate) parked: Parked,
}

impl Header {
    /// The worker that polled the task last, or the one that may.
    pub(crate) fn home_index(&self) -> usize {
        // Relaxed: a hint for free tasks, and constant for pinned ones.
        self.home.load(Relaxed) as usize
    }
}

/// A task, not counted: whoever uses it must know that a reference exists.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawTask(NonNull<Header>);

// SAFETY: a raw reference only names the task; what may be done with it from which thread is
// ruled by the state word, see the module's tables.
unsafe impl Send for RawTask {}
// SAFETY: as above.
unsafe impl Sync for RawTask {}

impl RawTask {
    #[inline]
    pub(crate) fn from_header(header: NonNull<Header>) -> Self {
        RawTask(header)
    }

    /// # Safety
    ///
    /// `data` came from [`as_data`](Self::as_data) of a task that still has a reference.
    #[inline]
    pub(crate) unsafe fn from_data(data: *const ()) -> Self {
        // SAFETY: a task's address is never null.
        RawTask(unsafe { NonNull::new_unchecked(data.cast_mut().cast()) })
    }

    #[inline]
    pub(crate) fn as_data(self) -> *const () {
        self.0.as_ptr().cast_const().cast()
    }

    #[inline]
    pub(crate) fn as_ptr(self) -> NonNull<Header> {
        self.0
    }

    /// The header. Valid while the caller's reference lives; tied to nothing by the compiler.
    #[inline]
    pub(crate) fn header<'a>(self) -> &'a Header {
        // SAFETY: every holder of a `RawTask` uses it while a counted reference exists (see the
        // struct), headers are only shared once built, and their mutable fields are cells.
        unsafe { self.0.as_ref() }
    }

    /// Gives up `count` references and frees the task if they were the last.
    #[inline]
    pub(crate) fn drop_refs(self, count: u64) {
        if self.header().state.ref_dec(count) {
            self.dealloc();
        }
    }

    #[inline]
    pub(crate) fn dealloc(self) {
        // SAFETY: the caller saw the count reach zero, so nobody else has a reference.
        unsafe { (self.header().vtable.dealloc)(self) }
    }

    /// Does what a wake or an abort owes.
    #[inline]
    pub(crate) fn settle(self, wake: Wake) {
        match wake {
            Wake::Nothing => {}
            Wake::Schedule => {
                let header = self.header();
                // SAFETY: the verb that returned `Schedule` made the run reference, and the task
                // has not completed: completion needs that very reference.
                unsafe { (header.vtable.schedule)(header.scheduler, Runnable(self)) }
            }
            Wake::Dealloc => self.dealloc(),
        }
    }

    /// Asks for the end of the task.
    pub(crate) fn abort(self) {
        self.settle(self.header().state.abort());
    }
}

/// The run reference: who has it, queues the task or polls it. There is at most one.
pub(crate) struct Runnable(RawTask);

impl Runnable {
    /// # Safety
    ///
    /// The caller owns the run reference and gives it to the result.
    #[inline]
    pub(crate) unsafe fn from_raw_task(task: RawTask) -> Self {
        Runnable(task)
    }

    #[inline]
    pub(crate) fn header(&self) -> &Header {
        self.0.header()
    }

    /// Where the task lies: to tell it from others.
    #[inline]
    pub(crate) fn address(&self) -> *const () {
        self.0.as_data()
    }

    /// Polls the task once, on worker `home`. A pinned task's own home must call it.
    #[inline]
    pub(crate) fn run(self, home: u32) -> Step {
        let raw = self.0;
        std::mem::forget(self);
        // SAFETY: the run reference was ours and goes to the callee.
        unsafe { (raw.header().vtable.run)(raw, home) }
    }

    /// Runs a task that is marked as cancelled, which drops its future, or is about to be dropped
    /// at its next turn.
    pub(crate) fn run_cancelled(self) -> Step {
        let home = self.header().home_index() as u32;
        self.run(home)
    }
}

impl Drop for Runnable {
    /// A run reference that is dropped unrun (a queue that dies with tasks in it) is given up. The
    /// claim stays taken, so the task is never polled again: the memory of its future is kept.
    fn drop(&mut self) {
        self.0.drop_refs(1);
    }
}

// SAFETY: the pointer is a task's header, non-null, and `from_raw` gets back what `into_raw` gave.
unsafe impl Pointer for Runnable {
    fn into_raw(self) -> NonNull<()> {
        let raw = self.0;
        std::mem::forget(self);
        raw.0.cast()
    }

    unsafe fn from_raw(raw: NonNull<()>) -> Self {
        Runnable(RawTask(raw.cast()))
    }
}

// SAFETY: the header outlives the run reference, `next` is used by nothing else, and there is one
// run reference, so one queue at a time links through it.
unsafe impl QueueLink for Runnable {
    #[inline]
    unsafe fn link(raw: NonNull<()>) -> NonNull<Link> {
        let header = raw.cast::<Header>();
        // SAFETY: `raw` is a live header (it came from `into_raw`); only the field's address is
        // taken.
        unsafe { NonNull::new_unchecked(&raw mut (*header.as_ptr()).next) }
    }
}

/// The live list's view of a header.
pub(crate) enum HeaderLinks {}

// SAFETY: a header in the live list has a reference of that list, so it is not freed while linked,
// it never moves, and `links` is used by that list only.
unsafe impl Linked for HeaderLinks {
    type Node = Header;

    #[inline]
    unsafe fn links(node: NonNull<Header>) -> NonNull<Links<Header>> {
        // SAFETY: `node` is a live header; only the field's address is taken.
        unsafe { NonNull::new_unchecked(&raw mut (*node.as_ptr()).links) }
    }
}

// SAFETY: what a header holds is atomic, constant, or ruled by the state word and locks; see the
// table in `task`.
unsafe impl Send for Header {}
// SAFETY: as above.
unsafe impl Sync for Header {}

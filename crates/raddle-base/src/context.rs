//! Who runs on this thread right now, and how much it may still do in this poll.
//!
//! A blocking wait must know whether it may block (a plain thread: yes; an async poll: no, it
//! would stop a worker), and a loop over ready primitives must give way now and then. Both ask
//! this module, so that primitives know no runtime and a runtime needs no hook in a primitive.
//!
//! **Budget.** A scheduler grants a task [`BUDGET`] steps at the start of each poll. Every
//! primitive and socket of raddle calls [`check_budget`] first and [`spend`] when it made
//! progress. With the budget gone, the operation returns `Pending` and the task is polled again
//! after its siblings. Outside a raddle poll (other runtimes, plain threads) it is unlimited.
//!
//! **Self-yield.** A task that asks for another poll need not be woken: its worker is right here
//! and can put it back itself, which saves the read-modify-writes of a wake. That holds only if
//! the waker at hand is that of the task being polled. A future inside an unordered set has a
//! waker of its own and would never be polled again without a wake. [`yield_back`] compares data
//! and vtable, and wakes by reference otherwise.
//!
//! **What a task waits for.** Whatever makes a poll end pending says so by [`waits`]: the kind of
//! wait, and where it was written. The scheduler takes the last note of a poll that ended pending,
//! for dumps. A note is two stores, and outside of a poll nobody reads it.
//!
//! **Stacks that wait.** Code on an actor's stack runs inside the poll of the actor's task, and may
//! block although the thread may not: the stack is left and comes back later. The scheduler of
//! stacks says how by a [`Blocker`], which lasts for one stay on the stack ([`enter_actor`]);
//! blocking waits find it by [`with_blocker`]. The budget and the identity are those of the task.

use std::any::Any;
use std::cell::Cell;
use std::num::NonZeroU64;
use std::panic::Location;
use std::ptr;
use std::task::{Context, Poll, RawWakerVTable};

use crate::clock::Instant;
use crate::wait::WaitKind;

/// Steps a task may take in one poll.
pub const BUDGET: u32 = 128;

/// A budget that is never spent: outside of a raddle poll. Below zero as a signed number, so that
/// one comparison tells it, a spent one and one that goes on.
const UNLIMITED: u32 = u32::MAX;

/// What kind of code runs on a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A plain thread: blocking is its own business.
    Thread,
    /// The poll of an async task: blocking would stop a worker.
    Task,
    /// An actor on its own stack: waiting parks the actor.
    Actor,
    /// A job of the blocking pool: blocking is what it is for.
    Blocking,
}

/// How code on an actor's stack waits: the stack is left while the actor has nothing to do.
pub trait Blocker {
    /// Calls `step`, in [`polling`], with the actor's waker until it is ready or `deadline` has
    /// passed, and leaves the stack between two calls until the waker is woken. True if `step` was
    /// ready.
    ///
    /// A ready step wins over the deadline. If the actor is to end, this does not return: it
    /// unwinds.
    fn block_on(
        &self,
        deadline: Instant,
        step: &mut dyn FnMut(&mut Context<'_>) -> Poll<()>,
    ) -> bool;

    /// The blocker itself, for the scheduler of stacks to find its own.
    fn as_any(&self) -> &dyn Any;
}

/// Gives the number of the task that a waker's data belongs to.
pub type IdOf = unsafe fn(*const ()) -> u64;

/// In this order, so that the beginning of a poll writes the first three in one store.
#[repr(C, align(8))]
struct State {
    budget: Cell<u32>,
    /// What the poll asked for: [`YIELDED`] and [`SETTLED`].
    asked: Cell<u16>,
    /// The [code](WaitKind::code) of the wait that was noted last; 0 for none.
    wait: Cell<u16>,
    waker_data: Cell<*const ()>,
    /// Where that wait was written.
    wait_at: Cell<Option<&'static Location<'static>>>,
    waker_vtable: Cell<*const RawWakerVTable>,
    id_of: Cell<Option<IdOf>>,
    place: Cell<Place>,
    /// Of the actor on whose stack this thread is.
    blocker: Cell<Option<*const dyn Blocker>>,
}

/// The task asked to be put back.
const YIELDED: u16 = 1;
/// The task has changed sides in this poll, see [`settled`].
const SETTLED: u16 = 2;

/// What a poll asked its scheduler for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked(u16);

impl Asked {
    /// Nothing but to be put back: by far the most frequent wish.
    #[inline]
    pub fn is_plain_yield(self) -> bool {
        self.0 == YIELDED
    }

    /// To be put back.
    #[inline]
    pub fn is_yield(self) -> bool {
        self.0 & YIELDED != 0
    }

    /// To find its queue anew: [`settled`] was called.
    #[inline]
    pub fn is_settled(self) -> bool {
        self.0 & SETTLED != 0
    }
}

crate::local! {
    static STATE: State = const {
        State {
            budget: Cell::new(UNLIMITED),
            asked: Cell::new(0),
            wait: Cell::new(0),
            waker_data: Cell::new(ptr::null()),
            wait_at: Cell::new(None),
            waker_vtable: Cell::new(ptr::null()),
            id_of: Cell::new(None),
            place: Cell::new(Place::Thread),
            blocker: Cell::new(None),
        }
    };
}

/// What kind of code runs on this thread now.
#[inline]
pub fn place() -> Place {
    STATE.with(|state| state.place.get())
}

/// The id of the task whose poll this thread is in.
#[inline]
pub fn task_id() -> Option<NonZeroU64> {
    STATE.with(|state| {
        let data = state.waker_data.get();
        if data.is_null() {
            return None;
        }
        // SAFETY: between `begin_poll` and `end_poll`, as whoever entered the worker promised.
        NonZeroU64::new(state.id_of.get().map_or(0, |id_of| unsafe { id_of(data) }))
    })
}

/// Marks this thread as `place`, with an unlimited budget, until the guard is dropped.
///
/// Guards are dropped in reverse order of their making, as scopes do by themselves.
pub fn enter(place: Place) -> Entered {
    STATE.with(|state| Entered {
        place: state.place.replace(place),
        budget: state.budget.replace(UNLIMITED),
        asked: state.asked.get(),
        wait: state.wait.get(),
        waker_data: state.waker_data.replace(ptr::null()),
        wait_at: state.wait_at.get(),
        blocker: state.blocker.get(),
    })
}

/// Restores on drop what [`enter`] replaced.
#[derive(Debug)]
#[must_use = "the place is left as soon as this is dropped"]
pub struct Entered {
    place: Place,
    budget: u32,
    /// A runtime may run in here, and begin polls of its own.
    asked: u16,
    wait: u16,
    waker_data: *const (),
    wait_at: Option<&'static Location<'static>>,
    /// The same for actors of its own.
    blocker: Option<*const dyn Blocker>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        STATE.with(|state| {
            state.place.set(self.place);
            state.budget.set(self.budget);
            state.asked.set(self.asked);
            state.wait.set(self.wait);
            state.waker_data.set(self.waker_data);
            state.wait_at.set(self.wait_at);
            state.blocker.set(self.blocker);
        });
    }
}

/// `Ready` while the task has budget left; else asks for another poll and returns `Pending`.
///
/// Call it first in the poll of anything that can be ready many times in a row.
#[inline]
pub fn check_budget(cx: &mut Context<'_>) -> Poll<()> {
    if STATE.with(|state| state.budget.get()) != 0 {
        return Poll::Ready(());
    }
    exhausted(cx)
}

#[cold]
fn exhausted(cx: &mut Context<'_>) -> Poll<()> {
    yield_back(cx);
    Poll::Pending
}

/// Whether the task has budget left, without asking for anything: for combinators that would
/// otherwise go on to their next branch.
#[inline]
pub fn has_budget() -> bool {
    STATE.with(|state| state.budget.get()) != 0
}

/// Spends one step. Call it when an operation that checked the budget made progress.
#[inline]
pub fn spend() {
    STATE.with(|state| {
        let left = state.budget.get();
        // An unlimited budget stays so; a spent one stays spent.
        if left.cast_signed() > 0 {
            state.budget.set(left - 1);
        }
    });
}

/// [`check_budget`] and [`spend`] in one, for an operation that is about to be ready.
#[inline]
pub fn step(cx: &mut Context<'_>) -> Poll<()> {
    let left = STATE.with(|state| {
        let left = state.budget.get();
        // An unlimited budget stays so; a spent one stays spent.
        if left.cast_signed() > 0 {
            state.budget.set(left - 1);
        }
        left
    });
    if left != 0 { Poll::Ready(()) } else { exhausted(cx) }
}

/// Asks for one more poll of the task that `cx` belongs to, after its siblings had their turn.
#[inline]
pub fn yield_back(cx: &mut Context<'_>) {
    let waker = cx.waker();
    let own = STATE.with(|state| {
        let own = waker.data() == state.waker_data.get()
            && !waker.data().is_null()
            && ptr::eq(waker.vtable(), state.waker_vtable.get());
        if own {
            state.asked.set(state.asked.get() | YIELDED);
        }
        own
    });
    if !own {
        waker.wake_by_ref();
    }
}

/// For schedulers: makes this thread a worker, whose polls are begun with [`begin_poll`], until
/// the guard is dropped. All tasks it polls have wakers with `waker_vtable`, and `id_of` gives the
/// number of the task that such a waker's data belongs to.
///
/// # Safety
///
/// `id_of` may be called with the data given to [`begin_poll`] until [`end_poll`].
pub unsafe fn enter_worker(waker_vtable: &'static RawWakerVTable, id_of: IdOf) -> Entered {
    STATE.with(|state| {
        state.waker_vtable.set(waker_vtable);
        state.id_of.set(Some(id_of));
    });
    enter(Place::Task)
}

/// For schedulers: the poll of the task whose own waker has `waker_data` is about to begin.
///
/// Place and vtable stay from poll to poll, so this is two stores: budget, the request to be put
/// back and the note of a wait share a word.
#[inline]
pub fn begin_poll(waker_data: *const ()) {
    STATE.with(|state| {
        state.budget.set(BUDGET);
        state.asked.set(0);
        state.wait.set(0);
        state.waker_data.set(waker_data);
    });
}

/// For schedulers: the poll has ended; what the task asked for.
#[inline]
pub fn end_poll() -> Asked {
    STATE.with(|state| {
        state.waker_data.set(ptr::null());
        Asked(state.asked.get())
    })
}

/// For schedulers of stacks: asks for one more poll of the task that is being polled, from code
/// that knows that it is in that poll.
#[inline]
pub fn yield_own() {
    STATE.with(|state| state.asked.set(state.asked.get() | YIELDED));
}

/// Whether the poll in progress has asked to be put back.
#[inline]
pub fn has_yielded() -> bool {
    STATE.with(|state| state.asked.get() & YIELDED != 0)
}

/// For schedulers: the data of the waker of the task that is being polled; null outside of a poll.
#[inline]
pub fn own_waker_data() -> *const () {
    STATE.with(|state| state.waker_data.get())
}

/// For schedulers: the task that is being polled does not belong where it was found any more.
pub fn settled() {
    STATE.with(|state| state.asked.set(state.asked.get() | SETTLED));
}

/// For schedulers of stacks: this thread is about to go to the stack of an actor, whose waits
/// `blocker` carries out, until the guard is dropped after it has come back.
///
/// # Safety
///
/// `blocker` is valid whenever code runs on that stack above the frames that made it.
#[inline]
pub unsafe fn enter_actor(blocker: *const dyn Blocker) -> EnteredActor {
    STATE.with(|state| {
        // What was there before need not come back: it is looked at only where the place is an
        // actor, and whoever makes it one sets both; an actor in whose frames another scheduler
        // runs has left its place by `enter`, which brings both back.
        state.blocker.set(Some(blocker));
        EnteredActor { place: state.place.replace(Place::Actor) }
    })
}

/// Restores the place on drop.
#[must_use = "the actor is left as soon as this is dropped"]
pub struct EnteredActor {
    place: Place,
}

impl Drop for EnteredActor {
    #[inline]
    fn drop(&mut self) {
        STATE.with(|state| state.place.set(self.place));
    }
}

/// Runs `f` with the way this thread's actor waits, if it is on the stack of one.
pub fn with_blocker<R>(f: impl FnOnce(Option<&dyn Blocker>) -> R) -> R {
    let blocker = STATE.with(|state| match state.place.get() {
        Place::Actor => state.blocker.get(),
        _ => None,
    });
    // SAFETY: this code runs on the actor's stack, for which `enter_actor` was promised that the
    // blocker is valid; `f` returns before the frames below it do.
    f(blocker.map(|blocker| unsafe { &*blocker }))
}

/// Runs `f`, which is async code, on an actor's stack: it must not block in turn. Budget and
/// identity stay those of the actor's task.
pub fn polling<R>(f: impl FnOnce() -> R) -> R {
    struct Back(Place);
    impl Drop for Back {
        fn drop(&mut self) {
            STATE.with(|state| state.place.set(self.0));
        }
    }
    let _back = Back(STATE.with(|state| state.place.replace(Place::Task)));
    f()
}

/// Notes what the code that is about to return `Pending` waits for, and where that was written, if
/// it is known. Of several notes of one poll the last one counts.
///
/// Call it whenever a poll finds that it has to wait, also if it left its waker before.
#[inline]
pub fn waits(kind: WaitKind, location: Option<&'static Location<'static>>) {
    STATE.with(|state| {
        state.wait.set(kind.code());
        state.wait_at.set(location);
    });
}

/// For schedulers: the last note since [`begin_poll`], as the [code](WaitKind::code) of the kind,
/// and the place. Code 0 means that there was none, and then the place means nothing.
#[inline]
pub fn noted() -> (u16, Option<&'static Location<'static>>) {
    STATE.with(|state| (state.wait.get(), state.wait_at.get()))
}

#[cfg(test)]
#[path = "tests/context.rs"]
mod tests;

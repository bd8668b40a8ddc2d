//! One poll of a task and what follows from it.

use std::any::Any;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll};

use raddle_base::blocks;
use raddle_base::context;
use raddle_base::hooks;
use raddle_base::list::Links;
use raddle_base::pointer::Link;
use raddle_base::shim::atomic::AtomicU32;
use raddle_base::shim::atomic::Ordering::Relaxed;
use raddle_base::shim::cell::UnsafeCell;

use crate::task::error::JoinError;
use crate::task::header::{Header, Meta, RawTask, Runnable, Schedule, Step, Vtable};
use crate::task::id::Id;
use crate::task::parked::Parked;
use crate::task::stage::StageCell;
use crate::task::state::{Completed, Idle, Start, State};
use crate::task::waker;

/// A task in one allocation.
#[repr(C)]
struct Task<F: Future, S: Schedule> {
    header: Header,
    stage: StageCell<F>,
    scheduler: PhantomData<fn(S)>,
}

impl<F: Future + 'static, S: Schedule> Task<F, S> {
    const VTABLE: &'static Vtable = &Vtable {
        run: run::<F, S>,
        take_output: take_output::<F, S>,
        drop_output: drop_output::<F, S>,
        dealloc: dealloc::<F, S>,
        schedule: schedule::<S>,
    };

    /// # Safety
    ///
    /// `raw` is a task of this very type.
    #[inline]
    unsafe fn stage<'a>(raw: RawTask) -> &'a StageCell<F> {
        // SAFETY: the type is right as promised; a stage is only shared, its content is a cell.
        unsafe { &(*raw.as_ptr().as_ptr().cast::<Self>()).stage }
    }
}

/// Makes a task with three references: run, live list, join handle.
///
/// # Safety
///
/// `scheduler` stays valid for `S` until the task has completed, and either `F` and its output
/// are `Send`, or the task is `pinned` to the worker `home` on whose thread this is called or the
/// future was made; that worker alone runs it.
pub(crate) unsafe fn allocate<F, S>(
    future: F,
    scheduler: *const (),
    pinned: bool,
    (home, shard): (u32, u32),
    name: Option<Box<Box<str>>>,
    meta: Meta,
) -> RawTask
where
    F: Future + 'static,
    S: Schedule,
{
    let task = blocks::take::<Task<F, S>>();
    let header = Header {
        state: State::new(pinned),
        next: Link::new(),
        vtable: Task::<F, S>::VTABLE,
        scheduler,
        home: AtomicU32::new(home),
        shard,
        id: Id::next(),
        links: Links::new(),
        site: meta.site,
        name,
        join_waker: UnsafeCell::new(None),
        parked: Parked::new(),
    };
    // Field by field, so that the future moves once, from the caller straight to its place.
    // SAFETY: the block is new, large enough and aligned for the task; all its fields with a size
    // are written.
    unsafe {
        (&raw mut (*task.as_ptr()).stage).write(StageCell::new(future));
        (&raw mut (*task.as_ptr()).header).write(header);
    }
    // The header is the first field of a `repr(C)` struct.
    RawTask::from_header(task.cast())
}

/// Bytes that a task with this future takes.
#[cfg(test)]
pub(crate) fn task_size<F: Future, S: Schedule>() -> usize {
    size_of::<Task<F, S>>()
}

/// Hands a woken task to its scheduler.
///
/// # Safety
///
/// As for `Schedule::schedule`.
unsafe fn schedule<S: Schedule>(scheduler: *const (), task: Runnable) {
    // SAFETY: forwarded from the caller of the vtable: the task has not completed.
    unsafe { S::schedule(scheduler, task) }
}

/// One poll, or the end of a cancelled task.
///
/// # Safety
///
/// The caller gives its run reference to a task of this very type.
unsafe fn run<F: Future + 'static, S: Schedule>(raw: RawTask, home: u32) -> Step {
    let header = raw.header();
    if header.state.start() == Start::Cancel {
        // SAFETY: the run reference and the claim are ours.
        unsafe { cancel::<F, S>(raw) };
        return Step::Done;
    }
    // SAFETY: the waker borrows the run reference, which outlives it here, and is not dropped.
    let waker = ManuallyDrop::new(unsafe { waker::borrowed(raw) });
    let mut cx = Context::from_waker(&waker);
    hooks::point(hooks::POLL);
    context::begin_poll(raw.as_data());
    // SAFETY: the claim is ours, the task is pinned on the heap.
    let poll = catch_unwind(AssertUnwindSafe(|| unsafe { Task::<F, S>::stage(raw).poll(&mut cx) }));
    let asked = context::end_poll();
    match poll {
        Ok(Poll::Pending) if asked.is_plain_yield() => {
            // SAFETY: the run reference is still ours and goes back into a queue.
            Step::Requeue(unsafe { Runnable::from_raw_task(raw) })
        }
        // SAFETY: the run reference is still ours.
        Ok(Poll::Pending) if asked.is_settled() => unsafe { settle::<S>(raw, asked) },
        Ok(Poll::Pending) => {
            // Where a wake will send it; only wakes of an idle task look.
            // Relaxed: `idle` publishes it with everything else.
            header.home.store(home, Relaxed);
            // SAFETY: not completed.
            header.parked.note(context::noted(), unsafe { S::tick(header.scheduler) });
            match header.state.idle() {
                Idle::Parked => Step::Done,
                // SAFETY: `Again` leaves the run reference with us.
                Idle::Again => Step::Requeue(unsafe { Runnable::from_raw_task(raw) }),
            }
        }
        Ok(Poll::Ready(output)) => {
            // SAFETY: the claim and the run reference are ours.
            unsafe { finish::<F, S>(raw, Ok(output)) };
            Step::Done
        }
        Err(payload) => {
            let error = JoinError::panicked(header.id, payload);
            // SAFETY: the claim and the run reference are ours.
            unsafe { finish::<F, S>(raw, Err(error)) };
            Step::Done
        }
    }
}

/// After a poll that ended pending, in which the task changed sides: the queue that the worker
/// has in mind for it may be the wrong one, so it is placed like a task that was woken.
///
/// # Safety
///
/// The caller gives its run reference to a task of the scheduler `S`.
#[cold]
unsafe fn settle<S: Schedule>(raw: RawTask, asked: context::Asked) -> Step {
    let header = raw.header();
    if !asked.is_yield() {
        // The home was written when it settled; a task that was released has no need of one.
        // SAFETY: not completed.
        header.parked.note(context::noted(), unsafe { S::tick(header.scheduler) });
        if header.state.idle() == Idle::Parked {
            return Step::Done;
        }
    }
    // SAFETY: not completed, and the run reference is still ours.
    unsafe { S::schedule(header.scheduler, Runnable::from_raw_task(raw)) };
    Step::Done
}

/// Drops the future of a claimed task and completes it as cancelled.
///
/// # Safety
///
/// The caller holds the claim and the run reference and gives both up.
unsafe fn cancel<F: Future + 'static, S: Schedule>(raw: RawTask) {
    let error = S::cancelled(raw.header().id);
    // SAFETY: forwarded: the claim and the run reference are the caller's.
    unsafe { finish::<F, S>(raw, Err(error)) };
}

/// Drops the future, stores the output, completes, wakes the joiner, gives up the references.
///
/// # Safety
///
/// The caller holds the claim and the run reference and gives both up.
unsafe fn finish<F: Future + 'static, S: Schedule>(
    raw: RawTask,
    output: Result<F::Output, JoinError>,
) {
    let header = raw.header();
    // SAFETY: the claim is the caller's.
    let stage = unsafe { Task::<F, S>::stage(raw) };
    // SAFETY: the claim gives exclusive access. A panicking destructor empties the stage too.
    let output = match guarded(|| unsafe { stage.clear() }) {
        None => output,
        // The future's destructor panicked: that is the task's panic, unless it had one before.
        Some(payload) => match output {
            Err(error) if error.is_panic() => {
                // SAFETY: not completed yet.
                unsafe { S::unhandled_panic(header.scheduler, raw, payload) };
                Err(error)
            }
            lost => {
                // The output goes with the panic; its destructor is contained as well.
                if let Some(second) = guarded(|| drop(lost)) {
                    // SAFETY: not completed yet.
                    unsafe { S::unhandled_panic(header.scheduler, raw, second) };
                }
                Err(JoinError::panicked(header.id, payload))
            }
        },
    };
    // SAFETY: the claim is still ours and the stage is empty.
    unsafe { stage.store(output) };
    // SAFETY: not completed yet, and the run reference is ours.
    let references = 1 + u64::from(unsafe { S::release(header.scheduler, raw) });
    match header.state.complete(references) {
        // The task may be gone by now.
        Completed::Released => {}
        Completed::WakeJoiner => {
            // SAFETY: COMPLETE and JOIN_WAKER are set: the cell is the completer's.
            let waker = header.join_waker.with_mut(|cell| unsafe { (*cell).take() });
            // A joiner's waker that panics is the joiner's affair; the task goes on to its end.
            let payload = waker.and_then(|joiner| {
                // SAFETY: as for `unhandled_panic` below.
                guarded(|| unsafe { S::wake_joiner(header.scheduler, joiner) })
            });
            std::mem::forget(guarded(|| drop(payload)));
            raw.drop_refs(references);
        }
        Completed::DropOutput => {
            // SAFETY: there is no join handle, so the output is the completer's.
            if let Some(payload) = unsafe { discard::<F, S>(raw) } {
                // SAFETY: the completing thread belongs to the runtime, which keeps the scheduler
                // alive beyond this call.
                unsafe { S::unhandled_panic(header.scheduler, raw, payload) };
            }
            raw.drop_refs(references);
        }
    }
}

/// Drops an output that nobody will read; gives back the panic that it was or that it caused.
///
/// # Safety
///
/// The right to the output of a task of this very type is the caller's.
unsafe fn discard<F: Future + 'static, S: Schedule>(raw: RawTask) -> Option<Box<dyn Any + Send>> {
    // SAFETY: the right to the output is the caller's.
    match unsafe { Task::<F, S>::stage(raw).take() }? {
        Err(error) => error.try_into_panic().ok(),
        Ok(output) => guarded(|| drop(output)),
    }
}

/// Runs foreign code and hands its panic back.
fn guarded(f: impl FnOnce()) -> Option<Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(f)).err()
}

/// Moves the output to `to`.
///
/// # Safety
///
/// As for `discard`; `to` is an `Option<Result<F::Output, JoinError>>`.
unsafe fn take_output<F: Future + 'static, S: Schedule>(raw: RawTask, to: *mut ()) {
    // SAFETY: the join handle has the right to the output and passes an option of its type.
    unsafe { *to.cast::<Option<Result<F::Output, JoinError>>>() = Task::<F, S>::stage(raw).take() };
}

/// Drops the output.
///
/// # Safety
///
/// As for `discard`.
unsafe fn drop_output<F: Future + 'static, S: Schedule>(raw: RawTask) {
    // SAFETY: the right to the output is the caller's.
    let Some(payload) = (unsafe { discard::<F, S>(raw) }) else { return };
    let data = raw.header().scheduler;
    if S::is_here(data) {
        // Nobody has read the panic, and nobody will.
        // SAFETY: this thread belongs to the runtime, which keeps the scheduler alive.
        unsafe { S::unhandled_panic(data, raw, payload) };
    } else {
        // The scheduler of a finished task may be gone; from here it cannot be told.
        std::mem::forget(guarded(|| drop(payload)));
    }
}

/// Frees the memory.
///
/// # Safety
///
/// The last reference to a task of this very type is gone.
unsafe fn dealloc<F: Future + 'static, S: Schedule>(raw: RawTask) {
    let task = raw.as_ptr().cast::<Task<F, S>>();
    // A task that never completed was abandoned: its future may not be dropped on this thread, so
    // its memory is kept. Complete tasks have an empty stage or an output nobody took.
    if raw.header().state.is_complete() {
        // SAFETY: made by `allocate`, and the last reference is gone. A panic of what is dropped
        // leaks the block.
        unsafe {
            task.drop_in_place();
            blocks::give(task);
        }
    }
}

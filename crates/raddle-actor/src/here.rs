//! What any code on a process' stack can do without the process' context at hand.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use raddle_base::clock::Instant;
use raddle_base::context::{self, Blocker, Place};
use raddle_runtime::{Handle, block_in_place};
use raddle_sync::{ManualResetEvent, Wait};

use crate::exit::ExitReason;
use crate::pid::Pid;
use crate::seat::{self, Seat};

/// The process on whose stack this is; `None` elsewhere.
pub fn current() -> Option<Pid> {
    seat::with_current(|seat| seat.map(Seat::pid))
}

/// Gives the other tasks of this worker a turn. On a plain thread it yields the thread.
///
/// # Panics
///
/// In an async task: await [`yield_now`](raddle_runtime::task::yield_now) there.
pub fn yield_now() {
    seat::with_current(|seat| match seat {
        Some(seat) => seat.yield_now(),
        None => {
            refuse("yield_now", "await `task::yield_now()`");
            thread::yield_now();
        }
    });
}

/// Spends one step of the process' budget, and gives the others a turn when it is used up: for
/// loops that compute. Some ten instructions while there is budget, and nothing elsewhere.
#[inline]
pub fn check() {
    context::spend();
    if !context::has_budget() {
        seat::with_current(|seat| {
            if let Some(seat) = seat {
                seat.yield_now();
            }
        });
    }
}

/// Parks the process for `time`; a plain thread sleeps.
///
/// # Panics
///
/// In an async task: await [`sleep`](raddle_runtime::time::sleep) there.
pub fn sleep(time: Duration) {
    seat::with_current(|seat| match seat {
        Some(seat) => {
            seat.block_on(Instant::now() + time, &mut |_| std::task::Poll::Pending);
        }
        None => {
            refuse("sleep", "await `time::sleep`");
            thread::sleep(time);
        }
    });
}

/// Ends the process on whose stack this is: it is unwound, and its destructors run.
///
/// # Panics
///
/// Where there is no process, and in a destructor of a process that unwinds already.
pub fn exit(reason: ExitReason) -> ! {
    seat::with_current(|seat| match seat {
        Some(seat) => seat.exit(reason),
        None => panic!("there is no process here that could exit"),
    })
}

/// Runs `f`, which may block, on the runtime's pool for blocking jobs, while the process is parked;
/// `f` may borrow from the process' stack. On a plain thread, and where the pool takes no job, it
/// runs in place.
///
/// The process is not ended while `f` runs: a kill waits for it.
///
/// # Panics
///
/// A panic of `f` is passed on. In an async task: use
/// [`spawn_blocking`](raddle_runtime::spawn_blocking) there.
pub fn blocking<T: Send, F: FnOnce() -> T + Send>(f: F) -> T {
    let runtime = seat::with_current(|seat| seat.and_then(|_| Handle::try_current()));
    let Some(runtime) = runtime else {
        refuse("blocking", "await `spawn_blocking`");
        return f();
    };
    let mut lent = Lent { f: Some(f), output: None };
    let job = Job { lent: Pointer(&raw mut lent), over: Over(Arc::new(ManualResetEvent::new())) };
    // Dropped before `lent`, also by an unwind: while the job has it, this frame stays.
    let back = Back(Arc::clone(&job.over.0));
    // SAFETY: the job uses `lent`, and what `f` borrows, before it drops its `over`, which `back`
    // waits for in this frame. That it is called `'static` is a lie for no longer than that.
    let job = unsafe { forget_lifetime(Box::new(move || job.run())) };
    runtime.spawn_blocking(job).detach();
    back.wait();
    drop(back);
    match (lent.output, lent.f) {
        (Some(Ok(output)), _) => output,
        (Some(Err(payload)), _) => resume_unwind(payload),
        // The pool took no job.
        (None, Some(f)) => block_in_place(f),
        (None, None) => unreachable!("a job was taken and left no output"),
    }
}

/// What a blocking job works on, in the frame of its process.
struct Lent<T, F> {
    f: Option<F>,
    output: Option<thread::Result<T>>,
}

struct Pointer<T>(*mut T);

// SAFETY: one thread at a time uses what it points at: the job's until it is over, then the
// process'. What crosses is `Send`, by the bounds of `blocking`.
unsafe impl<T> Send for Pointer<T> {}

struct Job<T, F> {
    lent: Pointer<Lent<T, F>>,
    over: Over,
}

impl<T, F: FnOnce() -> T> Job<T, F> {
    fn run(self) {
        let Job { lent, over } = self;
        // SAFETY: the frame waits for `over`, which is dropped last; nobody else uses it now.
        let lent = unsafe { &mut *lent.0 };
        if let Some(f) = lent.f.take() {
            lent.output = Some(catch_unwind(AssertUnwindSafe(f)));
        }
        drop(over);
    }
}

/// Tells on drop that the job will touch nothing any more: it ran, or it never will.
struct Over(Arc<ManualResetEvent>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// Whoever drops this knows that the job is over.
struct Back(Arc<ManualResetEvent>);

impl Back {
    /// Parks the process; left early only by an unwind, on whose way the drop waits again.
    fn wait(&self) {
        seat::with_current(|seat| match seat {
            Some(seat) => seat.shielded(|| self.0.wait().wait()),
            None => self.0.wait().wait(),
        });
    }
}

impl Drop for Back {
    fn drop(&mut self) {
        // On the way of an unwind the stack cannot be left: then the thread waits.
        if !self.0.is_set() {
            self.wait();
        }
    }
}

type BoxedJob<'a> = Box<dyn FnOnce() + Send + 'a>;

/// # Safety
///
/// The job is run or dropped before what it borrows ends.
unsafe fn forget_lifetime<'a>(job: BoxedJob<'a>) -> BoxedJob<'static> {
    // SAFETY: types that differ in a lifetime only; its end is the caller's care.
    unsafe { std::mem::transmute::<BoxedJob<'a>, BoxedJob<'static>>(job) }
}

#[track_caller]
fn refuse(what: &str, advice: &str) {
    assert!(
        context::place() != Place::Task,
        "actor::{what} was called in an async task, whose worker it would stop: {advice}"
    );
}

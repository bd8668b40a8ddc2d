//! Worker threads: how they begin, what they run, how they end.

use std::io;
use std::sync::Arc;

use raddle_base::clock::CpuClock;
use raddle_base::shim::atomic::Ordering::{Acquire, Relaxed};
use raddle_base::shim::thread::system;

use crate::blocking::job;
use crate::sched::births::{Birth, Midwife};
use crate::sched::shared::{Seat, Shared};
use crate::sched::shutdown;
use crate::sched::size;
use crate::sched::worker::Worker;

/// Starts the threads of workers `from..`, and waits until each has made its driver.
pub(crate) fn start_workers(shared: &Arc<Shared>, from: usize) -> io::Result<()> {
    let births = Midwife::new();
    for index in from..shared.config.workers {
        let seat = shared.seats.lock()[index].take();
        if let Some(seat) = seat {
            start(shared, index, seat, Some(births.announce()))?;
        }
    }
    births.wait()
}

/// Starts the thread of worker 0 of a runtime that is used without being run, once, and waits
/// until it has made its driver; not while it shuts down, when nothing is admitted any more.
#[cold]
#[track_caller]
pub(crate) fn start_first(shared: &Arc<Shared>) {
    if shared.phase.is_closing(Acquire) {
        return;
    }
    let started = shared.with_first(|seat| {
        // Under the lock, so that whoever else comes finds the worker with its driver.
        let Some(seat) = seat.take() else { return Ok(()) };
        let births = Midwife::new();
        start(shared, 0, seat, Some(births.announce()))?;
        births.wait()
    });
    if let Err(error) = started {
        panic!("worker 0 cannot be started: {error}");
    }
}

/// Starts the thread of worker `index`.
pub(crate) fn start(
    shared: &Arc<Shared>,
    index: usize,
    seat: Seat,
    birth: Option<Birth>,
) -> io::Result<()> {
    let theirs = shared.clone();
    let name = format!("{}-{index}", shared.config.name);
    shared.running.enter();
    let thread = system::Builder::new().name(name).spawn(move || {
        let shared = theirs.clone();
        // The last thing the thread does to the runtime, also after a panic.
        let _left = Left(theirs);
        match Worker::new(shared, index, seat) {
            Ok(worker) => {
                tell(birth, Ok(()));
                live(&worker);
            }
            Err(error) => tell(birth, Err(error)),
        }
    });
    match thread {
        Ok(thread) => {
            shared.threads.lock().push(thread);
            Ok(())
        }
        Err(error) => {
            shared.running.leave();
            Err(error)
        }
    }
}

fn tell(birth: Option<Birth>, result: io::Result<()>) {
    if let Some(birth) = birth {
        birth.tell(result);
    }
}

/// Counts its thread as gone when it is dropped.
pub(crate) struct Left(pub(crate) Arc<Shared>);

impl Drop for Left {
    fn drop(&mut self) {
        self.0.running.leave();
    }
}

/// A worker thread's life between the making and the end of its driver.
fn live(worker: &Worker) {
    let stand_in = worker.index.checked_sub(worker.shared.config.workers);
    live_around(worker, |worker| match stand_in {
        None => worker.run(),
        Some(rank) => run_stand_in(worker, rank),
    });
}

/// Sets the thread up for the worker, runs `body`, and ends the worker.
pub(crate) fn live_around(worker: &Worker, body: impl FnOnce(&Worker)) {
    let shared = &worker.shared;
    size::sharpen_timers();
    if let Some(cpu) = shared.config.cpus.get(worker.index % shared.config.cpus.len().max(1)) {
        // A processor that is not there leaves the thread unbound; the builder checked the rest.
        let _ = size::pin_to_cpu(*cpu);
    }
    hook(shared.config.on_thread_start.as_deref(), worker.index);
    worker.entered(|worker| {
        // Relaxed: a number; the monitor reads it of workers that are awake.
        worker.peer().cpu.store(CpuClock::own().to_bits(), Relaxed);
        // Born: until now it counted as dozing, so it cannot have been sent to search.
        let _ = shared.idle.awake(&worker.peer().sleep);
        shared.rest.worker_wakes();
        body(worker);
        shutdown::drain(worker);
    });
    hook(shared.config.on_thread_stop.as_deref(), worker.index);
}

/// Turns after which a busy stand-in looks after those it stands in for.
const RELIEVE_EVERY: u32 = 64;

/// The loop of the stand-in of this `rank`: a worker's while it is needed, see `stand_in`.
fn run_stand_in(worker: &Worker, rank: usize) {
    let (peer, shared) = (worker.peer(), &worker.shared);
    let doorbell = worker.driver().doorbell();
    // Acquire: pairs with the count's change by whoever goes away.
    let needed = || shared.absent.load(Acquire) > rank;
    let mut turns = 0u32;
    loop {
        if peer.duty.calls() && worker.heed(peer) {
            return;
        }
        worker.look_around(peer, doorbell, needed());
        turns = turns.wrapping_add(1);
        if turns.is_multiple_of(RELIEVE_EVERY) {
            worker.relieve(peer);
        }
        match worker.sides.next(peer) {
            Some(task) if needed() || task.header().state.is_pinned() => {
                worker.dispatch(peer, task)
            }
            Some(task) => {
                shared.injector.push(task);
                shared.notify_any();
            }
            None if needed() => worker.find(peer),
            None => worker.doze(peer, needed),
        }
    }
}

/// Tells a thread hook; a panic in it is contained, as one in a detached task is.
fn hook(hook: Option<&(dyn Fn(usize) + Send + Sync)>, index: usize) {
    if let Some(hook) = hook {
        job::contain(|| hook(index));
    }
}

//! The trial, and its repetition.

use super::board::Board;
use super::parts;
use super::shape::{Backlog, GAP, Shape};
use super::summary::Summary;
use super::window::Window;
use crate::hosted::Service;
use crate::machine;
use crate::outcome::Verdict;
use crate::stats::Random;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Before a trial, so that what the last one left to the kernel is over. A worker is then also busy
/// for less than 19/20 of the time, which is what the kernel grants a real-time process.
const REST: Duration = Duration::from_millis(2);
/// After the last wait was armed, so that the workers have gone to sleep.
const SETTLE: Duration = Duration::from_micros(300);
/// A shutdown that takes longer is a mismatch.
const SHUTDOWN: Duration = Duration::from_secs(2);

/// All trials of a case.
pub(super) fn all<S: Service>(shape: Shape) -> Verdict {
    let mut summary = Summary::default();
    let mut random = Random::new(0x5E4);
    let split = S::WORKERS == 1 && matches!(shape.backlog, Backlog::Yielders(..));
    let places =
        Places { split: split && thread::available_parallelism().is_ok_and(|n| n.get() > 1) };
    for trial in 0..shape.trials {
        one::<S>(&shape, trial, &places, &mut random, &mut summary)
            .map_err(|error| format!("trial {trial}: {error}"))?;
    }
    summary.outcome(shape.events != 0)
}

/// Where the threads run: with one worker, the runtime on CPU 0 and the trigger on CPU 1.
struct Places {
    split: bool,
}

impl Places {
    fn runtime(&self) {
        if self.split {
            machine::bind_to_cpus(&[0]);
        }
    }

    fn trigger(&self) {
        if self.split {
            machine::bind_to_cpus(&[1]);
        }
    }
}

fn one<S: Service>(
    shape: &Shape,
    trial: u64,
    places: &Places,
    random: &mut Random,
    summary: &mut Summary,
) -> Result<(), String> {
    let backlog = match shape.backlog {
        Backlog::Yielders(tasks, _) => tasks,
        Backlog::Stuck { but } => S::WORKERS - but,
    };
    let board = Arc::new(Board::new(shape.events, backlog));
    thread::sleep(REST);
    places.runtime();
    let host = S::host();
    places.trigger();
    let mut trigger = Trigger::<S>::arm(&host, &board, shape.events, trial)?;
    thread::sleep(SETTLE);
    keep_busy::<S>(&host, &board, shape, backlog);
    board.running.wait_for("the backlog runs", backlog)?;
    thread::sleep(phase(shape, random));
    let window = Window::open::<S>(&host, &board);
    trigger.all(&host, &board, shape.events)?;
    thread::sleep((window.began + shape.length).saturating_duration_since(Instant::now()));
    summary.note_yields(window.close::<S>(&host, &board));
    board.stop();
    board.done.wait_for("events seen and tasks ended", 3 * shape.events + backlog)?;
    summary.note(&board, |event| called(event, trial))?;
    let stopping = Instant::now();
    S::stop(host)?;
    if stopping.elapsed() > SHUTDOWN {
        return Err(format!("the shutdown took {:?}", stopping.elapsed()));
    }
    Ok(())
}

fn keep_busy<S: Service>(host: &S::Host, board: &Arc<Board>, shape: &Shape, backlog: usize) {
    for task in 0..backlog {
        let board = Arc::clone(board);
        match shape.backlog {
            Backlog::Yielders(_, body) => {
                S::submit(host, parts::yielder::<S>(board, task, body));
            }
            Backlog::Stuck { .. } => S::submit(host, parts::stuck(board, backlog, shape.length)),
        }
    }
}

/// A random part of what the backlog repeats.
fn phase(shape: &Shape, random: &mut Random) -> Duration {
    let body = match shape.backlog {
        Backlog::Yielders(_, body) => body,
        Backlog::Stuck { .. } => Duration::ZERO,
    };
    let most = (2 * body).max(Duration::from_micros(200));
    Duration::from_nanos(random.below(most.as_nanos() as usize) as u64)
}

/// Whether an event of another thread is a call to a task that waits, or else a new task.
fn called(event: usize, trial: u64) -> bool {
    (event as u64 + trial).is_multiple_of(2)
}

/// What makes the events happen.
struct Trigger<S: Service> {
    event: OwnedFd,
    /// For each event that is a call.
    calls: Vec<Option<S::OneTx>>,
}

impl<S: Service> Trigger<S> {
    /// Starts the tasks that wait, and waits until they do.
    fn arm(
        host: &S::Host,
        board: &Arc<Board>,
        events: usize,
        trial: u64,
    ) -> Result<Trigger<S>, String> {
        let event = eventfd().map_err(|error| format!("eventfd: {error}"))?;
        let mut calls = Vec::new();
        for index in 0..events {
            calls.push(called(index, trial).then(|| {
                let (tx, rx) = S::oneshot();
                S::submit(host, parts::called::<S>(Arc::clone(board), index, rx));
                tx
            }));
        }
        let mut waits = calls.iter().flatten().count();
        if events != 0 {
            let read = event.try_clone().map_err(|error| format!("eventfd: {error}"))?;
            S::submit(host, parts::reader::<S>(Arc::clone(board), read, events));
            waits += 1;
        }
        board.armed.wait_for("waits", waits)?;
        Ok(Trigger { event, calls })
    }

    /// Makes all events happen, one pair every `GAP`.
    fn all(&mut self, host: &S::Host, board: &Arc<Board>, events: usize) -> Result<(), String> {
        let began = Instant::now();
        for event in 0..events {
            let at = began + GAP * event as u32;
            thread::sleep(at.saturating_duration_since(Instant::now()));
            self.pull(host, board, event)?;
        }
        Ok(())
    }

    fn pull(&mut self, host: &S::Host, board: &Arc<Board>, event: usize) -> Result<(), String> {
        board.io.due(event, board.now());
        let one = 1_u64.to_ne_bytes();
        // SAFETY: eight bytes are readable for their length.
        let written =
            unsafe { libc::write(self.event.as_raw_fd(), one.as_ptr().cast(), one.len()) };
        if written != 8 {
            return Err(format!("eventfd: {}", io::Error::last_os_error()));
        }
        match self.calls[event].take() {
            Some(tx) => {
                board.remote.due(event, board.now());
                S::send_one(tx, event as u64);
            }
            None => {
                let task = parts::submitted::<S>(Arc::clone(board), event);
                board.remote.due(event, board.now());
                S::submit(host, task);
            }
        }
        Ok(())
    }
}

fn eventfd() -> io::Result<OwnedFd> {
    // SAFETY: the descriptor returned is new and owned by nobody else.
    unsafe {
        match libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) {
            -1 => Err(io::Error::last_os_error()),
            fd => Ok(OwnedFd::from_raw_fd(fd)),
        }
    }
}

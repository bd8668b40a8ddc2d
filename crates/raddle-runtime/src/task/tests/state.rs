//! Every verb of the state word from every state it can meet, and the races under the model.

use std::sync::atomic::AtomicUsize as Plain;

use raddle_base::shim::cell::UnsafeCell;
use raddle_base::shim::{Arc, model, thread};

use super::*;

fn word(bits: u64, refs: u64) -> State {
    State(AtomicU64::new(bits + refs * REF_ONE))
}

fn bits(state: &State) -> (u64, u64) {
    let now = state.0.load(Relaxed);
    (now % REF_ONE, now / REF_ONE)
}

#[cfg(not(loom))]
mod tables {
    use super::*;

    #[test]
    fn a_new_task_is_claimed_and_runs_without_a_write() {
        let state = State::new(false);
        assert_eq!(bits(&state), (RUNNING | JOIN_INTEREST, 3));
        assert_eq!(state.start(), Start::Poll);
        assert_eq!(bits(&state), (RUNNING | JOIN_INTEREST, 3));
        assert!(State::new(true).is_pinned());
    }

    #[test]
    fn start_claims_and_clears_the_notification() {
        for (before, after, start) in [
            (RUNNING, RUNNING, Start::Poll),
            (NOTIFIED, RUNNING, Start::Poll),
            (RUNNING | NOTIFIED, RUNNING, Start::Poll),
            (NOTIFIED | CANCELLED, RUNNING | CANCELLED, Start::Cancel),
            (RUNNING | CANCELLED, RUNNING | CANCELLED, Start::Cancel),
        ] {
            let state = word(before, 2);
            assert_eq!(state.start(), start, "{before:b}");
            assert_eq!(bits(&state), (after, 2), "{before:b}");
        }
    }

    #[test]
    fn idle_parks_or_goes_again() {
        let state = word(RUNNING, 2);
        assert_eq!(state.idle(), Idle::Parked);
        assert_eq!(bits(&state), (0, 1));
        let state = word(RUNNING | NOTIFIED, 2);
        assert_eq!(state.idle(), Idle::Again);
        assert_eq!(bits(&state), (RUNNING, 2));
    }

    #[test]
    fn wakes_schedule_once() {
        for (before, after, refs, wake) in [
            (0, NOTIFIED, 3, Wake::Schedule),
            (NOTIFIED, NOTIFIED, 2, Wake::Nothing),
            (RUNNING, RUNNING | NOTIFIED, 2, Wake::Nothing),
            (COMPLETE, COMPLETE, 2, Wake::Nothing),
        ] {
            let state = word(before, 2);
            assert_eq!(state.wake_by_ref(), wake, "{before:b}");
            assert_eq!(bits(&state), (after, refs), "{before:b}");
        }
        for (before, refs, after, left, wake) in [
            (0, 2, NOTIFIED, 2, Wake::Schedule),
            (NOTIFIED, 2, NOTIFIED, 1, Wake::Nothing),
            (RUNNING, 2, RUNNING | NOTIFIED, 1, Wake::Nothing),
            (COMPLETE, 2, COMPLETE, 1, Wake::Nothing),
            (COMPLETE, 1, COMPLETE, 0, Wake::Dealloc),
        ] {
            let state = word(before, refs);
            assert_eq!(state.wake_by_val(), wake, "{before:b}");
            assert_eq!(bits(&state), (after, left), "{before:b}");
        }
    }

    #[test]
    fn abort_and_claim_from_every_state() {
        for (before, after, refs, wake) in [
            (0, NOTIFIED | CANCELLED, 3, Wake::Schedule),
            (NOTIFIED, NOTIFIED | CANCELLED, 2, Wake::Nothing),
            (RUNNING, RUNNING | NOTIFIED | CANCELLED, 2, Wake::Nothing),
            (COMPLETE, COMPLETE, 2, Wake::Nothing),
        ] {
            let state = word(before, 2);
            assert_eq!(state.abort(), wake, "{before:b}");
            assert_eq!(bits(&state), (after, refs), "{before:b}");
            assert_eq!(state.abort(), Wake::Nothing, "{before:b}");
        }
        for (before, after, refs, claimed) in [
            (0, RUNNING | CANCELLED, 3, true),
            (CANCELLED, RUNNING | CANCELLED, 3, true),
            (NOTIFIED, NOTIFIED | CANCELLED, 2, false),
            (RUNNING, RUNNING | NOTIFIED | CANCELLED, 2, false),
            (COMPLETE, COMPLETE, 2, false),
        ] {
            let state = word(before, 2);
            assert_eq!(state.claim_to_cancel(), claimed, "{before:b}");
            assert_eq!(bits(&state), (after, refs), "{before:b}");
        }
    }

    #[test]
    fn completion_tells_what_is_owed() {
        for (interest, completed, left) in [
            (0, Completed::DropOutput, 3),
            (JOIN_INTEREST, Completed::Released, 1),
            (JOIN_INTEREST | JOIN_WAKER, Completed::WakeJoiner, 3),
        ] {
            let state = word(RUNNING | interest, 3);
            assert_eq!(state.complete(2), completed);
            assert!(state.is_complete());
            assert_eq!(bits(&state), (COMPLETE | interest, left));
        }
    }

    #[test]
    fn a_dropped_handle_tells_what_it_owes() {
        for (before, drop_output, drop_waker) in [
            (JOIN_INTEREST, false, false),
            (JOIN_INTEREST | JOIN_WAKER, false, true),
            (JOIN_INTEREST | COMPLETE, true, false),
            (JOIN_INTEREST | JOIN_WAKER | COMPLETE, true, false),
        ] {
            let state = word(before, 1);
            assert_eq!(state.unjoin(), Unjoined { drop_output, drop_waker }, "{before:b}");
            assert!(state.ref_dec(1));
        }
        let state = State::new(true);
        assert_eq!(state.unjoin_fast(), Fast::Detached);
        assert_eq!(bits(&state), (RUNNING | PINNED, 2));
        assert_eq!(word(RUNNING | JOIN_INTEREST, 2).unjoin_fast(), Fast::Slow);
        let state = word(COMPLETE | JOIN_INTEREST, 2);
        assert_eq!(state.unjoin_fast(), Fast::Complete);
        assert!(!state.unjoin_complete());
        assert_eq!(bits(&state), (COMPLETE, 1));
        assert!(word(COMPLETE | JOIN_INTEREST, 1).unjoin_complete());
    }
}

/// A task reduced to its word, a payload that only the claimant touches, and a count of queues.
struct Model {
    state: State,
    payload: UnsafeCell<u32>,
    queued: Plain,
}

// SAFETY: the payload is touched under the claim only; that this excludes is what models check.
unsafe impl Sync for Model {}
// SAFETY: as above.
unsafe impl Send for Model {}

impl Model {
    fn idle() -> Arc<Model> {
        Arc::new(Model {
            state: word(JOIN_INTEREST, 3),
            payload: UnsafeCell::new(0),
            queued: Plain::new(0),
        })
    }

    /// One poll by the holder of the run reference; true if it must be queued again.
    fn poll(&self) -> bool {
        let _ = self.state.start();
        // SAFETY: under the claim.
        self.payload.with_mut(|p| unsafe { *p += 1 });
        self.state.idle() == Idle::Again
    }

    fn wake_and_run(&self) {
        if self.state.wake_by_ref() == Wake::Schedule {
            self.queued.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            while self.poll() {}
        }
    }
}

#[test]
fn model_two_wakes_never_poll_at_the_same_time() {
    model::check(|| {
        let task = Model::idle();
        let other = task.clone();
        let thread = thread::spawn(move || other.wake_and_run());
        task.wake_and_run();
        thread.join().unwrap();
        assert_eq!(bits(&task.state), (JOIN_INTEREST, 3));
        // SAFETY: alone again.
        let polls = task.payload.with(|p| unsafe { *p });
        assert!((1..=2).contains(&polls));
    });
}

/// What a waker published before its wake is seen by the poll that is owed for it.
#[test]
fn model_a_wake_is_never_lost() {
    model::check(|| {
        let task = Model::idle();
        let ready = Arc::new(AtomicU64::new(0));
        let (other, flag) = (task.clone(), ready.clone());
        let thread = thread::spawn(move || {
            // Relaxed: only the task's word may order this.
            flag.store(1, Relaxed);
            other.state.wake_by_ref() == Wake::Schedule
        });
        let mut seen = false;
        let mut poll = || {
            let _ = task.state.start();
            seen |= ready.load(Relaxed) == 1;
            task.state.idle() == Idle::Again
        };
        if task.state.wake_by_ref() == Wake::Schedule {
            while poll() {}
        }
        if thread.join().unwrap() {
            while poll() {}
        }
        assert!(seen, "the last poll did not see what the wake published");
    });
}

/// Completion and the handle's exchange of its waker: exactly one of them owns the cell, and the
/// handle either gets the output or is woken.
#[test]
fn model_completion_meets_the_joiner() {
    model::check(|| {
        let task = Arc::new(Model {
            state: word(RUNNING | JOIN_INTEREST, 2),
            payload: UnsafeCell::new(0),
            queued: Plain::new(0),
        });
        let cell = Arc::new(Model {
            state: word(0, 0),
            payload: UnsafeCell::new(0),
            queued: Plain::new(0),
        });
        let (theirs, their_cell) = (task.clone(), cell.clone());
        let completer = thread::spawn(move || {
            // SAFETY: under the claim: the output.
            theirs.payload.with_mut(|p| unsafe { *p = 42 });
            let woken = theirs.state.complete(1) == Completed::WakeJoiner;
            if woken {
                // SAFETY: COMPLETE and JOIN_WAKER: the cell is the completer's.
                assert_eq!(their_cell.payload.with(|p| unsafe { *p }), 7);
            }
            woken
        });
        // SAFETY: JOIN_WAKER is clear: the cell is the handle's.
        cell.payload.with_mut(|p| unsafe { *p = 7 });
        let mut waits = task.state.publish_join_waker();
        if waits {
            waits = task.state.retract_join_waker();
            if waits {
                // SAFETY: taken back before completion.
                cell.payload.with_mut(|p| unsafe { *p = 7 });
                waits = task.state.publish_join_waker();
            }
        }
        if !waits {
            assert!(task.state.is_complete());
            // SAFETY: complete: the output is the handle's.
            assert_eq!(task.payload.with(|p| unsafe { *p }), 42);
        }
        let woken = completer.join().unwrap();
        assert!(woken || !waits, "the handle waits and nobody woke it");
    });
}

/// An abort and a poll: the future is dropped exactly once, by the one who has the claim.
#[test]
fn model_abort_meets_a_poll() {
    model::check(|| {
        let task = Arc::new(Model {
            state: word(RUNNING | JOIN_INTEREST, 3),
            payload: UnsafeCell::new(0),
            queued: Plain::new(0),
        });
        let other = task.clone();
        let run = |task: &Model| loop {
            if task.state.start() == Start::Cancel {
                // SAFETY: under the claim: the future is dropped.
                task.payload.with_mut(|p| unsafe { *p += 1 });
                let _ = task.state.complete(1);
                return;
            }
            if task.state.idle() == Idle::Parked {
                return;
            }
        };
        let aborter = thread::spawn(move || {
            if other.state.abort() == Wake::Schedule {
                run(&other);
            }
        });
        run(&task);
        aborter.join().unwrap();
        assert!(task.state.is_complete());
        // SAFETY: alone again.
        assert_eq!(task.payload.with(|p| unsafe { *p }), 1);
    });
}

/// The last reference frees, and sees everything that others did.
#[test]
fn model_the_last_reference_sees_all_writes() {
    model::check(|| {
        let task = Arc::new(Model {
            state: word(COMPLETE, 2),
            payload: UnsafeCell::new(0),
            queued: Plain::new(0),
        });
        let other = task.clone();
        let thread = thread::spawn(move || {
            // SAFETY: each side reads while it has a reference.
            other.payload.with(|p| unsafe { *p });
            if other.state.ref_dec(1) {
                // SAFETY: the last one.
                other.payload.with_mut(|p| unsafe { *p = 1 });
            }
        });
        // SAFETY: as above.
        task.payload.with(|p| unsafe { *p });
        if task.state.ref_dec(1) {
            // SAFETY: the last one.
            task.payload.with_mut(|p| unsafe { *p = 1 });
        }
        thread.join().unwrap();
    });
}

/// A task with references for its run, a waker and its handle, and what each side then does.
struct Ending(Arc<Model>);

impl Ending {
    fn touch(&self) {
        // SAFETY: whoever calls this has the right to the output, or the last reference.
        self.0.payload.with_mut(|p| unsafe { *p += 1 });
    }

    /// The end of the future, then of a waker.
    fn complete(&self) {
        self.touch();
        if self.0.state.complete(1) == Completed::DropOutput {
            self.touch();
            assert!(!self.0.state.ref_dec(1), "the waker has one more");
        }
        if self.0.state.ref_dec(1) {
            self.touch();
        }
    }

    /// The end of the handle.
    fn unjoin(&self) {
        match self.0.state.unjoin_fast() {
            // The word is that of a new task: nothing is owed, the reference is gone.
            Fast::Detached => {}
            Fast::Complete => {
                self.touch();
                if self.0.state.unjoin_complete() {
                    self.touch();
                }
            }
            Fast::Slow => {
                if self.0.state.unjoin().drop_output {
                    self.touch();
                }
                if self.0.state.ref_dec(1) {
                    self.touch();
                }
            }
        }
    }
}

/// A handle that goes while its task ends: the output is dropped once, by the one who has it, and
/// the last reference sees everything. In both roles, because the model tries other orders only
/// against the last access to a word.
#[test]
fn model_a_handle_is_dropped_while_its_task_ends() {
    for swapped in [false, true] {
        model::check(move || {
            let task = Arc::new(Model {
                state: word(RUNNING | JOIN_INTEREST, 3),
                payload: UnsafeCell::new(0),
                queued: Plain::new(0),
            });
            let (ours, theirs) = (Ending(task.clone()), Ending(task.clone()));
            if swapped {
                let other = thread::spawn(move || theirs.unjoin());
                ours.complete();
                other.join().unwrap();
            } else {
                let other = thread::spawn(move || theirs.complete());
                ours.unjoin();
                other.join().unwrap();
            }
            // Written by the future, dropped once, freed once.
            // SAFETY: alone again.
            assert_eq!(task.payload.with(|p| unsafe { *p }), 3);
        });
    }
}

/// A task settles in a poll while another thread wakes it and a third claims it for the end:
/// whoever gets it after the poll sees that it is pinned, and to whom.
#[test]
fn model_whoever_gets_a_settled_task_sees_its_home() {
    model::check(|| {
        let task = Arc::new(Model {
            state: word(RUNNING | JOIN_INTEREST, 4),
            payload: UnsafeCell::new(0),
            queued: Plain::new(0),
        });
        let home = Arc::new(AtomicU64::new(0));
        let seen = |task: &Model, home: &AtomicU64| {
            assert!(task.state.is_pinned());
            // Relaxed: only the task's word may order this.
            assert_eq!(home.load(Relaxed), 7);
        };
        let (other, other_home) = (task.clone(), home.clone());
        let waker = thread::spawn(move || {
            if other.state.wake_by_ref() == Wake::Schedule {
                seen(&other, &other_home);
            }
        });
        let (other, other_home) = (task.clone(), home.clone());
        let closer = thread::spawn(move || {
            if other.state.claim_to_cancel() {
                seen(&other, &other_home);
            }
        });
        assert_eq!(task.state.start(), Start::Poll);
        // Relaxed: as in `settle`.
        home.store(7, Relaxed);
        task.state.pin();
        if task.state.idle() == Idle::Again {
            seen(&task, &home);
        }
        waker.join().unwrap();
        closer.join().unwrap();
    });
}

//! The word by itself, and under the model against the sleep protocol.

use raddle_base::shim::atomic::AtomicUsize;
use raddle_base::shim::{Arc, model, thread};

use super::*;
use crate::sched::idle::{Awake, Idle, SleepWord};

#[test]
fn each_change_from_present_is_told_once() {
    model::check(|| {
        let duty = Duty::new();
        assert!(duty.calls());
        assert!(!duty.heed());
        assert!(!duty.calls());
        assert!(duty.mark_stuck());
        assert!(!duty.mark_stuck());
        assert!(duty.is_stuck() && duty.is_absent() && duty.calls());
        assert_eq!(duty.leave(), Before::Absent);
        assert!(!duty.take_back());
        assert_eq!(duty.leave(), Before::Absent);
        duty.come_back();
        assert!(!duty.is_absent());
        assert_eq!(duty.leave(), Before::Present);
        assert!(!duty.mark_stuck());
        duty.come_back();
        assert!(duty.mark_stuck() && duty.heed());
        assert!(duty.mark_stuck() && duty.take_back());
        assert!(!duty.heed());
    });
}

#[test]
fn a_call_outlives_changes_of_the_state() {
    model::check(|| {
        let duty = Duty::new();
        duty.heed();
        duty.call();
        assert!(duty.mark_stuck() && duty.take_back());
        assert!(duty.calls(), "the flag was lost");
        assert!(!duty.heed());
    });
}

/// A worker that goes to sleep while the monitor takes it for stuck.
struct Model {
    idle: Idle,
    sleep: SleepWord,
    duty: Duty,
    absent: AtomicUsize,
}

fn worker(model: &Model) {
    model.idle.fall_asleep(&model.sleep, false);
    if model.duty.is_stuck() {
        let Awake::Own = model.idle.awake(&model.sleep) else { unreachable!() };
        if model.duty.heed() {
            // Relaxed: the count is looked at after both have ended.
            model.absent.fetch_sub(1, Relaxed);
        }
    }
}

fn monitor(model: &Model) {
    if model.duty.mark_stuck() {
        // Relaxed: as above.
        model.absent.fetch_add(1, Relaxed);
        model.idle.published();
        if !model.sleep.is_awake() && model.duty.take_back() {
            // Relaxed: as above.
            model.absent.fetch_sub(1, Relaxed);
        }
    }
}

#[test]
fn model_nobody_sleeps_while_stuck() {
    model::check(|| {
        let duty = Duty::new();
        duty.heed();
        let model = Arc::new(Model {
            idle: Idle::new(),
            sleep: SleepWord::new(),
            duty,
            absent: AtomicUsize::new(0),
        });
        let theirs = model.clone();
        let owner = thread::spawn(move || worker(&theirs));
        let theirs = model.clone();
        let marker = thread::spawn(move || monitor(&theirs));
        owner.join().unwrap();
        marker.join().unwrap();
        let stuck = model.duty.is_stuck();
        assert_eq!(model.absent.load(Relaxed), usize::from(stuck));
        assert!(!stuck || model.sleep.is_awake(), "asleep, and taken for stuck");
    });
}

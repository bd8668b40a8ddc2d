//! An armed point holds threads until it is let go; all others let them pass.

use super::*;
use std::thread::{self, JoinHandle};

fn named<T: Send + 'static>(name: &str, f: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    thread::Builder::new().name(name.to_owned()).spawn(f).unwrap()
}

#[test]
fn a_point_holds_threads_while_it_is_armed() {
    const { assert!(ENABLED) };
    point("nobody armed this");
    let pause = arm("here");
    let threads: Vec<_> = (0..2)
        .map(|n| {
            thread::spawn(move || {
                point("elsewhere");
                point("here");
                n
            })
        })
        .collect();
    pause.wait_for(2);
    assert!(threads.iter().all(|thread| !thread.is_finished()));
    drop(pause);
    let ended: Vec<i32> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(ended, [0, 1]);
    point("here");
}

#[test]
fn a_point_armed_for_one_thread_lets_others_pass() {
    let pause = arm_on("for one", "the one");
    named("another", || point("for one")).join().unwrap();
    let held = named("the one", || point("for one"));
    pause.wait_for(1);
    assert!(!held.is_finished());
    drop(pause);
    held.join().unwrap();
}

#[test]
fn a_recording_keeps_the_order() {
    let recording = record("recorded");
    named("recorded", || ["a", "b", "a"].into_iter().for_each(point)).join().unwrap();
    named("not recorded", || point("c")).join().unwrap();
    assert_eq!(recording.take(), ["a", "b", "a"]);
    assert!(recording.take().is_empty());
}

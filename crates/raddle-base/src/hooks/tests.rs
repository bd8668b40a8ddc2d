//! An armed point holds threads until it is let go; all others let them pass.

use super::*;
use std::thread;

#[test]
fn a_point_holds_threads_while_it_is_armed() {
    assert!(ENABLED);
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

//! A forked child of a process with a driver gets clear errors, and the parent is unharmed.
//!
//! In a file of its own, and one test at a time, because each forks: a child must not inherit a
//! lock that another test holds at that moment.

mod common;

use common::*;
use raddle_driver::Config;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Held by each test.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn a_forked_child_gets_errors_and_the_parent_goes_on() {
    let _alone = alone();
    on_each(|world| {
        let (source, mut peer) = tcp_pair();
        world.block_on(async move {
            assert!(once(source.read(&mut [0; 1])).await.is_none());
            let (fresh, _other) = std_pair();
            let fresh = stream(fresh);
            // SAFETY: the child does no more than try I/O on memory of its own, and exits.
            let child = unsafe { libc::fork() };
            if child == 0 {
                let refused = once(fresh.read(&mut [0; 1])).await;
                let clear = matches!(
                    &refused,
                    Some(Err(error)) if error.to_string().contains("fork")
                );
                // SAFETY: ends the child without running the parent's destructors.
                unsafe { libc::_exit(if clear { 0 } else { 1 }) };
            }
            let mut status = 0;
            // SAFETY: the child made above.
            unsafe { libc::waitpid(child, &raw mut status, 0) };
            assert_eq!(status, 0, "the child was refused with a clear error");
            peer.write_all(b"on").unwrap();
            assert_eq!(read_exact(&source, 2).await, b"on");
        });
    });
}

#[test]
fn parking_in_a_forked_child_panics_with_advice() {
    let _alone = alone();
    on_each(|world| {
        // SAFETY: the child parks, which must panic, and exits.
        let child = unsafe { libc::fork() };
        if child == 0 {
            std::panic::set_hook(Box::new(|_| {}));
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                world.driver.park(None);
            }));
            // SAFETY: ends the child without running the parent's destructors.
            unsafe { libc::_exit(if caught.is_err() { 0 } else { 1 }) };
        }
        let mut status = 0;
        // SAFETY: the child made above.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!(status, 0);
    });
}

#[test]
fn a_forked_child_may_make_a_driver_of_its_own() {
    let _alone = alone();
    on_each(|world| {
        let backend = world.driver.backend();
        // SAFETY: the child uses what it makes itself, and exits. No other test runs.
        let child = unsafe { libc::fork() };
        if child == 0 {
            std::panic::set_hook(Box::new(|_| {}));
            let fine = std::panic::catch_unwind(|| {
                let own = World::new(&Config::new(backend, Arc::new(Threads)));
                let (source, mut peer) = tcp_pair();
                peer.write_all(b"own").unwrap();
                own.block_on(async move { read_exact(&source, 3).await }) == b"own"
            });
            // SAFETY: ends the child without running the parent's destructors.
            unsafe { libc::_exit(if matches!(fine, Ok(true)) { 0 } else { 1 }) };
        }
        let mut status = 0;
        // SAFETY: the child made above.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!(status, 0);
    });
}

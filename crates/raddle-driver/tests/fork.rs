//! A forked child of a process with a driver gets clear errors, and the parent is unharmed.
//!
//! Alone in its process, because it forks.

mod common;

use common::*;
use std::io::Write;

#[test]
fn a_forked_child_gets_errors_and_the_parent_goes_on() {
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
                    Some(Err(error)) if error.to_string().contains("forked")
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

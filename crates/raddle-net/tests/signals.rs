//! Signals: several listeners, listeners on two runtimes, masks of children.
//!
//! Signals are the process's, so all of this is one test.

mod support;

use raddle::Runtime;
use raddle_net::signal::{SignalKind, ctrl_c, signal};
use std::io::ErrorKind;
use std::process::Command;
use support::{backends, open_descriptors, polled, watched};

fn raise(number: i32) {
    // SAFETY: sends a signal to this thread.
    assert_eq!(unsafe { libc::raise(number) }, 0);
}

async fn several_listeners() {
    // Each is told, whether by the function or by a listener of its own, once for one signal.
    let mut waiting: Vec<_> = (0..5).map(|_| Box::pin(ctrl_c())).collect();
    for future in &mut waiting {
        assert!(polled(future.as_mut(), 2).await.is_none());
    }
    let mut listener = signal(SignalKind::interrupt()).unwrap();
    let mut other = signal(SignalKind::user_defined1()).unwrap();
    raise(libc::SIGINT);
    for future in waiting {
        future.await.unwrap();
    }
    listener.recv().await.unwrap();
    assert!(polled(listener.recv(), 3).await.is_none(), "once for one signal");
    assert!(polled(other.recv(), 3).await.is_none(), "not for another signal");
    // Kept while nobody waits, several as one.
    for _ in 0..10 {
        raise(libc::SIGUSR1);
    }
    other.recv().await.unwrap();
    assert!(polled(other.recv(), 3).await.is_none());
    // From another thread, with tasks that wait.
    let task = raddle::spawn(async { ctrl_c().await });
    while !task.is_finished() {
        std::thread::spawn(|| raise(libc::SIGINT)).join().unwrap();
        raddle::task::yield_now().await;
    }
    task.await.unwrap().unwrap();
    // A child that was forked off and gets a signal wakes nobody here.
    // SAFETY: the child makes two calls that are allowed in a child of a process with threads.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::raise(libc::SIGUSR1);
            libc::_exit(7);
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
        assert_eq!(libc::WEXITSTATUS(status), 7, "the handler is there, and does nothing");
    }
    assert!(polled(other.recv(), 3).await.is_none());
    // A new listener knows nothing of what came before it.
    drop(listener);
    let mut fresh = signal(SignalKind::interrupt()).unwrap();
    assert!(polled(fresh.recv(), 3).await.is_none());
    for never in [libc::SIGKILL, libc::SIGSTOP, libc::SIGSEGV, 0, -1, 1000] {
        let error = signal(SignalKind::from_raw(never)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{never}");
    }
}

/// What a started program says of its signal mask and of ignored and caught signals.
fn masks_of_a_child() -> String {
    let output = Command::new("cat").arg("/proc/self/status").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text
        .lines()
        .filter(|line| ["SigBlk", "SigIgn", "SigCgt"].iter().any(|field| line.starts_with(field)));
    lines.collect::<Vec<_>>().join(", ")
}

#[test]
fn signals() {
    // A shell that starts this in the background ignores the interrupt, which a listener ends.
    // SAFETY: sets the default action; nothing listens yet.
    unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
    let before = masks_of_a_child();
    let mut descriptors = Vec::new();
    for io in backends() {
        for workers in [1, 2, 1] {
            watched(move || {
                let build = || Runtime::builder().workers(workers).io(io).build().unwrap();
                build().run(several_listeners());
                // Two runtimes at once are both told.
                let (one, two) = (build(), build());
                let listen = |runtime: &Runtime| {
                    let (told, ready) = std::sync::mpsc::channel();
                    let task = runtime.spawn(async move {
                        let mut listener = signal(SignalKind::terminate()).unwrap();
                        told.send(()).unwrap();
                        listener.recv().await
                    });
                    ready.recv().unwrap();
                    task
                };
                let tasks = [listen(&one), listen(&two)];
                raise(libc::SIGTERM);
                let [first, second] = tasks;
                assert_eq!(one.block_on(first).unwrap(), Some(()));
                assert_eq!(two.block_on(second).unwrap(), Some(()));
            });
            descriptors.push(open_descriptors());
        }
    }
    assert_eq!(masks_of_a_child(), before, "children inherit nothing");
    let first = descriptors[0];
    assert!(descriptors.iter().all(|&now| now <= first), "seats are used again: {descriptors:?}");
}

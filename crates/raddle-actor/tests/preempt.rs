//! Preemption at allocations: only inside its scopes, and without it nobody else gets a turn.

use raddle_actor::{self as actor, Cx, ExitReason, PreemptAlloc, preemptible};
use raddle_runtime::park::ThreadDrivers;
use raddle_runtime::{Config, Runtime};
use raddle_sync::oneshot;

#[global_allocator]
static ALLOCATOR: PreemptAlloc = PreemptAlloc::system();

fn alone() -> Runtime {
    // One worker, and nobody that would stand in for it.
    let config = Config { workers: 1, monitor: false, ..Config::default() };
    Runtime::new(config, Box::new(ThreadDrivers)).unwrap()
}

/// Computes with the allocator's help until `done` says so, at most for a while.
fn compute(done: impl Fn() -> bool) -> bool {
    let begun = std::time::Instant::now();
    while !done() {
        let text: String = (0..100u8).map(char::from).collect();
        std::hint::black_box(&text);
        if begun.elapsed() > std::time::Duration::from_secs(60) {
            return false;
        }
    }
    true
}

#[test]
fn a_process_that_computes_gives_way() {
    alone().run(async {
        let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let seen = flag.clone();
        let process = actor::spawn(move |_: &mut Cx<()>| {
            let done = || seen.load(std::sync::atomic::Ordering::SeqCst);
            // SAFETY: it computes on what it owns.
            unsafe { preemptible(|| compute(done)) }
        });
        let other = actor::spawn(move |cx: &mut Cx<()>| {
            cx.yield_now();
            flag.store(true, std::sync::atomic::Ordering::SeqCst);
        });
        assert_eq!(process.join().await, Ok(true));
        other.join().await.unwrap();
    });
}

#[test]
fn outside_of_its_scopes_nothing_changes() {
    alone().run(async {
        let process = actor::spawn(|_: &mut Cx<()>| {
            let turns = std::cell::Cell::new(0);
            // SAFETY: nothing is allocated in it.
            unsafe { preemptible(|| ()) };
            compute(|| {
                turns.set(turns.get() + 1);
                turns.get() > 2_000
            })
        });
        let other = actor::spawn(|_: &mut Cx<()>| ());
        let reference = process.process().clone();
        other.join().await.unwrap();
        // On one worker the other could only end before or after, never in between; what is
        // checked is that the first did not suspend: it is over when the other is.
        assert!(!reference.is_alive());
        process.join().await.unwrap();
    });
}

#[test]
fn a_kill_reaches_a_process_that_computes_and_checks() {
    alone().run(async {
        let (tx, begun) = oneshot::channel();
        let process = actor::spawn(move |_: &mut Cx<()>| {
            tx.send(()).unwrap();
            let done = || {
                actor::yield_now();
                false
            };
            // SAFETY: it computes on what it owns.
            unsafe { preemptible(|| compute(done)) }
        });
        begun.await.unwrap();
        process.process().kill();
        assert_eq!(process.join().await, Err(ExitReason::Killed));
    });
}

#[test]
fn a_kill_does_not_unwind_out_of_an_allocation() {
    alone().run(async {
        let (tx, begun) = oneshot::channel();
        let ended = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let flag = ended.clone();
        let process = actor::spawn(move |_: &mut Cx<()>| {
            let turns = std::cell::Cell::new(0);
            tx.send(()).unwrap();
            let done = || {
                turns.set(turns.get() + 1);
                turns.get() > 5_000
            };
            // SAFETY: it computes on what it owns.
            unsafe { preemptible(|| compute(done)) };
            flag.store(true, std::sync::atomic::Ordering::SeqCst);
            actor::yield_now();
        });
        begun.await.unwrap();
        process.process().kill();
        assert_eq!(process.join().await, Err(ExitReason::Killed));
        assert!(ended.load(std::sync::atomic::Ordering::SeqCst));
    });
}

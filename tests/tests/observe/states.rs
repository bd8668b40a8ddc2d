//! Each state is brought about, and told.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use raddle::dump::{TaskState, WaitKind};
use raddle::sync::{Notify, Semaphore};
use raddle::task::yield_now;
use raddle::{Handle, LocalRuntime, spawn, spawn_local, spawn_pinned, task};
use raddle_tests::watched;

use super::{by_id, runtime, until, wait_of};

#[test]
fn new_and_yielded_tasks_are_queued_and_the_one_that_looks_runs() {
    watched(|| {
        let runtime = runtime(1);
        let task = runtime.spawn(async {
            let stop = Arc::new(AtomicBool::new(false));
            let seen = stop.clone();
            let yielding = spawn(async move {
                while !seen.load(Ordering::Relaxed) {
                    yield_now().await;
                }
            });
            yield_now().await;
            let new = spawn(async {});
            let pinned = spawn_pinned(|| async {});
            let dump = Handle::current().dump();
            let me = by_id(&dump, task::id());
            assert!(matches!(me.state, TaskState::Running { worker: 0, .. }), "{me}");
            assert_eq!(dump.workers[0].running, Some(me.id));
            assert!(!dump.workers[0].asleep);
            assert_eq!(dump.workers[0].rotating, 2);
            for task in [yielding.id(), new.id(), pinned.id()] {
                assert_eq!(by_id(&dump, task).state, TaskState::Queued);
                assert!(!by_id(&dump, task).aborted);
            }
            assert_eq!(by_id(&dump, new.id()).pinned_to, None);
            assert_eq!(by_id(&dump, pinned.id()).pinned_to, Some(0));
            assert_eq!(dump.tasks.len(), 4);
            stop.store(true, Ordering::Relaxed);
            for task in [yielding, new, pinned] {
                task.await.unwrap();
            }
        });
        runtime.block_on(task).unwrap();
        assert!(runtime.dump().tasks.is_empty());
    });
}

#[test]
fn a_granted_task_is_woken_until_it_is_polled() {
    watched(|| {
        let runtime = runtime(1);
        let task = runtime.spawn(async {
            let permits = Arc::new(Semaphore::new(0));
            let theirs = permits.clone();
            let line = line!() + 1;
            let waiter = spawn(async move { theirs.acquire().await.unwrap().forget() });
            yield_now().await;
            let before = wait_of(&Handle::current().dump(), waiter.id()).unwrap();
            permits.add_permits(1);
            let dump = Handle::current().dump();
            let TaskState::Woken(wait) = by_id(&dump, waiter.id()).state else { panic!("{dump}") };
            assert_eq!((wait.kind, wait.location), (before.kind, before.location));
            assert_eq!(wait.kind, Some(WaitKind::Permits));
            assert_eq!(wait.location.unwrap().line(), line);
            waiter.await.unwrap();
        });
        runtime.block_on(task).unwrap();
    });
}

#[test]
fn an_aborted_task_is_told_as_such_until_it_ends() {
    watched(|| {
        let runtime = runtime(1);
        let task = runtime.spawn(async {
            let waiter = spawn(async { Notify::new().notified().await });
            yield_now().await;
            waiter.abort();
            let dump = Handle::current().dump();
            let told = by_id(&dump, waiter.id());
            assert!(told.aborted && matches!(told.state, TaskState::Woken(_)), "{told}");
            assert!(told.to_string().ends_with("aborted"), "{told}");
            assert!(waiter.await.unwrap_err().is_cancelled());
        });
        runtime.block_on(task).unwrap();
    });
}

#[test]
fn a_computing_task_runs_for_as_long_as_the_monitor_has_seen() {
    watched(|| {
        let runtime = runtime(1);
        let stop = Arc::new(AtomicBool::new(false));
        let seen = stop.clone();
        let task = runtime.spawn(async move {
            while !seen.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let id = task.id();
        let (worker, text) = until(&runtime, |dump| match by_id(dump, id).state {
            TaskState::Running { worker, for_at_least }
                if for_at_least >= Duration::from_millis(6) =>
            {
                Some((worker, dump.to_string()))
            }
            _ => None,
        });
        assert_eq!(worker, 0);
        assert!(text.contains(&format!("worker 0: runs task {id}")), "{text}");
        stop.store(true, Ordering::Relaxed);
        runtime.block_on(task).unwrap();
    });
}

#[test]
fn a_wait_tells_for_how_long_and_an_idle_worker_sleeps() {
    watched(|| {
        let runtime = runtime(1);
        let task = runtime.spawn(async { Notify::new().notified().await });
        let id = task.id();
        let since = until(&runtime, |dump| {
            let wait = wait_of(dump, id)?;
            (dump.workers[0].asleep && wait.since >= Duration::from_millis(30))
                .then_some(wait.since)
        });
        assert!(since < Duration::from_secs(170), "{since:?}: within this test");
        task.abort();
    });
}

#[test]
fn names_sites_and_blocking_jobs_are_told() {
    watched(|| {
        let runtime = runtime(1);
        let (release, held) = mpsc::channel::<()>();
        let job = runtime.spawn_blocking(move || held.recv().is_err());
        let _entered = runtime.enter();
        let line = line!() + 1;
        let task = task::Builder::new().name("Ann").spawn(async { Notify::new().notified().await });
        let id = task.id();
        let text = until(&runtime, |dump| {
            let told = by_id(dump, id);
            assert_eq!(told.name.as_deref(), Some("Ann"));
            assert_eq!((told.spawned_at.file(), told.spawned_at.line()), (file!(), line));
            assert_eq!(dump.blocking.threads, 1);
            assert_eq!(dump.tasks.len(), 1, "the job is none of the tasks: {dump}");
            wait_of(dump, id).map(|_| dump.to_string())
        });
        assert!(
            text.contains(&format!("task {id} \"Ann\", spawned at {}:{line}:", file!())),
            "{text}"
        );
        assert!(text.contains("waiting for a notification"), "{text}");
        drop(release);
        assert!(runtime.block_on(job).unwrap());
        task.abort();
    });
}

#[test]
fn a_local_runtime_tells_too() {
    watched(|| {
        let runtime = LocalRuntime::new().unwrap();
        assert!(runtime.dump().tasks.is_empty());
        assert_eq!(runtime.metrics().workers.len(), 1);
        runtime.run(async {
            let task = spawn_local(async { Notify::new().notified().await });
            yield_now().await;
            let dump = Handle::current().dump();
            assert_eq!(by_id(&dump, task.id()).pinned_to, Some(0));
            assert_eq!(wait_of(&dump, task.id()).unwrap().kind, Some(WaitKind::Notification));
            let root = dump.tasks.iter().find(|told| told.id == task::id()).unwrap();
            assert!(matches!(root.state, TaskState::Running { worker: 0, .. }), "{root}");
            assert!(Handle::current().metrics().total().dispatches >= 2);
        });
    });
}

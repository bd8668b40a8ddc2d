//! A panic in a task, a destructor or a hook is contained, and goes where the policy says.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use raddle::task::{JoinHandle, yield_now};
use raddle::{Builder, PanicPolicy, task};
use raddle_tests::watched;

/// Spawns a task that panics once it is detached.
fn panics_detached(builder: task::Builder, text: &'static str) {
    let detached = Arc::new(AtomicBool::new(false));
    let seen = detached.clone();
    let task: JoinHandle<()> = builder.spawn(async move {
        while !seen.load(Ordering::SeqCst) {
            yield_now().await;
        }
        panic!("{text}");
    });
    task.detach();
    detached.store(true, Ordering::SeqCst);
}

struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        panic!("in a destructor");
    }
}

#[test]
fn a_destructor_that_panics_is_the_panic_of_its_task() {
    watched(|| {
        Builder::new().workers(1).build().unwrap().run(async {
            let task = raddle::spawn(async {
                let _bomb = PanicsOnDrop;
                std::future::pending::<()>().await;
            });
            yield_now().await;
            task.abort();
            let error = task.await.unwrap_err();
            assert_eq!(error.panic_message(), Some("in a destructor"));
            // An output whose destructor panics, and nobody to take it.
            raddle::spawn(async { PanicsOnDrop }).detach();
            yield_now().await;
            assert_eq!(raddle::spawn(async { 1 }).await.unwrap(), 1);
        });
    });
}

#[test]
fn the_policy_is_told_once_of_each_panic_that_nobody_joins() {
    watched(|| {
        let told = Arc::new(Mutex::new(Vec::new()));
        let theirs = told.clone();
        let policy = PanicPolicy::Call(Arc::new(move |panic| {
            theirs.lock().unwrap().push((panic.name.map(String::from), panic.spawned_at.line()));
            panic!("a policy that panics itself");
        }));
        let runtime = Builder::new().workers(2).on_unhandled_panic(policy).build().unwrap();
        runtime.run(async {
            let joined = raddle::spawn(async { panic!("joined") });
            assert!(joined.await.unwrap_err().is_panic());
            panics_detached(task::Builder::new().name("lost"), "detached");
            while told.lock().unwrap().is_empty() {
                yield_now().await;
            }
        });
        let told = told.lock().unwrap();
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(told[0].0.as_deref(), Some("lost"));
    });
}

/// The task has ended when its handle is dropped: on a thread of the runtime that is no different.
#[test]
fn the_policy_is_told_of_a_panic_that_was_there_to_be_read() {
    watched(|| {
        for workers in [1, 2] {
            let told = Arc::new(AtomicUsize::new(0));
            let theirs = told.clone();
            let policy = PanicPolicy::Call(Arc::new(move |_| {
                theirs.fetch_add(1, Ordering::SeqCst);
            }));
            let builder = Builder::new().workers(workers).on_unhandled_panic(policy);
            builder.build().unwrap().run(async {
                let task: JoinHandle<()> = raddle::spawn(async { panic!("unread") });
                while !task.is_finished() {
                    yield_now().await;
                }
                assert_eq!(told.load(Ordering::SeqCst), 0);
                task.detach();
                assert_eq!(told.load(Ordering::SeqCst), 1);
                let mut task: JoinHandle<()> = raddle::spawn(async { panic!("read") });
                assert!((&mut task).await.unwrap_err().is_panic());
                drop(task);
                assert_eq!(told.load(Ordering::SeqCst), 1);
            });
        }
    });
}

#[test]
fn the_policy_shutdown_ends_run_with_the_panic() {
    watched(|| {
        for workers in [1, 2] {
            let runtime = Builder::new()
                .workers(workers)
                .on_unhandled_panic(PanicPolicy::Shutdown)
                .build()
                .unwrap();
            let result = catch_unwind(AssertUnwindSafe(|| {
                runtime.run(async {
                    panics_detached(task::Builder::new(), "fatal");
                    std::future::pending::<()>().await;
                });
            }));
            assert_eq!(
                result.unwrap_err().downcast_ref::<String>().map(|text| &**text),
                Some("fatal")
            );
        }
    });
}

#[test]
fn a_panic_of_the_main_future_comes_out_after_the_shutdown() {
    watched(|| {
        let ended = Arc::new(AtomicUsize::new(0));
        let theirs = ended.clone();
        let runtime = Builder::new()
            .workers(2)
            .on_thread_stop(move |_| {
                theirs.fetch_add(1, Ordering::SeqCst);
            })
            .build()
            .unwrap();
        let result = catch_unwind(AssertUnwindSafe(|| {
            runtime.run(async { panic!("main") });
        }));
        assert_eq!(result.unwrap_err().downcast_ref::<&str>(), Some(&"main"));
        assert_eq!(ended.load(Ordering::SeqCst), 2);
    });
}

#[test]
fn thread_hooks_run_on_each_worker_and_may_panic() {
    watched(|| {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let (starts, stops) = (calls.clone(), calls.clone());
        let runtime = Builder::new()
            .workers(2)
            .on_thread_start(move |worker| {
                starts.lock().unwrap().push((worker, "start"));
                panic!("in a hook");
            })
            .on_thread_stop(move |worker| stops.lock().unwrap().push((worker, "stop")))
            .build()
            .unwrap();
        assert_eq!(runtime.run(async { raddle::spawn(async { 3 }).await.unwrap() }), 3);
        let mut calls = calls.lock().unwrap().clone();
        calls.sort_unstable();
        assert_eq!(calls, [(0, "start"), (0, "stop"), (1, "start"), (1, "stop")]);
    });
}

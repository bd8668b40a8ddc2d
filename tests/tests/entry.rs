//! Ways into a runtime: run, block_on, enter, LocalRuntime, attributes; and their refusals.

use std::cell::RefCell;
use std::rc::Rc;

use raddle::{Backend, Builder, Handle, Io, LocalRuntime, Runtime};
use raddle_tests::watched;

#[test]
fn run_makes_the_caller_worker_0() {
    watched(|| {
        let caller = std::thread::current().id();
        let runtime = Builder::new().workers(2).build().unwrap();
        let shared = Rc::new(RefCell::new(0));
        runtime.run(async {
            for _ in 0..100 {
                raddle::task::yield_now().await;
                raddle::spawn(async {}).await.unwrap();
                assert_eq!(std::thread::current().id(), caller);
                *shared.borrow_mut() += 1;
            }
        });
        assert_eq!(*shared.borrow(), 100);
    });
}

#[test]
fn a_local_runtime_runs_everything_on_one_thread() {
    watched(|| {
        let caller = std::thread::current().id();
        let sum = LocalRuntime::new().unwrap().run(async move {
            let total = Rc::new(RefCell::new(0));
            let tasks: Vec<_> = (0..100)
                .map(|n| {
                    let total = total.clone();
                    raddle::spawn_local(async move {
                        raddle::task::yield_now().await;
                        assert_eq!(std::thread::current().id(), caller);
                        *total.borrow_mut() += n;
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
            total.take()
        });
        assert_eq!(sum, 4950);
    });
}

#[test]
fn a_runtime_inside_a_blocking_job_of_another() {
    watched(|| {
        let answer = Builder::new().workers(1).build().unwrap().run(async {
            raddle::spawn_blocking(|| {
                Builder::new()
                    .workers(1)
                    .build()
                    .unwrap()
                    .run(async { raddle::spawn(async { 42 }).await.unwrap() })
            })
            .await
            .unwrap()
        });
        assert_eq!(answer, 42);
    });
}

#[test]
fn io_is_what_was_asked_for() {
    let epoll = Builder::new().workers(1).io(Io::Epoll).build().unwrap();
    assert_eq!(epoll.io().backend(), Backend::Epoll);
    assert!(!epoll.io().reason().is_empty());
    let wrong = Builder::new().workers(0).build().unwrap_err();
    assert_eq!(wrong.kind(), std::io::ErrorKind::InvalidInput);
    assert!("fast".parse::<Io>().is_err());
}

#[test]
fn handles_outlive_their_runtime() {
    watched(|| {
        let runtime = Runtime::new().unwrap();
        let handle = runtime.handle().clone();
        let current = runtime.run(async { Handle::current() });
        assert!(handle.block_on(handle.spawn(async {})).unwrap_err().is_cancelled());
        assert!(current.block_on(current.spawn_blocking(|| 1)).unwrap_err().is_cancelled());
    });
}

#[raddle::test]
async fn the_test_attribute_runs_a_test() {
    assert_eq!(raddle::spawn(async { 2 }).await.unwrap(), 2);
}

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

/// One worker, whose thread nobody has asked the runtime itself for.
#[test]
fn a_runtime_may_be_used_by_its_handle_alone() {
    watched(|| {
        let one = || Builder::new().workers(1).build().unwrap();
        let runtime = one();
        let handle = runtime.handle().clone();
        assert_eq!(handle.block_on(handle.spawn(async { 1 })).unwrap(), 1);
        let runtime = one();
        let handle = runtime.handle().clone();
        let job = handle
            .spawn_blocking(|| raddle::Handle::current().block_on(raddle::spawn(async { 2 })));
        assert_eq!(handle.block_on(job).unwrap().unwrap(), 2);
        let runtime = one();
        let entered = runtime.handle().enter();
        // Sockets find a driver at once: the worker had made it when `enter` returned.
        raddle::net::UdpSocket::from_std(std::net::UdpSocket::bind("127.0.0.1:0").unwrap())
            .unwrap();
        let task = raddle::spawn(async { 3 });
        drop(entered);
        assert_eq!(runtime.block_on(task).unwrap(), 3);
        // Many threads at once, one of which starts it.
        let runtime = one();
        let threads: Vec<_> = (0..8)
            .map(|n| {
                let handle = runtime.handle().clone();
                std::thread::spawn(move || handle.block_on(handle.spawn(async move { n })).unwrap())
            })
            .collect();
        let sum: i32 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!(sum, 28);
    });
}

/// In the wrong order, on a thread of its own: what is still entered is never freed memory.
#[test]
fn guards_dropped_in_a_wrong_order_are_refused_and_harmless() {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    watched(|| {
        let one = || Builder::new().workers(1).build().unwrap();
        let (a, b) = (one(), one());
        let first = a.handle().enter();
        let second = b.handle().enter();
        let refused = catch_unwind(AssertUnwindSafe(|| drop(first))).unwrap_err();
        let text = refused.downcast_ref::<&str>().unwrap();
        assert!(text.contains("reverse order"), "{text}");
        assert_eq!(b.block_on(raddle::spawn(async { 1 })).unwrap(), 1);
        drop(a);
        drop(second);
        // The first one's runtime is still entered. It has ended, but it is there.
        let task = raddle::spawn(async { 2 });
        assert!(task.is_finished());
        let late = catch_unwind(|| raddle::time::sleep(std::time::Duration::from_secs(1)));
        drop(late);
    });
}

/// A guard that was made on a worker is dropped after that worker's runtime is gone.
#[test]
fn a_guard_may_outlive_the_worker_it_was_made_on() {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    watched(|| {
        let other = Builder::new().workers(1).build().unwrap();
        let guard = RefCell::new(None);
        let runtime = Builder::new().workers(1).build().unwrap();
        runtime.run(async { *guard.borrow_mut() = Some(other.handle().enter()) });
        assert!(Handle::try_current().is_none());
        assert!(catch_unwind(AssertUnwindSafe(|| drop(guard.take()))).is_err());
        assert!(Handle::try_current().is_none());
        assert!(catch_unwind(|| raddle::spawn(async {})).is_err());
    });
}

#[raddle::test]
async fn the_test_attribute_runs_a_test() {
    assert_eq!(raddle::spawn(async { 2 }).await.unwrap(), 2);
}

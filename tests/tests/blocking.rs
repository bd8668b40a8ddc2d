//! No worker blocks in name resolution or in calls on paths: they wait for the blocking pool, and
//! tasks go on meanwhile.

use std::future::Future;
use std::pin::pin;
use std::sync::mpsc;
use std::task::{Context, Waker};

use raddle::net::{TcpStream, lookup_host};
use raddle::task::yield_now;
use raddle::{Builder, fs};
use raddle_tests::watched;

/// On a runtime of one worker whose only blocking thread is taken: `question` waits, others go
/// on, and it is answered once the thread is free.
fn waits_for_the_pool<F: Future>(question: impl FnOnce() -> F + Send + 'static) {
    watched(|| {
        let builder = Builder::new().workers(1).max_blocking_threads(1);
        builder.build().unwrap().run(async {
            let (begun, running) = mpsc::channel();
            let (release, held) = mpsc::channel::<()>();
            let job = raddle::spawn_blocking(move || {
                begun.send(()).unwrap();
                held.recv().unwrap();
            });
            running.recv().unwrap();
            let mut question = pin!(question());
            let mut cx = Context::from_waker(Waker::noop());
            for _ in 0..100 {
                assert!(question.as_mut().poll(&mut cx).is_pending(), "the pool is taken");
                raddle::spawn(yield_now()).await.unwrap();
            }
            release.send(()).unwrap();
            job.await.unwrap();
            question.await;
        });
    });
}

#[test]
fn names_are_asked_for_on_the_pool() {
    waits_for_the_pool(|| async {
        assert!(lookup_host("localhost:80").await.unwrap().next().is_some());
    });
    waits_for_the_pool(|| async {
        // Nobody listens there; the name was resolved.
        drop(TcpStream::connect("localhost:1").await);
    });
}

#[test]
fn paths_are_asked_for_on_the_pool() {
    waits_for_the_pool(|| async { assert!(fs::metadata("/proc").await.unwrap().is_dir()) });
    waits_for_the_pool(|| async { assert!(fs::try_exists("/proc").await.unwrap()) });
}

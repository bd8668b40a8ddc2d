//! Waiting for a future from anywhere: each place either works or is refused with advice, and
//! nothing hangs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::Duration;

use raddle::sync::{Wait, oneshot, wait_timeout};
use raddle::task::block_in_place;
use raddle::{Builder, Handle, LocalRuntime, Runtime};
use raddle_tests::watched;

fn runtime() -> Runtime {
    Builder::new().workers(1).build().unwrap()
}

/// A future that another thread completes.
fn answer() -> oneshot::Receiver<u32> {
    let (send, receive) = oneshot::channel();
    std::thread::spawn(move || send.send(42));
    receive
}

/// The message of the panic that `f` ends with.
fn refused<R>(f: impl FnOnce() -> R) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).err().expect("it is refused");
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload.downcast_ref::<&str>().expect("a text").to_string(),
    }
}

#[test]
fn a_plain_thread_waits() {
    watched(|| {
        assert_eq!(raddle::sync::block_on(answer()), Ok(42));
        assert_eq!(answer().wait(), Ok(42));
        assert_eq!(wait_timeout(answer(), Duration::MAX), Some(Ok(42)));
        let runtime = runtime();
        assert_eq!(runtime.block_on(answer()), Ok(42));
        let _entered = runtime.enter();
        assert_eq!(answer().wait(), Ok(42));
        assert_eq!(raddle::spawn(async { 1 }).wait().unwrap(), 1);
    });
}

#[test]
fn a_task_is_told_what_to_do_instead() {
    watched(|| {
        runtime().run(async {
            let handle = Handle::current();
            for text in [
                refused(|| answer().wait()),
                refused(|| raddle::sync::block_on(answer())),
                refused(|| wait_timeout(answer(), Duration::ZERO)),
                refused(|| handle.block_on(answer())),
                refused(|| raddle::run(answer())),
                refused(|| runtime().block_on(answer())),
                refused(|| LocalRuntime::new().unwrap().run(answer())),
            ] {
                assert!(text.contains("await"), "{text}");
            }
            let back = raddle::sync::try_block_on(answer()).unwrap_err();
            assert_eq!(back.into_inner().await, Ok(42));
            assert_eq!(raddle::spawn(async { 2 }).await.unwrap(), 2, "all is well");
        });
    });
}

#[test]
fn blocking_jobs_and_sections_wait() {
    watched(|| {
        runtime().run(async {
            let handle = Handle::current();
            let job = raddle::spawn_blocking(move || {
                let spawned = raddle::spawn(async { 1 });
                handle.block_on(spawned).unwrap() + answer().wait().unwrap()
            });
            assert_eq!(job.await.unwrap(), 43);
            // On the only worker: what is waited for needs a worker.
            let task = raddle::spawn(async { 2 });
            assert_eq!(block_in_place(|| task.wait()).unwrap(), 2);
            assert_eq!(block_in_place(|| answer().wait()), Ok(42));
        });
    });
}

struct WaitsInDrop(mpsc::Sender<Result<u32, String>>);

impl Drop for WaitsInDrop {
    fn drop(&mut self) {
        let waited = catch_unwind(|| answer().wait().expect("answered"));
        let said = waited.map_err(|_| String::from("refused"));
        self.0.send(said).unwrap();
    }
}

/// A destructor runs where its owner was: it waits on a thread and is refused in a poll. Neither
/// ends the process.
#[test]
fn destructors_wait_or_are_refused() {
    watched(|| {
        let (told, said) = mpsc::channel();
        drop(WaitsInDrop(told.clone()));
        assert_eq!(said.recv().unwrap(), Ok(42));
        runtime().run(async move {
            let in_job = told.clone();
            raddle::spawn_blocking(move || drop(WaitsInDrop(in_job))).await.unwrap();
            assert_eq!(said.recv().unwrap(), Ok(42));
            let in_task = told.clone();
            raddle::spawn(async move { drop(WaitsInDrop(in_task)) }).await.unwrap();
            assert!(said.recv().unwrap().is_err());
            // Aborted: dropped by the worker, outside of its poll or inside, but without a hang.
            let waits = WaitsInDrop(told);
            let task = raddle::spawn(async move {
                let _waits = waits;
                std::future::pending::<()>().await;
            });
            raddle::task::yield_now().await;
            task.abort();
            let _ = task.await;
            let _ = said.recv().unwrap();
            assert_eq!(raddle::spawn(async { 3 }).await.unwrap(), 3);
        });
    });
}

/// A runtime made inside a task and dropped there neither blocks nor panics.
#[test]
fn a_runtime_may_be_made_and_dropped_inside_a_task() {
    watched(|| {
        runtime().run(async {
            let inner = runtime();
            let task = inner.spawn(async { 7 });
            assert_eq!(task.await.unwrap(), 7);
            drop(inner);
        });
    });
}

/// What was the thread's runtime is not, once it has ended.
#[test]
fn the_current_runtime_ends_with_its_run() {
    watched(|| {
        let handle = runtime().run(async { Handle::current() });
        assert!(Handle::try_current().is_none());
        assert!(refused(|| raddle::spawn(async {})).contains("belongs to no raddle runtime"));
        // Entered after its end: a clear error, no hang.
        let _entered = handle.enter();
        let late = raddle::spawn(async { 1 });
        assert!(late.wait().unwrap_err().is_cancelled());
        assert!(raddle::spawn_blocking(|| 1).wait().unwrap_err().is_cancelled());
        let socket = handle.block_on(raddle::net::TcpListener::bind("127.0.0.1:0"));
        assert!(socket.is_err() || socket.is_ok(), "an answer");
    });
}

//! Models of the protocol in `blocking/shared.rs`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use raddle_base::shim::model;
use raddle_base::shim::mutex::Mutex;
use raddle_base::shim::thread;

use crate::blocking::BlockingPool;
use crate::blocking::config::Config;

type Threads = Arc<Mutex<Vec<thread::JoinHandle<()>>>>;

/// A pool on threads of the model, whose patience ends at once.
fn pool(threads: &Threads) -> BlockingPool {
    let threads = Arc::clone(threads);
    BlockingPool::new(Config {
        max_threads: 1,
        keep_alive: Duration::ZERO,
        start: Arc::new(move |_, main| {
            let thread = thread::spawn(main);
            threads.lock().push(thread);
            Ok(())
        }),
        ..Config::default()
    })
}

/// A thread's keep-alive is over while a job is submitted for it: the job runs.
#[test]
fn model_a_call_meets_the_end_of_patience() {
    model::check(|| {
        let threads = Threads::default();
        let pool = pool(&threads);
        let ran = Arc::new(AtomicUsize::new(0));
        for _ in 0..2 {
            let ran = Arc::clone(&ran);
            pool.submit(Box::new(move || {
                ran.fetch_add(1, SeqCst);
            }))
            .unwrap();
        }
        loop {
            let Some(thread) = threads.lock().pop() else { break };
            thread.join().unwrap();
        }
        assert_eq!(ran.load(SeqCst), 2);
        assert_eq!(pool.metrics().threads, 0);
        assert_eq!(pool.metrics().queued_jobs, 0);
    });
}

//! An operation on its way: who takes it, whatever comes first.

use super::*;
use crate::op::{Entry, Route};
use crate::sys::sqe::Sqe;
use raddle_base::shim::atomic::AtomicUsize;
use raddle_base::shim::{Arc, model, thread};
use std::task::Waker;

/// Counts what becomes of it.
struct Probe {
    finished: Arc<AtomicUsize>,
    given_back: Arc<AtomicUsize>,
}

// SAFETY: the entry names no memory.
unsafe impl Operation for Probe {
    type Output = io::Result<u32>;

    fn attempt(&mut self, _ring: bool) -> Option<io::Result<u32>> {
        None
    }

    fn entry(&mut self) -> Entry {
        Entry(Sqe::fsync(-1, false))
    }

    fn route(&self) -> Route<'_> {
        Route::Offload
    }

    fn finish(self, result: io::Result<u32>) -> io::Result<u32> {
        // Relaxed: counted after the threads have been joined.
        self.finished.fetch_add(1, Ordering::Relaxed);
        result
    }

    fn abandon(self, result: io::Result<u32>) {
        if result.is_ok() {
            // Relaxed: as above.
            self.given_back.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn probe() -> (Flight<Probe>, Arc<AtomicUsize>, Arc<AtomicUsize>) {
    let (finished, given_back) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let probe = Probe { finished: Arc::clone(&finished), given_back: Arc::clone(&given_back) };
    (Flight::new(probe), finished, given_back)
}

/// The kernel's side: uses the operation, as a blocking call would, and then completes it.
fn carry_out(flight: &Flight<Probe>) {
    // SAFETY: this is the kernel's side, and it has not completed the operation.
    unsafe { flight.with(|_| ()) };
    flight.complete_and_wake(Ok(7));
}

fn count(counter: &AtomicUsize) -> usize {
    counter.load(Ordering::Relaxed)
}

#[test]
fn the_first_outcome_stays() {
    model::check(|| {
        let (flight, finished, given_back) = probe();
        flight.complete_and_wake(Ok(7));
        // A cancellation that comes now finds nothing to cancel.
        let mut cx = Context::from_waker(Waker::noop());
        assert!(matches!(flight.poll(&mut cx), Poll::Ready(Ok(7))));
        assert_eq!((count(&finished), count(&given_back)), (1, 0));
    });
}

#[test]
fn a_late_success_is_given_back() {
    model::check(|| {
        let (flight, finished, given_back) = probe();
        assert!(flight.abandon(), "still on its way");
        flight.complete_and_wake(Ok(7));
        assert_eq!((count(&finished), count(&given_back)), (0, 1));
    });
}

#[test]
fn a_success_nobody_fetched_is_given_back() {
    model::check(|| {
        let (flight, finished, given_back) = probe();
        flight.complete_and_wake(Ok(7));
        assert!(!flight.abandon(), "nothing to cancel");
        assert_eq!((count(&finished), count(&given_back)), (0, 1));
    });
}

/// The future is dropped while the completion comes: the result is given back exactly once.
#[test]
fn model_drop_against_completion() {
    model::check(|| {
        let (flight, finished, given_back) = probe();
        let flight = Arc::new(flight);
        let completion = thread::spawn({
            let flight = Arc::clone(&flight);
            move || carry_out(&flight)
        });
        flight.abandon();
        completion.join().unwrap();
        assert_eq!((count(&finished), count(&given_back)), (0, 1));
    });
}

/// The future polls while the completion comes: it has the output, or its waker was called.
#[test]
fn model_poll_against_completion() {
    struct Flag(std::sync::atomic::AtomicBool);
    impl std::task::Wake for Flag {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.store(true, std::sync::atomic::Ordering::SeqCst);
        }
    }
    model::check(|| {
        let (flight, finished, _) = probe();
        let flight = Arc::new(flight);
        let completion = thread::spawn({
            let flight = Arc::clone(&flight);
            move || carry_out(&flight)
        });
        let flag = std::sync::Arc::new(Flag(std::sync::atomic::AtomicBool::new(false)));
        let waker = Waker::from(std::sync::Arc::clone(&flag));
        let mut cx = Context::from_waker(&waker);
        let ready = flight.poll(&mut cx).is_ready();
        completion.join().unwrap();
        if !ready {
            assert!(flag.0.load(std::sync::atomic::Ordering::SeqCst), "neither output nor wake");
            assert!(flight.poll(&mut cx).is_ready());
        }
        assert_eq!(count(&finished), 1);
    });
}

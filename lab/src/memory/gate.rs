//! A gate at which tasks wait: it allocates before anything is measured, and never after.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// A place for the waker of each task.
pub(crate) struct Gate {
    open: AtomicBool,
    waiting: AtomicUsize,
    places: Box<[Mutex<Option<Waker>>]>,
}

impl Gate {
    pub(crate) fn new(places: usize) -> Arc<Gate> {
        Arc::new(Gate {
            open: AtomicBool::new(false),
            waiting: AtomicUsize::new(0),
            places: (0..places).map(|_| Mutex::new(None)).collect(),
        })
    }

    /// How many tasks wait.
    pub(crate) fn waiting(&self) -> usize {
        // Acquire: with the increment's release, the waiter's waker is stored when it is counted.
        self.waiting.load(Ordering::Acquire)
    }

    /// Waits at place `index` until the gate opens; gives 1.
    pub(crate) fn wait(self: &Arc<Gate>, index: usize) -> Wait {
        Wait { gate: self.clone(), index, _rest: [0; 2] }
    }

    /// Opens the gate and wakes everyone.
    pub(crate) fn open(&self) {
        // Relaxed: the places' locks order it: a waiter reads it under the lock taken below.
        self.open.store(true, Ordering::Relaxed);
        for place in &self.places {
            let waker = place.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

/// A future of exactly 32 bytes.
pub(crate) struct Wait {
    gate: Arc<Gate>,
    index: usize,
    _rest: [u64; 2],
}

const _: () = assert!(size_of::<Wait>() == 32);

impl Future for Wait {
    type Output = u64;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u64> {
        let gate = &self.gate;
        let mut place = gate.places[self.index].lock().unwrap_or_else(PoisonError::into_inner);
        // Relaxed: see `open`.
        if gate.open.load(Ordering::Relaxed) {
            return Poll::Ready(1);
        }
        if place.replace(cx.waker().clone()).is_none() {
            // Release: see `waiting`.
            gate.waiting.fetch_add(1, Ordering::Release);
        }
        Poll::Pending
    }
}

//! Shuttle's threads, which count in the world of their run.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

pub use shuttle::thread::{Thread, current, yield_now};

use super::{Line, one_less, one_more};

/// The end of a thread.
#[derive(Debug, Default)]
struct End {
    ended: AtomicBool,
    joiners: Line,
}

/// Ends the thread's part in the world when it is dropped.
struct Lives(Arc<End>);

impl Drop for Lives {
    fn drop(&mut self) {
        // Relaxed, in this file: shuttle runs one thread at a time, in one order for all.
        self.0.ended.store(true, Relaxed);
        self.0.joiners.wake_all();
        one_less();
    }
}

/// As std's.
#[derive(Debug, Default)]
pub struct Builder(shuttle::thread::Builder);

impl Builder {
    /// As std's.
    pub fn new() -> Self {
        Builder(shuttle::thread::Builder::new())
    }

    /// As std's.
    pub fn name(self, name: String) -> Self {
        Builder(self.0.name(name))
    }

    /// As std's.
    pub fn stack_size(self, size: usize) -> Self {
        Builder(self.0.stack_size(size))
    }

    /// As std's; it does not fail.
    ///
    /// # Errors
    ///
    /// None.
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let end = Arc::<End>::default();
        let lives = Lives(Arc::clone(&end));
        one_more();
        let thread = self.0.spawn(move || {
            let _lives = lives;
            f()
        })?;
        Ok(JoinHandle { thread, end })
    }
}

/// As std's.
///
/// # Panics
///
/// Never: a builder of shuttle's does not fail.
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(f).expect("does not fail")
}

/// As std's.
#[derive(Debug)]
pub struct JoinHandle<T> {
    thread: shuttle::thread::JoinHandle<T>,
    end: Arc<End>,
}

impl<T> JoinHandle<T> {
    /// As std's.
    ///
    /// # Errors
    ///
    /// As std's.
    pub fn join(self) -> std::thread::Result<T> {
        let place = self.end.joiners.enter(None);
        if !self.end.ended.load(Relaxed) {
            place.sleep();
        }
        self.end.joiners.leave(&place);
        self.thread.join()
    }

    /// As std's.
    pub fn is_finished(&self) -> bool {
        self.end.ended.load(Relaxed)
    }

    /// As std's.
    pub fn thread(&self) -> &Thread {
        self.thread.thread()
    }
}

//! What may be chosen about a pool.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// A function that is told of a pool thread's start or end. A panic of its own is dropped.
pub type Hook = Arc<dyn Fn() + Send + Sync>;

/// Starts a thread, as `std::thread::Builder::spawn` does.
pub(crate) type Start =
    Arc<dyn Fn(thread::Builder, Box<dyn FnOnce() + Send>) -> io::Result<()> + Send + Sync>;

/// The settings of a [`BlockingPool`](crate::blocking::BlockingPool).
#[derive(Clone)]
pub struct Config {
    /// Threads that may run jobs at a time; 0 counts as 1. Threads that wait for another job of a
    /// pool do not count. Default 512.
    pub max_threads: usize,
    /// How long a thread without a job stays. Default 10 s.
    pub keep_alive: Duration,
    /// Jobs that may wait for a thread; `None` for no limit, the default.
    pub queue_limit: Option<usize>,
    /// Name of the threads. Default `raddle-blocking`; the kernel shows the first 15 bytes.
    pub name: String,
    /// Stack of each thread in bytes; `None` for std's default, 2 MiB.
    pub stack_size: Option<usize>,
    /// Told on each thread before its first job.
    pub on_thread_start: Option<Hook>,
    /// Told on each thread after its last job.
    pub on_thread_stop: Option<Hook>,
    /// How threads are made: std, or what a test puts there.
    pub(crate) start: Start,
}

impl Config {
    pub(crate) fn builder(&self) -> thread::Builder {
        let builder = thread::Builder::new().name(self.name.clone());
        match self.stack_size {
            Some(bytes) => builder.stack_size(bytes),
            None => builder,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Config {
            max_threads: 512,
            keep_alive: Duration::from_secs(10),
            queue_limit: None,
            name: String::from("raddle-blocking"),
            stack_size: None,
            on_thread_start: None,
            on_thread_stop: None,
            start: Arc::new(|builder, main| builder.spawn(main).map(drop)),
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("max_threads", &self.max_threads)
            .field("keep_alive", &self.keep_alive)
            .field("queue_limit", &self.queue_limit)
            .field("name", &self.name)
            .field("stack_size", &self.stack_size)
            .finish_non_exhaustive()
    }
}

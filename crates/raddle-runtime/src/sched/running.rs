//! How many worker threads there are, and waiting until there are none.

use std::time::Duration;

use raddle_base::clock::Instant;
use raddle_base::shim::mutex::{Condvar, Mutex};

/// The count, and who waits for its end.
pub(crate) struct Running {
    count: Mutex<usize>,
    changed: Condvar,
}

impl Running {
    pub(crate) fn new() -> Self {
        Running { count: Mutex::new(0), changed: Condvar::new() }
    }

    pub(crate) fn enter(&self) {
        *self.count.lock() += 1;
    }

    pub(crate) fn leave(&self) {
        *self.count.lock() -= 1;
        self.changed.notify_all();
    }

    pub(crate) fn is_zero(&self) -> bool {
        *self.count.lock() == 0
    }

    /// Waits until no thread is left or `deadline` has passed; how many are left.
    pub(crate) fn wait(&self, deadline: Instant) -> usize {
        let mut count = self.count.lock();
        while *count != 0 {
            let left = deadline.duration_since(Instant::now());
            if left == Duration::ZERO {
                break;
            }
            (count, _) = self.changed.wait_timeout(count, left);
        }
        *count
    }
}

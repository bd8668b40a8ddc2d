//! Waiting until threads that have been started have made what they need, or failed to.

use std::io;
use std::sync::Arc;

use raddle_base::shim::mutex::{Condvar, Mutex};

/// Threads that are being born.
struct Births {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// Those that have not told yet.
    unborn: usize,
    /// The first failure.
    error: Option<io::Error>,
}

/// Waits for those that were announced.
pub(crate) struct Midwife(Arc<Births>);

/// What one thread has to tell, once.
pub(crate) struct Birth {
    births: Arc<Births>,
    told: bool,
}

impl Midwife {
    pub(crate) fn new() -> Midwife {
        let state = Mutex::new(State { unborn: 0, error: None });
        Midwife(Arc::new(Births { state, changed: Condvar::new() }))
    }

    /// One more is to be waited for.
    pub(crate) fn announce(&self) -> Birth {
        self.0.state.lock().unborn += 1;
        Birth { births: Arc::clone(&self.0), told: false }
    }

    /// Waits until all have told of a success, or one of a failure.
    pub(crate) fn wait(self) -> io::Result<()> {
        let mut state = self.0.state.lock();
        loop {
            if let Some(error) = state.error.take() {
                return Err(error);
            }
            if state.unborn == 0 {
                return Ok(());
            }
            state = self.0.changed.wait(state);
        }
    }
}

impl Birth {
    /// Tells how it went.
    pub(crate) fn tell(mut self, result: io::Result<()>) {
        self.put(result);
    }

    fn put(&mut self, result: io::Result<()>) {
        self.told = true;
        let mut state = self.births.state.lock();
        state.unborn -= 1;
        if let Err(error) = result {
            state.error.get_or_insert(error);
        }
        drop(state);
        self.births.changed.notify_all();
    }
}

impl Drop for Birth {
    /// The thread ended, or was never started, before it could tell.
    fn drop(&mut self) {
        if !self.told {
            self.put(Err(io::Error::other("a worker thread ended early")));
        }
    }
}

//! What a worker needs from a driver, and the driver that only sleeps.
//!
//! The scheduler never learns what a driver is: it has one object per worker for its own thread
//! ([`Driver`]), one for the other threads ([`Remote`]), and a factory ([`Drivers`]), because a
//! driver is made on the thread that will use it.

use std::any::Any;
use std::io;
use std::sync::Arc;

use raddle_base::clock::Instant;
use raddle_base::doorbell::Doorbell;
use raddle_base::parker::Parker;

use crate::blocking::BlockingPool;

/// The owner's side of a driver. Used by the worker's own thread only.
pub trait Driver {
    /// The words to look at before each dispatch. The same for the driver's whole life.
    fn doorbell(&self) -> &Doorbell;

    /// Submits what is prepared and handles at most `max` completions, without blocking; the
    /// number handled. Wakes tasks.
    fn look(&self, max: usize) -> usize;

    /// Submits, then blocks until there is something to handle, [`Remote::unpark`] is called or
    /// `deadline` has passed; handles what is there.
    fn park(&self, deadline: Option<Instant>);

    /// Makes this driver, and whatever belongs to its thread, the current one until the returned
    /// object is dropped.
    fn install(&self) -> Box<dyn Any>;

    /// Cancels everything and waits until `deadline` for the kernel to let go; the number of
    /// operations that it did not let go of (their memory is kept).
    fn close(&self, deadline: Instant) -> usize;
}

/// The side of a driver that other threads may use.
pub trait Remote: Send + Sync {
    /// Ends a [`Driver::park`], the present one or the next.
    fn unpark(&self);

    /// Handles at most `max` completions in the owner's place; `None` if the owner or another
    /// thread is at it. With `submit` also submits what waits for that: for an owner that is stuck,
    /// by a thread that lives as long as the driver.
    fn try_rescue(&self, max: usize, submit: bool) -> Option<usize>;

    /// Whether there is something that the owner has not looked at. May ask the kernel; does not
    /// block. A hint: it may be out of date by the time it is returned.
    fn is_pending(&self) -> bool;

    /// Makes completions appear that the kernel holds back until the owner's thread comes by, if
    /// there are any. May take some 20 µs.
    fn nudge(&self);

    /// Makes this driver the one to which operations begun on this thread are posted.
    fn install(&self) -> Box<dyn Any>;
}

/// Makes the drivers of a runtime.
pub trait Drivers: Send + Sync {
    /// Makes the driver of worker `worker`, on that worker's thread. What it cannot do without
    /// blocking may go to `blocking`.
    fn make(
        &self,
        worker: usize,
        blocking: &Arc<BlockingPool>,
    ) -> io::Result<(Box<dyn Driver>, Arc<dyn Remote>)>;
}

/// Drivers that only sleep: for runtimes without I/O, and for tests of the scheduler.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThreadDrivers;

impl Drivers for ThreadDrivers {
    fn make(
        &self,
        _worker: usize,
        _blocking: &Arc<BlockingPool>,
    ) -> io::Result<(Box<dyn Driver>, Arc<dyn Remote>)> {
        let parker = Arc::new(Parker::new());
        let driver = ThreadDriver { parker: parker.clone(), doorbell: Doorbell::silent() };
        Ok((Box::new(driver), Arc::new(ThreadRemote(parker))))
    }
}

struct ThreadDriver {
    parker: Arc<Parker>,
    doorbell: Doorbell,
}

impl Driver for ThreadDriver {
    fn doorbell(&self) -> &Doorbell {
        &self.doorbell
    }

    fn look(&self, _max: usize) -> usize {
        0
    }

    fn park(&self, deadline: Option<Instant>) {
        match deadline {
            None => self.parker.park(),
            Some(deadline) => {
                self.parker.park_until(deadline);
            }
        }
    }

    fn install(&self) -> Box<dyn Any> {
        Box::new(())
    }

    fn close(&self, _deadline: Instant) -> usize {
        0
    }
}

struct ThreadRemote(Arc<Parker>);

impl Remote for ThreadRemote {
    fn unpark(&self) {
        self.0.unpark();
    }

    fn try_rescue(&self, _max: usize, _submit: bool) -> Option<usize> {
        Some(0)
    }

    fn is_pending(&self) -> bool {
        false
    }

    fn nudge(&self) {}

    fn install(&self) -> Box<dyn Any> {
        Box::new(())
    }
}

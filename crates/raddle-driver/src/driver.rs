//! The owner's view of a driver.
//!
//! A driver is made on the thread that will own it and never leaves it. The owner looks when the
//! doorbell rings or when it is time to, submits what was prepared, and parks when it has nothing
//! else to do. All other threads use the [`Remote`].

use crate::config::Config;
use crate::current::{self, Guard};
use crate::epoll::Loop;
use crate::probe::Backend;
use crate::remote::{Inner, Remote};
use crate::uring::Ring;
use raddle_base::clock::Instant;
use raddle_base::doorbell::Doorbell;
use raddle_base::fork;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::sync::Arc;

/// What a closed driver could not end in time: requests the kernel still holds.
///
/// Their memory and descriptors are kept for ever: the kernel may still write to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// How many.
    pub requests: usize,
}

/// A driver, on the thread that made it. `!Send`.
///
/// Dropping it closes it, with a limit of one second.
pub struct Driver {
    remote: Arc<Remote>,
    _not_send: PhantomData<*const ()>,
}

impl Driver {
    /// Makes a driver for the calling thread.
    ///
    /// # Errors
    ///
    /// The kernel refuses a descriptor or the memory.
    pub fn new(config: &Config) -> io::Result<Driver> {
        let inner = match config.backend {
            Backend::Epoll => {
                let offload = Arc::clone(&config.offload);
                Inner::Epoll(Arc::new(Loop::new(offload, config.nanosecond_waits)?))
            }
            Backend::Uring => Inner::Uring(Arc::new(Ring::new(config)?)),
        };
        Ok(Driver { remote: Arc::new(Remote::new(inner)), _not_send: PhantomData })
    }

    /// What to load before each dispatch, to learn without a call whether to
    /// [`look`](Self::look).
    ///
    /// What epoll knows, only a system call reveals. So on epoll the doorbell is marked as polled
    /// ([`Doorbell::is_polled`]) while somebody waits for an event of this driver, and rings when
    /// another thread was the first to wait. A busy owner then looks by time, and after 16,384
    /// dispatches at the latest, however short they are. While nobody waits it need not look.
    pub fn doorbell(&self) -> &Doorbell {
        match &self.remote.inner {
            Inner::Epoll(poller) => poller.doorbell(),
            Inner::Uring(ring) => ring.doorbell(),
        }
    }

    /// Submits what was prepared, and wakes the tasks whose I/O has happened, without waiting;
    /// how many events there were, at most about `max`. One system call at most on io_uring if
    /// nothing overflows, one for every 64 events on epoll.
    ///
    /// # Panics
    ///
    /// In a forked child of the process that made the driver.
    pub fn look(&self, max: usize) -> usize {
        self.refuse_child();
        match &self.remote.inner {
            Inner::Epoll(poller) => poller.look(max),
            Inner::Uring(ring) => ring.look(max),
        }
    }

    /// Submits what was prepared, if there is anything.
    pub fn submit(&self) {
        match &self.remote.inner {
            Inner::Epoll(_) => {}
            Inner::Uring(ring) => ring.submit(),
        }
    }

    /// Submits what was prepared, waits for I/O, a nudge or `deadline` (to the nanosecond, but for
    /// what the scheduler of the kernel adds), and wakes the tasks whose I/O has happened. May
    /// return early.
    ///
    /// # Panics
    ///
    /// In a forked child of the process that made the driver.
    pub fn park(&self, deadline: Option<Instant>) {
        self.refuse_child();
        match &self.remote.inner {
            Inner::Epoll(poller) => poller.park(deadline),
            Inner::Uring(ring) => ring.park(deadline),
        }
    }

    /// The driver as other threads know it.
    pub fn remote(&self) -> Arc<Remote> {
        Arc::clone(&self.remote)
    }

    /// Which backend it uses.
    pub fn backend(&self) -> Backend {
        self.remote.backend()
    }

    fn refuse_child(&self) {
        if self.remote.is_forked() {
            panic!("{}", fork::MESSAGE);
        }
    }

    /// Refuses new operations, cancels those that are on their way, and waits until the kernel has
    /// let go of them or `deadline` has passed. Waiters are woken; what they wait for gives errors
    /// from now on, on this driver. The second call does nothing.
    pub fn close(&self, deadline: Instant) -> Left {
        match &self.remote.inner {
            Inner::Epoll(poller) => {
                poller.close();
                Left::default()
            }
            Inner::Uring(ring) => Left { requests: ring.close(deadline) },
        }
    }
}

/// Makes `driver` the one that serves I/O polled on this thread, until the guard is dropped.
pub fn install(driver: &Driver) -> Guard {
    current::install_remote(driver.remote())
}

impl Drop for Driver {
    fn drop(&mut self) {
        // In a forked child the descriptors are shared with the parent: only let go of them.
        if !self.remote.is_forked() {
            self.close(Instant::now() + std::time::Duration::from_secs(1));
        }
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("backend", &self.backend()).finish_non_exhaustive()
    }
}

//! Plugs the driver into the scheduler: neither knows the other, and this file knows both.

use std::any::Any;
use std::io;
use std::sync::Arc;

use raddle_base::clock::Instant;
use raddle_base::doorbell::Doorbell;
use raddle_driver as driver;
use raddle_driver::{Backend, Offload, OffloadError};
use raddle_runtime::blocking::{BlockingPool, Refusal};
use raddle_runtime::park::{Driver, Drivers, Remote};

/// Makes one driver a worker.
pub(crate) struct KernelDrivers {
    pub(crate) backend: Backend,
}

impl Drivers for KernelDrivers {
    fn make(
        &self,
        _worker: usize,
        blocking: &Arc<BlockingPool>,
    ) -> io::Result<(Box<dyn Driver>, Arc<dyn Remote>)> {
        let config = driver::Config::new(self.backend, Arc::new(Pool(blocking.clone())));
        let driver = driver::Driver::new(&config)?;
        let remote = driver.remote();
        Ok((Box::new(Owner(driver)), Arc::new(Other(remote))))
    }
}

struct Owner(driver::Driver);

impl Driver for Owner {
    fn doorbell(&self) -> &Doorbell {
        self.0.doorbell()
    }

    fn look(&self, max: usize) -> usize {
        self.0.look(max)
    }

    fn park(&self, deadline: Option<Instant>) {
        self.0.park(deadline);
    }

    fn install(&self) -> Box<dyn Any> {
        Box::new(driver::install(&self.0))
    }

    fn close(&self, deadline: Instant) -> usize {
        self.0.close(deadline).requests
    }
}

struct Other(Arc<driver::Remote>);

impl Remote for Other {
    fn unpark(&self) {
        self.0.unpark();
    }

    fn try_rescue(&self, max: usize, submit: bool) -> Option<usize> {
        self.0.try_rescue(max, submit)
    }

    fn is_pending(&self) -> bool {
        self.0.is_pending()
    }

    fn nudge(&self) {
        self.0.nudge();
    }

    fn install(&self) -> Box<dyn Any> {
        Box::new(driver::install_remote(self.0.clone()))
    }
}

/// The blocking pool, as drivers know it.
struct Pool(Arc<BlockingPool>);

impl Offload for Pool {
    fn run(&self, job: Box<dyn FnOnce() + Send>) -> Result<(), OffloadError> {
        self.0.submit(job).map_err(|error| match error.refusal {
            Refusal::Closed => OffloadError::Closed,
            _ => OffloadError::Full,
        })
    }
}

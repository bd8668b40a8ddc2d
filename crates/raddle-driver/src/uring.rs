//! The io_uring loop.

pub(crate) mod probe;

use crate::wake::Wake;
use raddle_base::clock::Instant;
use raddle_base::doorbell::Doorbell;

/// One worker's ring.
#[derive(Debug)]
pub(crate) enum Ring {}

impl Ring {
    pub(crate) fn wake(&self) -> &Wake {
        match *self {}
    }

    pub(crate) fn doorbell(&self) -> &Doorbell {
        match *self {}
    }

    pub(crate) fn look(&self, _max: usize) -> usize {
        match *self {}
    }

    pub(crate) fn submit(&self) {
        match *self {}
    }

    pub(crate) fn park(&self, _deadline: Option<Instant>) {
        match *self {}
    }

    pub(crate) fn close(&self, _deadline: Instant) -> usize {
        match *self {}
    }

    pub(crate) fn try_rescue(&self, _max: usize) -> Option<usize> {
        match *self {}
    }
}

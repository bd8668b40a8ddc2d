//! What a waiter for permits misses, and how those at the head of the queue are served.

use raddle_base::wait::{Locked, WakeBatch};

/// Outcomes of a wait.
pub(super) const GRANTED: u8 = 1;
pub(super) const REFUSED: u8 = 2;

/// A waiter's payload: what it still misses, and what it has collected so far.
#[derive(Debug)]
pub(crate) struct Need {
    pub(super) missing: usize,
    pub(super) collected: usize,
}

impl Need {
    pub(crate) const fn none() -> Self {
        Need { missing: 0, collected: 0 }
    }
}

/// Serves heads until nothing is left to give or nobody waits: true. False if the batch is full.
pub(super) fn serve_some(
    queue: &mut Locked<'_, Need, ()>,
    count: &mut usize,
    batch: &mut WakeBatch,
) -> bool {
    loop {
        if batch.is_full() {
            return false;
        }
        let satisfied = queue.front(|need| {
            let given = need.missing.min(*count);
            need.missing -= given;
            need.collected += given;
            *count -= given;
            need.missing == 0
        });
        if satisfied != Some(true) {
            return true;
        }
        if let Some(wake) = queue.grant_front(GRANTED) {
            batch.push(wake);
        }
    }
}

//! Tells of a task that does not return.

use std::time::Duration;

use crate::blocking::job;
use crate::sched::shared::Shared;
use crate::sched::stuck::{Others, StuckTask};

/// Tells the callback of the settings, if the task still lives and there is one. A panic of the
/// callback is dropped.
#[cold]
pub(super) fn tell(shared: &Shared, worker: usize, id: u64, running_for: Duration, others: Others) {
    let Some(callback) = &shared.config.on_stuck_task else { return };
    let Some((id, name, spawned_at)) = shared.live.describe(id) else { return };
    let report = StuckTask { id, name, spawned_at, worker, running_for, others };
    job::contain(|| callback(&report));
}

//! A handle that can end a task from anywhere and owns nothing of it.

use std::fmt;

use crate::task::{Id, RawTask};

/// Aborts a task, from any thread, as often as one likes; holds no right to its output.
pub struct AbortHandle(RawTask);

impl AbortHandle {
    pub(crate) fn new(raw: RawTask) -> Self {
        raw.header().state.ref_inc();
        AbortHandle(raw)
    }

    pub(crate) fn raw(&self) -> RawTask {
        self.0
    }

    /// Asks for the end of the task; see [`JoinHandle::abort`](crate::task::JoinHandle::abort).
    pub fn abort(&self) {
        self.0.abort();
    }

    /// The task's name.
    pub(crate) fn name(&self) -> Option<&str> {
        self.0.header().name.as_deref().map(|name| &**name)
    }

    /// Whether the task has ended.
    pub fn is_finished(&self) -> bool {
        self.0.header().state.is_complete()
    }

    /// The id of the task.
    pub fn id(&self) -> Id {
        self.0.header().id
    }
}

impl Clone for AbortHandle {
    fn clone(&self) -> Self {
        AbortHandle::new(self.0)
    }
}

impl Drop for AbortHandle {
    fn drop(&mut self) {
        self.0.drop_refs(1);
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AbortHandle").field(&self.id()).finish()
    }
}

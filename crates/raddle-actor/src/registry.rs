//! All processes that have not ended, by pid. One table for the program.
//!
//! One and not one for each runtime: a pid then names the same process wherever it is sent to, and
//! processes of two runtimes can link and monitor each other. Sixteen shards, each a slab behind a
//! lock; a thread always enters new processes into the same shard, so that workers do not meet. The
//! generation in a pid is the slab's, which gives no key out twice.
//!
//! The locks are std's and not the shim's, since a static cannot be built inside a model; nothing
//! that a model schedules runs under them. Under a lock a slab may grow or shrink.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use raddle_base::padded::CachePadded;
use raddle_base::slab::Slab;

use crate::control::{Control, ProcessRef};
use crate::pid::{Pid, SHARD_BITS};

const SHARDS: usize = 1 << SHARD_BITS;

type Shard = Mutex<Slab<Arc<Control>>>;

static TABLE: [CachePadded<Shard>; SHARDS] =
    [const { CachePadded::new(Mutex::new(Slab::new())) }; SHARDS];

fn lock(shard: usize) -> MutexGuard<'static, Slab<Arc<Control>>> {
    // Poison: a slab is whole after any panic that may happen under its lock.
    TABLE[shard].lock().unwrap_or_else(PoisonError::into_inner)
}

/// The shard of this thread. Never inlined, so that no address of a thread-local is kept over a
/// switch of stacks.
#[inline(never)]
fn shard() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static MINE: Cell<usize> = const { Cell::new(usize::MAX) };
    }
    MINE.with(|mine| {
        if mine.get() == usize::MAX {
            // Relaxed: any spread will do.
            mine.set(NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS);
        }
        mine.get()
    })
}

/// Enters a new process.
pub(crate) fn enter(make: impl FnOnce(Pid) -> Control) -> Arc<Control> {
    let shard = shard();
    let mut slot = None;
    lock(shard).insert_with(|key| {
        let control = Arc::new(make(Pid::new(shard, key)));
        slot = Some(Arc::clone(&control));
        control
    });
    let Some(control) = slot else { unreachable!("the slab calls what it is given") };
    control
}

/// Takes a process out, which has ended.
pub(crate) fn leave(pid: Pid) {
    let (shard, key) = pid.place();
    let removed = lock(shard).remove(key);
    drop(removed);
}

/// The process of this name, if it has not ended.
pub(crate) fn find(pid: Pid) -> Option<Arc<Control>> {
    let (shard, key) = pid.place();
    lock(shard).get(key).cloned()
}

impl Pid {
    /// The process of this name, if it has not ended.
    pub fn process(self) -> Option<ProcessRef> {
        find(self).map(ProcessRef::new)
    }

    /// Whether its process has not ended yet.
    pub fn is_alive(self) -> bool {
        find(self).is_some()
    }
}

/// All processes that have not ended, in no particular order: for tools.
pub fn processes() -> Vec<ProcessRef> {
    let mut all = Vec::new();
    for shard in 0..SHARDS {
        all.extend(lock(shard).iter().map(|(_, control)| ProcessRef::new(Arc::clone(control))));
    }
    all
}

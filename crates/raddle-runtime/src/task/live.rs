//! The set of tasks that have been spawned and have not ended.
//!
//! Sharded by the spawning worker, so that each worker mostly takes a lock nobody else wants.
//! Shutdown closes it (no more tasks) and walks it; a dump walks it without running anything.
//! A task in the list has a reference of the list's, so a walk may use it while it holds the
//! shard's lock, and longer with a reference of its own.
//!
//! **A walk in pieces.** A dump must not hold a lock for a million tasks, and a list has no place
//! to come back to, because whatever one holds on to may leave it. So the walk turns the list: it
//! takes tasks from the front, looks at them, and puts them at the back. Of a list of n tasks, n
//! such steps come by everybody who was there and still is, whoever left or came meanwhile, because
//! who was there stands before who came. Who has been looked at may be come by once more, if others
//! left; two walks at once would take each other's turn, and so one waits for the other.

use std::panic::Location;
use std::ptr::NonNull;

use raddle_base::list::List;
use raddle_base::padded::CachePadded;
use raddle_base::shim::model;
use raddle_base::shim::mutex::Mutex;
use raddle_base::spin::SpinLock;

use crate::task::abort::AbortHandle;
use crate::task::header::{Header, HeaderLinks, RawTask};
use crate::task::id::Id;
use crate::task::view::View;

/// The sharded list.
pub(crate) struct LiveList {
    shards: Box<[CachePadded<Shard>]>,
    /// Held for as long as somebody walks.
    walk: Mutex<()>,
}

/// Tasks that a walk looks at while it holds a lock: some 20 µs if none is in the caches.
const PIECE: usize = model::bound(64, 2);

/// Under a spinning lock: a spawn and an end each change a few words, mostly on one thread.
type Shard = SpinLock<Inner>;

struct Inner {
    tasks: List<HeaderLinks>,
    count: usize,
    closed: bool,
}

impl LiveList {
    pub(crate) fn new(shards: usize) -> Self {
        let shard = || {
            CachePadded::new(SpinLock::new(Inner { tasks: List::new(), count: 0, closed: false }))
        };
        LiveList { shards: (0..shards).map(|_| shard()).collect(), walk: Mutex::new(()) }
    }

    fn shard(&self, task: RawTask) -> &Shard {
        &self.shards[task.header().shard as usize % self.shards.len()]
    }

    /// Enters a new task; false if the list is closed.
    #[inline]
    pub(crate) fn insert(&self, task: RawTask) -> bool {
        self.shard(task).with(|inner| {
            if inner.closed {
                return false;
            }
            inner.count += 1;
            // SAFETY: the task has a reference for this list, so it stays in place until removed;
            // it is new, hence in no list; the lock covers all lists its shard number names.
            unsafe { inner.tasks.push_back(task.as_ptr()) };
            true
        })
    }

    /// Takes a task out that completes; true if it was in.
    #[inline]
    pub(crate) fn remove(&self, task: RawTask) -> bool {
        self.shard(task).with(|inner| {
            // SAFETY: the task is alive, and it can only be in the list of its shard, whose lock
            // is held.
            let was_in = unsafe { inner.tasks.remove(task.as_ptr()) };
            inner.count -= usize::from(was_in);
            was_in
        })
    }

    /// No more tasks from now on.
    pub(crate) fn close(&self) {
        for shard in &self.shards {
            shard.with(|inner| inner.closed = true);
        }
    }

    /// How many tasks are alive. Exact only once nothing is spawned any more.
    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.with(|inner| inner.count)).sum()
    }

    /// Whether no task is alive.
    pub(crate) fn is_empty(&self) -> bool {
        self.shards.iter().all(|shard| shard.with(|inner| inner.count == 0))
    }

    /// Id, name and spawn site of the task with this id, if it is alive. A walk through all tasks.
    pub(crate) fn describe(
        &self,
        id: u64,
    ) -> Option<(Id, Option<String>, &'static Location<'static>)> {
        let mut found = None;
        self.walk(|piece| {
            if let Some(view) = piece.iter().find(|view| view.id.as_u64() == id) {
                found = Some((view.id, view.name().map(String::from), view.site));
            }
        });
        found
    }

    /// All tasks that are alive, each with a reference. For cold paths: it allocates, and holds
    /// each shard's lock for a walk through it.
    pub(crate) fn snapshot(&self) -> Vec<AbortHandle> {
        let mut tasks = Vec::with_capacity(self.len());
        for shard in &self.shards {
            shard.with(|inner| {
                let handle = |task: NonNull<Header>| AbortHandle::new(RawTask::from_header(task));
                tasks.extend(inner.tasks.iter().map(handle));
            });
        }
        tasks
    }

    /// Looks at all tasks that are alive now, piece by piece, and shows each piece to `each`
    /// outside the locks. A task that lives throughout is in a piece at least once; the later look
    /// comes later.
    pub(crate) fn walk(&self, mut each: impl FnMut(&[View])) {
        let _walk = self.walk.lock();
        let mut piece = Vec::with_capacity(PIECE);
        for shard in &self.shards {
            let mut left = shard.with(|inner| inner.count);
            while left != 0 {
                shard.with(|inner| inner.look_at(left.min(PIECE), &mut piece));
                if piece.is_empty() {
                    break;
                }
                left -= piece.len();
                each(&piece);
                // References of named tasks are given up here, without the lock.
                piece.clear();
            }
        }
    }
}

impl Inner {
    /// Looks at `count` tasks and turns the list by as many.
    fn look_at(&mut self, count: usize, piece: &mut Vec<View>) {
        for _ in 0..count {
            let Some(task) = self.tasks.pop_front() else { return };
            piece.push(View::of(RawTask::from_header(task)));
            // SAFETY: the task has the list's reference, and was taken out just now, under the
            // lock that is still held.
            unsafe { self.tasks.push_back(task) };
        }
    }
}

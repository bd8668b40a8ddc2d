//! The owner's turn: submit, look, park, close.
//!
//! A turn enters the kernel once: the park that submits what was prepared also waits. Looking
//! enters only if something was prepared or the kernel has raised a flag. When completions are
//! there already, nothing waits: ready work comes first.

use super::inflight::Inflight;
use super::{Errand, Inbox, Ring};
use crate::sys::uring::{SQ_CQ_OVERFLOW, SQ_TASKRUN, Uring};
use crate::watcher::Watcher;
use raddle_base::clock::Instant;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Completions told at one look of a park.
const BATCH: usize = 256;
/// The longest a single wait lasts; the caller of a park is ready for early returns.
const LONGEST: Duration = Duration::from_secs(86_400);
/// How long a close waits between two attempts to cancel what is left.
const CLOSE_STEP: Duration = Duration::from_millis(10);

impl Ring {
    /// The open ring; `None` once it was closed.
    fn open(&self) -> Option<Arc<Uring>> {
        self.owned().uring.borrow().clone()
    }

    /// Submits what was prepared.
    pub(crate) fn submit(&self) {
        if self.owned().doorbell.prepared() != 0
            && let Some(uring) = &*self.owned().uring.borrow()
        {
            self.flush(uring, false);
        }
    }

    /// Submits, looks, tells. How many events.
    pub(crate) fn look(&self, max: usize) -> usize {
        self.chores();
        if let Some(uring) = &*self.owned().uring.borrow() {
            let look = self.must_enter();
            if look || self.owned().doorbell.prepared() != 0 {
                self.flush(uring, look);
            }
        }
        if self.has_completions() { self.reap_and_count(max) } else { 0 }
    }

    fn reap_and_count(&self, max: usize) -> usize {
        let told = self.reap(max);
        let turn = &self.owned().told;
        turn.set(turn.get().saturating_add(u32::try_from(told).unwrap_or(u32::MAX)));
        self.pool().expect(told as u32);
        // The completion that tells of an errand has been taken, and the next look may be far.
        if self.wake.take_errand() {
            self.run_errands();
        }
        told
    }

    /// Whether the kernel has work that runs only when this thread enters. Any system call of a
    /// task runs it too; a worker that has such tasks to run leaves its driver alone until then.
    fn must_enter(&self) -> bool {
        self.memory.load_flags() & (SQ_CQ_OVERFLOW | SQ_TASKRUN) != 0
    }

    /// Whether completions wait to be read: one load.
    fn has_completions(&self) -> bool {
        self.memory.load_tail() != self.owned().seen.get()
    }

    /// Errands and returned buffers: two loads if there are none.
    fn chores(&self) {
        if self.wake.take_errand() {
            self.run_errands();
        }
        self.pool().reclaim();
    }

    #[cold]
    fn run_errands(&self) {
        let errands = self.take_errands();
        let mut inflight = self.inflight.lock();
        let done = Ring::prepare(errands, &mut inflight);
        self.account(&inflight, Some(self.owned()));
        drop(inflight);
        // Destructors run here, after the lock.
        drop(done);
    }

    pub(super) fn take_errands(&self) -> Vec<Errand> {
        std::mem::take(&mut self.inbox.lock().errands)
    }

    /// Prepares what other threads have asked for. What is returned is to be dropped after the
    /// lock.
    pub(super) fn prepare(errands: Vec<Errand>, inflight: &mut Inflight) -> Vec<Arc<dyn Watcher>> {
        let mut done = Vec::new();
        for errand in errands {
            match errand {
                // SAFETY: whoever posted it answered for the addresses as long as the watcher
                // lives, and the slab keeps it.
                Errand::Submit(sqe, watcher, role) => unsafe {
                    inflight.insert(sqe, watcher, role);
                },
                Errand::Delay(time, watcher) => inflight.insert_delay(time, watcher),
                Errand::Cancel(watcher, role) => {
                    // What is deferred has no key yet.
                    inflight.catch_up();
                    let key = watcher.key(role).and_then(raddle_base::slab::Key::from_bits);
                    key.into_iter().for_each(|key| inflight.cancel(key));
                    done.push(watcher);
                }
            }
        }
        inflight.refill();
        done
    }

    /// Enters until everything prepared is submitted, or the kernel takes no more for now.
    fn flush(&self, uring: &Uring, mut look: bool) {
        loop {
            let mut inflight = self.inflight.lock();
            inflight.refill();
            let waiting = inflight.waiting();
            self.account(&inflight, Some(self.owned()));
            drop(inflight);
            if waiting == 0 && !look {
                return;
            }
            match uring.enter(waiting, look) {
                Ok(0) if waiting != 0 => return,
                Ok(taken) => {
                    look = false;
                    let left = self.owned().doorbell.prepared().saturating_sub(taken);
                    self.owned().doorbell.set_prepared(left);
                    if left == 0 {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // EBUSY: completions have overflowed and must be read first. EAGAIN: no memory
                // now. What is prepared stays so, and the next look tries again.
                Err(_) => return,
            }
        }
    }

    /// Submits, waits, tells.
    pub(crate) fn park(&self, deadline: Option<Instant>) {
        if self.wake.take_token() {
            self.look(BATCH);
            return;
        }
        self.chores();
        {
            let open = self.owned().uring.borrow();
            let Some(uring) = &*open else { return };
            self.wait(uring, deadline);
        }
        // A new turn.
        self.owned().told.set(0);
        if self.has_completions() {
            self.reap_and_count(BATCH);
        }
        let _ = self.wake.take_token();
    }

    /// One entry that submits and waits, unless there is ready work.
    fn wait(&self, uring: &Uring, deadline: Option<Instant>) {
        let mut submit = 0;
        if self.owned().doorbell.prepared() != 0 {
            let mut inflight = self.inflight.lock();
            inflight.refill();
            submit = inflight.waiting();
            let spilled = inflight.prepared() != submit;
            drop(inflight);
            if spilled {
                // More than one entry: the last of them must not wait before all is submitted.
                self.flush(uring, false);
                submit = 0;
            }
        }
        if self.has_completions() {
            return self.flush(uring, false);
        }
        let limit = match deadline.filter(|at| !at.is_far_future()) {
            None => None,
            // One clock read per park with a deadline: the kernel's time-out is relative.
            Some(at) => match at.duration_since(Instant::now()) {
                Duration::ZERO => return self.flush(uring, true),
                left => Some(left.min(LONGEST)),
            },
        };
        // A time-out, a signal or an overflow are early returns: the caller looks again.
        if let Ok(taken) = uring.enter_and_wait(submit, limit) {
            let left = self.owned().doorbell.prepared().saturating_sub(taken);
            self.owned().doorbell.set_prepared(left);
        } else if submit != 0 {
            self.account(&self.inflight.lock(), Some(self.owned()));
        }
    }

    /// Cancels everything and waits for it, until `deadline` at most. How many requests are left:
    /// their memory is never freed.
    pub(crate) fn close(&self, deadline: Instant) -> usize {
        let Some(uring) = self.open() else { return 0 };
        self.close_inbox();
        self.inflight.lock().closing = true;
        loop {
            self.flush(&uring, true);
            self.reap(usize::MAX);
            if self.inflight.lock().requests() == 0 {
                break;
            }
            let left = deadline.duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            self.inflight.lock().cancel_all();
            self.flush(&uring, true);
            if !self.has_completions() {
                let _ = uring.enter_and_wait(0, Some(left.min(CLOSE_STEP)));
            }
        }
        self.let_go(uring)
    }

    fn close_inbox(&self) {
        let closed = Inbox { closed: true, errands: Vec::new() };
        let errands = std::mem::replace(&mut *self.inbox.lock(), closed).errands;
        Ring::refuse_all(errands);
    }

    /// Tells those who have posted these that nothing comes of them.
    pub(super) fn refuse_all(errands: Vec<Errand>) {
        for errand in errands {
            match errand {
                Errand::Submit(_, watcher, role) => Ring::refuse(watcher, role),
                Errand::Delay(_, watcher) => {
                    Ring::refuse(watcher, crate::watcher::Role::Delay);
                }
                Errand::Cancel(..) => {}
            }
        }
    }

    /// Closes the descriptor. Buffers go after it, or never.
    fn let_go(&self, uring: Arc<Uring>) -> usize {
        let mut inflight = self.inflight.lock();
        let left = inflight.requests();
        if left == 0 {
            let _ = uring.unregister_buffers(super::buffers::GROUP);
        } else {
            inflight.leak();
            // The kernel may still pick one of its buffers.
            std::mem::forget(Arc::clone(self.pool()));
        }
        let rescuers = inflight.uring.take();
        drop(inflight);
        drop(rescuers);
        self.owned().uring.borrow_mut().take();
        drop(uring);
        left
    }
}

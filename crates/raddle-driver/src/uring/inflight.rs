//! Everything of a ring that is under the driver lock: the queue ends and what is on its way.
//!
//! Each request has a place in a slab; its completions carry the key, place and generation, so a
//! completion never reaches a request that came to the place later. Ends without a request of
//! their own (the outcome of a cancellation) have places too, so that there is no magic number.
//!
//! | place | holds | leaves |
//! |---|---|---|
//! | nobody | nothing: outcomes nobody asks for | never |
//! | wake | the poll of the wake descriptor | never; armed again when it ends |
//! | request | the watcher, hence descriptor and memory | at the last completion |
//! | delay | the watcher and the time the kernel reads | at the completion |
//!
//! A request belongs to the thread that submits it, so the owner fills the submission queue, and
//! whoever takes its place while it is stuck. One that only looks after it for a moment notes what
//! is to be submitted. An entry that does not fit goes to a FIFO behind the queue and is never
//! lost.

use crate::sys::sqe::Sqe;
use crate::sys::uring::{Completion, Cqe, Submission, Uring};
use crate::watcher::{Due, News, Role, Watcher};
use raddle_base::slab::{Key, Slab};
use std::collections::VecDeque;
use std::os::fd::RawFd;
use std::sync::Arc;

/// Who a completion is for.
enum Slot {
    Nobody,
    Wake,
    Request(Arc<dyn Watcher>, Role),
    /// The time is read at submission; boxed so that it stays in place until then.
    Delay(
        Arc<dyn Watcher>,
        #[expect(dead_code, reason = "kept for the kernel")] Box<libc::timespec>,
    ),
}

/// What is left to whoever submits.
enum Deferred {
    Cancel(Key),
    Submit(Sqe, Arc<dyn Watcher>, Role),
}

/// The state under the driver lock.
pub(crate) struct Inflight {
    slots: Slab<Slot>,
    sq: Submission,
    cq: Completion,
    /// Entries that did not fit, oldest first.
    spill: VecDeque<Sqe>,
    /// What was noted, oldest first.
    deferred: Vec<Deferred>,
    nobody: Key,
    wake: Key,
    wake_fd: RawFd,
    wake_armed: bool,
    /// For rescuers; gone when the ring is closed.
    pub(crate) uring: Option<Arc<Uring>>,
    pub(crate) closing: bool,
}

impl Inflight {
    pub(crate) fn new(uring: Arc<Uring>, wake_fd: RawFd) -> Inflight {
        // SAFETY: the ring is new, and this is the only call for it.
        let (sq, cq) = unsafe { uring.memory().split() };
        let mut slots = Slab::new();
        let (nobody, wake) = (slots.insert(Slot::Nobody), slots.insert(Slot::Wake));
        Inflight {
            slots,
            sq,
            cq,
            spill: VecDeque::new(),
            deferred: Vec::new(),
            nobody,
            wake,
            wake_fd,
            wake_armed: false,
            uring: Some(uring),
            closing: false,
        }
    }

    /// How many entries wait to be submitted.
    pub(crate) fn prepared(&self) -> u32 {
        self.sq.waiting() + self.spill.len() as u32
    }

    /// How many of them the kernel can take now.
    pub(crate) fn waiting(&self) -> u32 {
        self.sq.waiting()
    }

    /// How far the completion queue was read.
    pub(crate) fn head(&self) -> u32 {
        self.cq.head()
    }

    /// How many requests the kernel may still hold.
    pub(crate) fn requests(&self) -> usize {
        self.slots.len() - 2 + self.deferred.len()
    }

    /// Prepares a request of `watcher`.
    ///
    /// # Safety
    ///
    /// The addresses in the entry must stay valid as long as the watcher lives.
    pub(crate) unsafe fn insert(&mut self, sqe: Sqe, watcher: Arc<dyn Watcher>, role: Role) {
        let told = Arc::clone(&watcher);
        let key = self.slots.insert(Slot::Request(watcher, role));
        told.set_key(role, Some(key.to_bits()));
        // SAFETY: the slab keeps the watcher until the last completion.
        unsafe { self.push(sqe, key) };
    }

    /// Prepares a pause.
    pub(crate) fn insert_delay(&mut self, time: libc::timespec, watcher: Arc<dyn Watcher>) {
        let time = Box::new(time);
        let sqe = Sqe::timeout(&raw const *time);
        let key = self.slots.insert(Slot::Delay(watcher, time));
        // SAFETY: the slab keeps the box until the completion.
        unsafe { self.push(sqe, key) };
    }

    /// Arms the wake descriptor, unless it is.
    pub(crate) fn arm_wake(&mut self) {
        if !self.wake_armed && !self.closing {
            self.wake_armed = true;
            let sqe = Sqe::poll(self.wake_fd, libc::EPOLLIN as u32, true);
            // SAFETY: the entry names no memory.
            unsafe { self.push(sqe, self.wake) };
        }
    }

    /// Prepares the cancellation of a request that is still on its way.
    pub(crate) fn cancel(&mut self, key: Key) {
        if self.slots.contains(key) {
            // SAFETY: the entry names no memory.
            unsafe { self.push(Sqe::cancel(key.to_bits()), self.nobody) };
        }
    }

    /// Prepares the cancellation of all requests.
    pub(crate) fn cancel_all(&mut self) {
        // SAFETY: the entry names no memory.
        unsafe { self.push(Sqe::cancel_any(), self.nobody) };
    }

    /// # Safety
    ///
    /// As for [`Submission::push`].
    unsafe fn push(&mut self, sqe: Sqe, key: Key) {
        let sqe = sqe.with_user_data(key.to_bits());
        if !self.spill.is_empty() {
            return self.spill.push_back(sqe);
        }
        // SAFETY: promised by the caller.
        if let Err(sqe) = unsafe { self.sq.push(sqe) } {
            self.spill.push_back(sqe);
        }
    }

    /// Moves what was spilled into the queue, as far as there is room, and does what rescuers have
    /// left to do.
    pub(crate) fn refill(&mut self) {
        while let Some(&sqe) = self.spill.front() {
            // SAFETY: whoever spilled it answered for it; it is pushed once.
            if unsafe { self.sq.push(sqe) }.is_err() {
                break;
            }
            self.spill.pop_front();
        }
        if !self.deferred.is_empty() {
            self.catch_up();
        }
        self.arm_wake();
    }

    /// Does what rescuers have left to do. For whoever submits.
    pub(crate) fn catch_up(&mut self) {
        for deferred in std::mem::take(&mut self.deferred) {
            match deferred {
                Deferred::Cancel(key) => self.cancel(key),
                // SAFETY: as in `go_on`.
                Deferred::Submit(sqe, watcher, role) => unsafe {
                    self.insert(sqe, watcher, role);
                },
            }
        }
    }

    /// Whether something is left to be done by [`refill`](Self::refill).
    pub(crate) fn has_deferred(&self) -> bool {
        !self.deferred.is_empty() || !self.wake_armed
    }

    /// Takes completions and tells whom they concern, until there is none, `max` are told or
    /// `due` is full. How many, and whether there are more.
    pub(crate) fn reap(&mut self, max: usize, owner: bool, due: &mut Due) -> (usize, bool) {
        let ready = self.cq.ready();
        let limit = ready.min(u32::try_from(max).unwrap_or(u32::MAX));
        let mut taken = 0;
        while taken < limit && due.has_room() {
            let cqe = self.cq.peek(taken);
            taken += 1;
            self.dispatch(cqe, owner, due);
        }
        if taken != 0 {
            self.cq.advance(taken);
        }
        (taken as usize, taken < ready)
    }

    fn dispatch(&mut self, cqe: Cqe, owner: bool, due: &mut Due) {
        let Some(key) = Key::from_bits(cqe.user_data) else { return };
        let then = match self.slots.get(key) {
            None | Some(Slot::Nobody) => return,
            Some(Slot::Wake) => return self.woken(cqe, owner),
            Some(Slot::Request(watcher, role)) if cqe.more() => {
                let then = watcher.tell(*role, News::Completed(cqe), due);
                if then.later {
                    due.release(Arc::clone(watcher), true);
                }
                then
            }
            Some(Slot::Request(..) | Slot::Delay(..)) => {
                return self.finish(key, cqe, owner, due);
            }
        };
        if then.cancel {
            if owner { self.cancel(key) } else { self.deferred.push(Deferred::Cancel(key)) }
        }
    }

    /// The last completion of a request: its place becomes vacant, unless it goes on.
    fn finish(&mut self, key: Key, cqe: Cqe, owner: bool, due: &mut Due) {
        let (watcher, role, mut then) = match self.slots.remove(key) {
            Some(Slot::Request(watcher, role)) => {
                watcher.set_key(role, None);
                let then = watcher.tell(role, News::Completed(cqe), due);
                (watcher, role, then)
            }
            Some(Slot::Delay(watcher, _)) => {
                let then = watcher.tell(Role::Delay, News::Elapsed, due);
                (watcher, Role::Delay, then)
            }
            Some(Slot::Nobody | Slot::Wake) | None => return,
        };
        if let Some(sqe) = then.again {
            if !self.closing {
                if then.later {
                    due.release(Arc::clone(&watcher), true);
                }
                return self.go_on(sqe, watcher, role, owner);
            }
            // Each telling may have found waiters in the queue.
            let refused = watcher.tell(role, News::Refused, due);
            then.later |= refused.later;
        }
        due.release(watcher, then.later);
    }

    /// The next request of the same watcher and role.
    fn go_on(&mut self, sqe: Sqe, watcher: Arc<dyn Watcher>, role: Role, owner: bool) {
        if owner {
            // SAFETY: the watcher, which made the entry, answers for what it names.
            unsafe { self.insert(sqe, watcher, role) };
        } else {
            self.deferred.push(Deferred::Submit(sqe, watcher, role));
        }
    }

    fn woken(&mut self, cqe: Cqe, owner: bool) {
        if !cqe.more() {
            self.wake_armed = false;
            if owner {
                self.arm_wake();
            }
        }
    }

    /// Gives up what the kernel still holds: it is never freed. How many requests that are.
    pub(crate) fn leak(&mut self) -> usize {
        let left = self.requests();
        std::mem::forget(std::mem::take(&mut self.slots));
        left
    }
}

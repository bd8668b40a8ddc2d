//! From one incarnation of a process to the next: the mailbox stays, calls do not.

use std::mem;

use raddle_base::shim::atomic::Ordering::{Relaxed, Release};

use super::receive::Mailbox;
use super::search::Search;
use super::shared::{Entry, INCARNATION};
use crate::control::ProcessRef;

impl<M> Mailbox<M> {
    /// Says which process receives from now on: what [`Address::pid`](crate::Address::pid) tells.
    pub fn begin_incarnation(&mut self, process: ProcessRef) {
        let mut locked = self.shared.queue.lock();
        let old = locked.shared().process.replace(process);
        drop(locked);
        drop(old);
    }

    /// The process has ended, and another one will receive. Plain messages stay, in order; calls
    /// that were not received are taken out and dropped, and their callers told that it
    /// [stopped](crate::CallError::Stopped). Returns how many there were.
    ///
    /// To be called before the state of the old incarnation is dropped, so that callers whose
    /// [`Reply`](crate::Reply) lies there are told the same. Senders go on all the while.
    pub fn end_incarnation(&mut self) -> usize {
        self.take_in_hand(&mut Search::new());
        let mut calls: Vec<Entry<M>> = Vec::new();
        let process = loop {
            let mut locked = self.shared.queue.lock();
            let state = locked.shared();
            let fresh = state.messages.len();
            if fresh > 0 || state.shed > 0 {
                drop(locked);
                self.take_in_hand(&mut Search::new());
                continue;
            }
            if calls.capacity() < self.hand.len() {
                drop(locked);
                calls.reserve(self.hand.len());
                continue;
            }
            // Release: who sees the new count sees what led to it.
            self.shared.queue.word().fetch_add(INCARNATION, Release);
            let process = state.process.take();
            // Moves entries, and neither allocates nor drops any.
            for _ in 0..self.hand.len() {
                let Some(entry) = self.hand.pop_front() else { break };
                if entry.is_call { calls.push(entry) } else { self.hand.push_back(entry) }
            }
            // Relaxed: written under the lock.
            self.shared.held.store(self.hand.len(), Relaxed);
            break process;
        };
        drop(process);
        let count = calls.len();
        // Room first: a destructor of a message may panic.
        self.shared.admit_all();
        drop(calls);
        count
    }

    /// How many incarnations have ended.
    pub fn incarnation(&self) -> u32 {
        self.shared.word() / INCARNATION
    }

    /// Accepts nothing any more. Senders that wait get their messages back; messages that are there
    /// can be received. Callers whose call is not answered are told that it stopped.
    pub fn close(&mut self) {
        self.shared.close();
    }

    /// Drops all messages that are there, and returns how many. Calls among them are answered
    /// "dropped", or "stopped" if the mailbox is closed.
    pub fn clear(&mut self) -> usize {
        self.take_in_hand(&mut Search::new());
        let dropped = mem::take(&mut self.hand);
        let locked = self.shared.queue.lock();
        // Relaxed: written under the lock.
        self.shared.held.store(0, Relaxed);
        drop(locked);
        self.shared.admit_all();
        dropped.len()
    }
}

//! The process' own side of its control: what it looks at when it goes on, and how it ends.

use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use raddle_base::wait::WakeBatch;

use super::core::{Control, Extras};
use super::join::announce_end;
use super::process::ProcessRef;
use super::signal::{Event, MonitorRef, Signal};
use super::word::{DOOMED, EVENTS, EXITING, KILLED, TRAP, WATCHED};
use super::{links, monitors};
use crate::exit::ExitReason;
use crate::pid::Pid;
use crate::{groups, names, registry};

/// The life of one process, from its pid to its exit reason. Whoever runs the process holds it:
/// one owner, who may send it to another thread and not share it.
///
/// Dropping it ends the process with [`ExitReason::Killed`], unless [`end`](Self::end) came first.
/// (If it is forgotten, the process stays registered for ever, and nobody is told of its end.)
pub struct Life {
    control: Arc<Control>,
    /// What the waker that was left last looks like: data and vtable, only compared.
    watched: Cell<(usize, usize)>,
}

impl Life {
    /// A new process, with a pid of its own: one allocation and a place in the registry.
    pub fn begin() -> Life {
        Life::of(registry::enter(Control::new))
    }

    /// The life of whoever has this control.
    pub(crate) fn of(control: Arc<Control>) -> Life {
        Life { control, watched: Cell::new((0, 0)) }
    }

    /// A reference for others.
    pub fn process(&self) -> ProcessRef {
        ProcessRef::new(Arc::clone(&self.control))
    }

    /// The process' name.
    #[inline]
    pub fn pid(&self) -> Pid {
        self.control.pid
    }

    /// The reason with which the process has to end now, if a signal says so: it was killed, or it
    /// got an exit signal that it does not trap. One load where there is none.
    ///
    /// To be asked whenever the process goes on. The answer stays until the end.
    #[inline]
    pub fn doom(&self) -> Option<ExitReason> {
        if self.control.word().has(DOOMED) { self.first_doom() } else { None }
    }

    /// Whether there is a [`doom`](Self::doom).
    #[inline]
    pub(crate) fn is_doomed(&self) -> bool {
        self.control.word().has(DOOMED)
    }

    /// Whether the doom is a kill, which no end in peace outweighs.
    #[inline]
    pub(crate) fn is_killed(&self) -> bool {
        self.control.word().has(KILLED)
    }

    /// As [`is_killed`](Self::is_killed); if it is not, the task of `cx` is woken when it is.
    pub(crate) fn poll_kill(&self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if self.is_killed() {
                return Poll::Ready(());
            }
            if self.watch(cx.waker(), KILLED) {
                return Poll::Pending;
            }
        }
    }

    #[cold]
    fn first_doom(&self) -> Option<ExitReason> {
        let mut inner = self.control.lock();
        inner.extras_if_any()?.dooms.front().map(|doom| doom.reason.clone())
    }

    /// As [`doom`](Self::doom); if there is none, the task of `cx` is woken when there is.
    ///
    /// Where the waker is the one that was left before, this is one load.
    pub fn poll_doom(&self, cx: &mut Context<'_>) -> Poll<ExitReason> {
        loop {
            if let Some(reason) = self.doom() {
                return Poll::Ready(reason);
            }
            if self.watch(cx.waker(), DOOMED) {
                return Poll::Pending;
            }
        }
    }

    /// The next event, if one has come: they have a lane of their own.
    #[inline]
    pub fn next_event(&self) -> Option<Event> {
        if self.control.word().has(EVENTS) { self.take_event() } else { None }
    }

    #[cold]
    fn take_event(&self) -> Option<Event> {
        let mut inner = self.control.lock();
        let events = &mut inner.extras_if_any()?.events;
        let event = events.pop_front();
        let mut spare = VecDeque::new();
        if events.is_empty() {
            spare = std::mem::take(events);
            self.control.word().clear(EVENTS);
        }
        drop(inner);
        drop(spare);
        event
    }

    /// As [`next_event`](Self::next_event); if there is none, the task of `cx` is woken when there
    /// is one. A [doom](Self::doom) comes first, and is the error.
    pub fn poll_event(&self, cx: &mut Context<'_>) -> Poll<Result<Event, ExitReason>> {
        loop {
            if let Some(reason) = self.doom() {
                return Poll::Ready(Err(reason));
            }
            if let Some(event) = self.next_event() {
                return Poll::Ready(Ok(event));
            }
            if self.watch(cx.waker(), EVENTS | DOOMED) {
                return Poll::Pending;
            }
        }
    }

    /// Leaves the waker unless one of the bits is set; false then.
    #[inline]
    fn watch(&self, waker: &Waker, bits: u32) -> bool {
        let stamp = (waker.data().addr(), std::ptr::from_ref(waker.vtable()).addr());
        // The waker that was left is alive while the bit is set, so equal addresses mean the same
        // waker. If it is taken away now, it is about to be called.
        if self.watched.get() == stamp && self.control.word().has(WATCHED) {
            return true;
        }
        self.watched.set(stamp);
        self.control.watch(waker, bits)
    }

    /// Whether exit signals become events, and what it was before.
    pub fn trap_exit(&self, trap: bool) -> bool {
        let inner = self.control.lock();
        let before = self.control.word().has_locked(TRAP);
        if trap {
            self.control.word().set(TRAP);
        } else {
            self.control.word().clear(TRAP);
        }
        drop(inner);
        before
    }

    /// Links this process to another: the end of one is a signal to the other. Links have no
    /// direction and do not add up. A process that has ended sends its signal at once, with
    /// [`ExitReason::NoProcess`].
    pub fn link(&self, other: &ProcessRef) {
        links::link(&self.control, &other.control);
    }

    /// As [`link`](Self::link), by pid.
    pub fn link_pid(&self, pid: Pid) {
        match registry::find(pid) {
            Some(other) => self.link(&ProcessRef::new(other)),
            None => self.control.deliver(links::no_process(pid)),
        }
    }

    /// Takes a link back. No signal of it comes after this, and one that came and was not looked at
    /// is gone. Signals that were sent by [`ProcessRef::exit`] stay.
    pub fn unlink(&self, pid: Pid) {
        links::unlink(&self.control, pid);
    }

    /// Has this process told of the end of another, once, by [`Event::Down`]. Monitors add up. Of a
    /// process that has ended it is told at once, with [`ExitReason::NoProcess`]; of its own end
    /// never.
    pub fn monitor(&self, other: &ProcessRef) -> MonitorRef {
        monitors::monitor(&self.control, &other.control)
    }

    /// As [`monitor`](Self::monitor), by pid.
    pub fn monitor_pid(&self, pid: Pid) -> MonitorRef {
        match registry::find(pid) {
            Some(other) => self.monitor(&ProcessRef::new(other)),
            None => monitors::monitor_nobody(&self.control, pid),
        }
    }

    /// Ends a monitor. No event of it comes after this, and one that came and was not received is
    /// gone; false if it was received before, or the monitor is not this process'.
    pub fn demonitor(&self, monitor: MonitorRef) -> bool {
        monitors::demonitor(&self.control, monitor)
    }

    /// Ends the process: its pid, names and groups are free, its links and monitors are told, and
    /// whoever joins it goes on, in this order. False if it had ended.
    ///
    /// Wakers that panic strand nobody; the first panic goes on when all is done.
    pub fn end(&self, reason: ExitReason) -> bool {
        let mut inner = self.control.lock();
        let begun = inner.begin_end(self.control.word(), reason);
        drop(inner);
        let Ok((extras, waker)) = begun else { return false };
        registry::leave(self.control.pid);
        let rest = Rest { control: &self.control };
        if let Some(extras) = extras {
            self.tell(*extras);
        }
        drop(rest);
        drop(waker);
        true
    }

    /// Whether [`end`](Self::end) was called.
    pub fn has_ended(&self) -> bool {
        self.control.word().has(EXITING)
    }

    fn tell(&self, extras: Extras) {
        let (pid, control) = (self.control.pid, &self.control);
        names::release(&extras.names, pid);
        groups::release(&extras.groups, pid);
        let reason = control.lock().reason.clone().unwrap_or(ExitReason::NoProcess);
        let mut batch = WakeBatch::new();
        for peer in extras.links.values() {
            let mut inner = peer.lock();
            if inner.extras_if_any().is_some_and(|its| its.links.remove(&pid).is_some()) {
                let reason = reason.clone();
                let signal = Signal::Exit { from: Some(pid), reason, linked: true };
                let after = inner.accept(peer.word(), signal);
                drop(inner);
                after.add_to(&mut batch);
            }
        }
        for (monitor, watcher) in &extras.watchers {
            let mut inner = watcher.lock();
            if inner.extras_if_any().is_some_and(|its| its.watching.remove(monitor).is_some()) {
                let reason = reason.clone();
                let signal = Signal::Down { monitor: *monitor, pid, reason };
                let after = inner.accept(watcher.word(), signal);
                drop(inner);
                after.add_to(&mut batch);
            }
        }
        for (monitor, target) in &extras.watching {
            let removed = target.lock().extras_if_any().map(|its| its.watchers.remove(monitor));
            drop(removed);
        }
        batch.finish();
    }
}

/// The last step of an end, also if a waker panics before.
struct Rest<'a> {
    control: &'a Control,
}

impl Drop for Rest<'_> {
    fn drop(&mut self) {
        announce_end(self.control);
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        self.end(ExitReason::Killed);
    }
}

impl fmt::Debug for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Life").field(&self.control).finish()
    }
}

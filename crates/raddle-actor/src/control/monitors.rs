//! Monitors: one process is told of the end of another, which does not know.

use std::sync::Arc;

use super::core::{Control, Inner};
use super::links::take_where;
use super::signal::{Event, MonitorRef, Signal};
use super::word::EVENTS;
use crate::exit::ExitReason;
use crate::pid::Pid;

/// Has `mine` told of the end of `theirs`; at once, if that came before.
pub(crate) fn monitor(mine: &Arc<Control>, theirs: &Arc<Control>) -> MonitorRef {
    if mine.pid == theirs.pid {
        return number(mine, &mut mine.lock());
    }
    let (mut my_inner, mut their_inner) = mine.lock_both(theirs);
    let monitor = number(mine, &mut my_inner);
    if my_inner.is_exiting() {
        return monitor;
    }
    if their_inner.is_exiting() {
        let after = my_inner.accept(mine.word(), no_process(monitor, theirs.pid));
        drop((my_inner, their_inner));
        after.run();
        return monitor;
    }
    my_inner.extras().watching.insert(monitor, Arc::clone(theirs));
    their_inner.extras().watchers.insert(monitor, Arc::clone(mine));
    monitor
}

/// A monitor that was not there before.
fn number(mine: &Control, inner: &mut Inner) -> MonitorRef {
    let extras = inner.extras();
    extras.monitors += 1;
    MonitorRef::new(mine.pid, extras.monitors)
}

/// Monitors a process that is not there.
pub(crate) fn monitor_nobody(mine: &Control, pid: Pid) -> MonitorRef {
    let monitor = number(mine, &mut mine.lock());
    mine.deliver(no_process(monitor, pid));
    monitor
}

fn no_process(monitor: MonitorRef, pid: Pid) -> Signal {
    Signal::Down { monitor, pid, reason: ExitReason::NoProcess }
}

/// Ends the monitor, and takes back what it told and was not looked at yet. False if it had told,
/// and that was received.
pub(crate) fn demonitor(mine: &Control, monitor: MonitorRef) -> bool {
    let target = mine.lock().extras_if_any().and_then(|e| e.watching.get(&monitor).cloned());
    let mut removed = (None, None);
    if let Some(target) = &target {
        let (mut my_inner, mut their_inner) = mine.lock_both(target);
        removed.0 = my_inner.extras_if_any().and_then(|e| e.watching.remove(&monitor));
        removed.1 = their_inner.extras_if_any().and_then(|e| e.watchers.remove(&monitor));
    }
    let mut purged = Vec::new();
    let mut inner = mine.lock();
    if let Some(extras) = inner.extras_if_any() {
        let is_it =
            |event: &Event| matches!(event, Event::Down { monitor: of, .. } if *of == monitor);
        purged = take_where(&mut extras.events, is_it);
        if extras.events.is_empty() {
            mine.word().clear(EVENTS);
        }
    }
    drop(inner);
    removed.0.is_some() || !purged.is_empty()
}

//! Links: two processes of which each is told of the other's end.

use std::collections::VecDeque;
use std::sync::Arc;

use super::core::{Control, Inner};
use super::signal::{Doom, Event, Signal};
use super::word::{DOOMED, EVENTS, Word};
use crate::exit::ExitReason;
use crate::pid::Pid;

/// Links the two. Nothing happens if they are linked, if they are one, or if `mine` is exiting; if
/// `theirs` is, `mine` gets its exit signal at once.
pub(crate) fn link(mine: &Arc<Control>, theirs: &Arc<Control>) {
    if mine.pid == theirs.pid {
        return;
    }
    let (mut my_inner, mut their_inner) = mine.lock_both(theirs);
    if my_inner.is_exiting() {
        return;
    }
    if their_inner.is_exiting() {
        let after = my_inner.accept(mine.word(), no_process(theirs.pid));
        drop((my_inner, their_inner));
        return after.run();
    }
    my_inner.extras().links.insert(theirs.pid, Arc::clone(theirs));
    their_inner.extras().links.insert(mine.pid, Arc::clone(mine));
}

/// The exit signal of a process that was gone before the link.
pub(crate) fn no_process(pid: Pid) -> Signal {
    Signal::Exit { from: Some(pid), reason: ExitReason::NoProcess, linked: true }
}

/// Takes the link between the two back, and what came through it and was not looked at yet.
pub(crate) fn unlink(mine: &Control, pid: Pid) {
    let mut inner = mine.lock();
    let peer = inner.extras_if_any().and_then(|extras| extras.links.get(&pid).cloned());
    let Some(peer) = peer else {
        let purged = purge(&mut inner, mine.word(), pid);
        drop(inner);
        // Reasons may hold foreign errors: dropped after the lock.
        return drop(purged);
    };
    drop(inner);
    let (mut inner, mut theirs) = mine.lock_both(&peer);
    let ours = inner.extras_if_any().and_then(|extras| extras.links.remove(&pid));
    let its = theirs.extras_if_any().and_then(|extras| extras.links.remove(&mine.pid));
    let purged = purge(&mut inner, mine.word(), pid);
    drop((inner, theirs));
    drop((purged, ours, its));
}

/// Takes out what came through the link with `pid`.
fn purge(inner: &mut Inner, word: Word<'_>, pid: Pid) -> (Vec<Event>, Vec<Doom>) {
    let Some(extras) = inner.extras_if_any() else { return Default::default() };
    let is_it = |event: &Event| match event {
        Event::Exit { pid: from, linked, .. } => *linked && *from == Some(pid),
        _ => false,
    };
    let events = take_where(&mut extras.events, is_it);
    let dooms = take_where(&mut extras.dooms, |doom| doom.link == Some(pid));
    if extras.events.is_empty() {
        word.clear(EVENTS);
    }
    if extras.dooms.is_empty() {
        word.clear(DOOMED);
    }
    (events, dooms)
}

/// Takes the matching elements out; the others keep their order.
pub(crate) fn take_where<T>(lane: &mut VecDeque<T>, is_it: impl Fn(&T) -> bool) -> Vec<T> {
    if !lane.iter().any(&is_it) {
        return Vec::new();
    }
    let (out, rest): (Vec<T>, Vec<T>) = lane.drain(..).partition(is_it);
    lane.extend(rest);
    out
}

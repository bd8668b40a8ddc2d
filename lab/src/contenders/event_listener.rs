//! event-listener: an event is a flag and a list of listeners, used as its documentation does it.
//!
//! The listener lies on the stack of the waiting function (`listener!`), which allocates nothing.

use super::rows;
use crate::contender::Contender;
use crate::kinds::{AutoEvent, Event};
use event_listener::{Event as Listeners, IntoNotification, listener};
use std::sync::atomic::{AtomicBool, Ordering};

pub(super) const EVENT_LISTENER: Contender = Contender {
    name: "event-listener",
    about: "event-listener with a flag, primitives only",
    entries: || {
        let mut entries = rows::event::<Manual>();
        entries.extend(rows::auto_event::<Auto>());
        entries
    },
    memory: Vec::new,
};

/// A flag that stays set.
struct Manual {
    set: AtomicBool,
    listeners: Listeners,
}

impl Event for Manual {
    fn new() -> Self {
        Manual { set: AtomicBool::new(false), listeners: Listeners::new() }
    }

    #[inline]
    fn is_set(&self) -> bool {
        self.set.load(Ordering::Acquire) // pairs with the store of `set`
    }

    #[inline]
    fn set(&self) {
        self.set.store(true, Ordering::Release); // publishes what came before to those who see it
        self.listeners.notify(usize::MAX);
    }

    #[inline]
    fn reset(&self) {
        self.set.store(false, Ordering::Release); // as strong as `set`
    }

    #[inline]
    async fn wait(&self) {
        while !self.is_set() {
            listener!(self.listeners => listener);
            if self.is_set() {
                return;
            }
            listener.await;
        }
    }
}

/// A flag that one wait takes.
struct Auto {
    set: AtomicBool,
    listeners: Listeners,
}

impl Auto {
    #[inline]
    fn take(&self) -> bool {
        self.set.swap(false, Ordering::Acquire) // pairs with the store of `set`
    }
}

impl AutoEvent for Auto {
    fn new() -> Self {
        Auto { set: AtomicBool::new(false), listeners: Listeners::new() }
    }

    #[inline]
    fn set(&self) {
        self.set.store(true, Ordering::Release); // publishes what came before to who takes it
        self.listeners.notify(1.additional());
    }

    #[inline]
    async fn wait(&self) {
        while !self.take() {
            listener!(self.listeners => listener);
            if self.take() {
                return;
            }
            listener.await;
        }
    }
}

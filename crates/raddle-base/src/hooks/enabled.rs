//! The twin with hooks: a table of armed points under one lock.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard};

#[derive(Default)]
struct Point {
    arrived: usize,
    released: bool,
}

static TABLE: Mutex<Option<HashMap<&'static str, Point>>> = Mutex::new(None);
static CHANGED: Condvar = Condvar::new();

fn table() -> MutexGuard<'static, Option<HashMap<&'static str, Point>>> {
    TABLE.lock().unwrap_or_else(|poison| poison.into_inner())
}

/// A named point: waits here while a test has armed it.
pub fn point(name: &'static str) {
    let mut guard = table();
    let Some(entry) = guard.as_mut().and_then(|map| map.get_mut(name)) else { return };
    entry.arrived += 1;
    CHANGED.notify_all();
    while guard.as_ref().and_then(|map| map.get(name)).is_some_and(|point| !point.released) {
        guard = CHANGED.wait(guard).unwrap_or_else(|poison| poison.into_inner());
    }
}

/// Arms the point `name` until the returned guard is dropped.
pub fn arm(name: &'static str) -> Pause {
    table().get_or_insert_default().insert(name, Point::default());
    Pause { name }
}

/// An armed point. Dropping it lets every paused thread go on.
#[derive(Debug)]
pub struct Pause {
    name: &'static str,
}

impl Pause {
    /// Blocks until `count` threads have arrived at the point.
    pub fn wait_for(&self, count: usize) {
        let mut guard = table();
        while guard.as_ref().and_then(|map| map.get(self.name)).is_some_and(|p| p.arrived < count) {
            guard = CHANGED.wait(guard).unwrap_or_else(|poison| poison.into_inner());
        }
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        if let Some(map) = table().as_mut() {
            map.remove(self.name);
        }
        CHANGED.notify_all();
    }
}

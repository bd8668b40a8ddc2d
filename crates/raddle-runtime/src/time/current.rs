//! The timers of this thread: those its worker fires, or those of the runtime it blocks on.
//!
//! A worker installs its own for as long as it runs; `block_on` on another thread installs those
//! of a worker as *remote*. Guards nest, as runtimes do. Each entry, the current one and those that
//! guards keep for later, has a count of its timers: guards that are dropped in a wrong order leave
//! the wrong timers installed, but never such as are gone.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

use raddle_base::clock::Instant;

use crate::time::timers::Timers;

/// Null, or the address of an `Arc` with one count that belongs to the entry.
#[derive(Clone, Copy)]
struct Current {
    timers: *const Timers,
    owner: bool,
}

const NONE: Current = Current { timers: ptr::null(), owner: false };

raddle_base::local! {
    static CURRENT: Cell<Current> = const { Cell::new(NONE) };
}

/// Makes `timers` those of this thread, which fires them.
pub fn install(timers: &Arc<Timers>) -> Installed {
    replace(timers, true)
}

/// Makes `timers` those of this thread, while another thread fires them.
pub fn install_remote(timers: &Arc<Timers>) -> Installed {
    replace(timers, false)
}

fn replace(timers: &Arc<Timers>, owner: bool) -> Installed {
    let current = Current { timers: Arc::into_raw(Arc::clone(timers)), owner };
    Installed { before: CURRENT.replace(current), _thread: PhantomData }
}

/// Restores the thread's previous timers on drop. Guards are dropped in reverse order of making.
#[must_use = "the timers are uninstalled as soon as this is dropped"]
pub struct Installed {
    before: Current,
    _thread: PhantomData<*const ()>,
}

impl Drop for Installed {
    fn drop(&mut self) {
        let mine = CURRENT.replace(self.before).timers;
        if !mine.is_null() {
            // SAFETY: the entry had one count of this Arc, which is taken over here.
            drop(unsafe { Arc::from_raw(mine) });
        }
    }
}

impl std::fmt::Debug for Installed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Installed")
    }
}

/// Puts this thread's timers into `slot`, without touching the count if they are there already;
/// true if this thread fires those in the slot.
///
/// On a thread without timers the slot keeps what it holds, which goes on working from afar.
#[inline]
pub(crate) fn refresh(slot: &mut Option<Arc<Timers>>) -> bool {
    let Current { timers, owner } = CURRENT.get();
    if timers.is_null() {
        return false;
    }
    if !slot.as_ref().is_some_and(|held| ptr::eq(Arc::as_ptr(held), timers)) {
        // SAFETY: the pointer is that of an Arc of which the current entry has a count.
        *slot = Some(unsafe {
            Arc::increment_strong_count(timers);
            Arc::from_raw(timers)
        });
    }
    owner
}

/// Whether this thread fires `timers`.
#[inline]
pub(crate) fn owns(timers: &Arc<Timers>) -> bool {
    let current = CURRENT.get();
    current.owner && ptr::eq(current.timers, Arc::as_ptr(timers))
}

/// The time on the clock of this thread's timers; the monotonic clock where there are none.
#[inline]
pub(crate) fn now() -> Instant {
    let timers = CURRENT.get().timers;
    if timers.is_null() {
        return Instant::now();
    }
    // SAFETY: as in `refresh`; the reference ends with this statement.
    unsafe { (*timers).now() }
}

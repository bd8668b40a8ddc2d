//! Who keeps watch over busy siblings, and what a watcher remembers. See `watch` for what it does.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use raddle_base::shim::atomic::AtomicUsize;
use raddle_base::shim::atomic::Ordering::Relaxed;

/// The shortest pause between two looks at busy siblings.
pub(crate) const SHORTEST: Duration = Duration::from_micros(50);
/// The longest one.
const LONGEST: Duration = Duration::from_millis(1);

/// Who keeps watch: a worker's number and one, or 0.
pub(crate) struct Post(AtomicUsize);

impl Post {
    raddle_base::const_unless_loom! {
        pub(crate) const fn new() -> Self {
            Post(AtomicUsize::new(0))
        }
    }

    /// Whether nobody watches.
    pub(crate) fn is_vacant(&self) -> bool {
        // Relaxed, here and below: the post decides who takes trouble and guards no data.
        self.0.load(Relaxed) == 0
    }

    /// Takes the post for worker `index`, if it is vacant.
    pub(crate) fn take(&self, index: usize) -> bool {
        self.0.compare_exchange(0, index + 1, Relaxed, Relaxed).is_ok()
    }

    /// The watcher has something else to do.
    pub(crate) fn leave(&self) {
        self.0.store(0, Relaxed);
    }
}

/// What a watcher remembers.
pub(crate) struct Watch {
    pub(crate) on_post: Cell<bool>,
    pub(crate) pause: Cell<Duration>,
    /// The siblings' epochs at the last look.
    pub(crate) epochs: RefCell<Vec<u64>>,
}

impl Watch {
    pub(crate) fn new() -> Self {
        Watch {
            on_post: Cell::new(false),
            pause: Cell::new(SHORTEST),
            epochs: RefCell::new(Vec::new()),
        }
    }

    /// Nothing was found: the next pause is longer.
    pub(crate) fn grow(&self) {
        self.pause.set((self.pause.get() * 2).min(LONGEST));
    }
}

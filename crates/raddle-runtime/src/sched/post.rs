//! Who keeps watch over busy siblings, and what a watcher remembers. See `watch` for what it does.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use raddle_base::clock::Instant;
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

/// A sibling's count of dispatches, and when it was first seen at that.
#[derive(Clone, Copy)]
struct Noted {
    epoch: u64,
    since: Instant,
}

/// What a watcher remembers.
pub(crate) struct Watch {
    pub(crate) on_post: Cell<bool>,
    /// How long it sleeps at most while it listens.
    pause: Cell<Duration>,
    /// How long it is deaf after it was woken for nothing.
    rest: Cell<Duration>,
    deaf: Cell<bool>,
    end: Cell<Instant>,
    /// The siblings as it last looked, before a sleep.
    noted: RefCell<Vec<Noted>>,
}

impl Watch {
    pub(crate) fn new() -> Self {
        Watch {
            on_post: Cell::new(false),
            pause: Cell::new(SHORTEST),
            rest: Cell::new(SHORTEST),
            deaf: Cell::new(false),
            end: Cell::new(Instant::from_nanos(0)),
            noted: RefCell::new(Vec::new()),
        }
    }

    /// Whether the next sleep ends with what happens to siblings.
    pub(crate) fn listens(&self) -> bool {
        !self.deaf.get()
    }

    /// The watcher is about to sleep, for no longer than `most`, while the siblings have made
    /// `epochs` dispatches. The end of its pause.
    pub(crate) fn begin(
        &self,
        now: Instant,
        most: Duration,
        epochs: impl Iterator<Item = u64>,
    ) -> Instant {
        let mut noted = self.noted.borrow_mut();
        for (at, epoch) in epochs.enumerate() {
            match noted.get_mut(at) {
                Some(seen) if seen.epoch == epoch => {}
                Some(seen) => *seen = Noted { epoch, since: now },
                // Allocates as siblings come to have threads.
                None => noted.push(Noted { epoch, since: now }),
            }
        }
        let pause = if self.deaf.get() { self.rest.get() } else { self.pause.get() };
        let end = now + pause.min(most);
        self.end.set(end);
        end
    }

    /// How many dispatches sibling `at`, which has made `epoch`, has made since when: since the
    /// last look, or since it was first seen at that. `None` for one that was not there.
    pub(crate) fn moved(&self, at: usize, epoch: u64, now: Instant) -> Option<(u64, Duration)> {
        let noted = *self.noted.borrow().get(at)?;
        Some((epoch.wrapping_sub(noted.epoch), now.duration_since(noted.since)))
    }

    /// Nobody was to be relieved.
    pub(crate) fn found_nothing(&self, now: Instant) {
        if self.deaf.get() {
            // Listens once more, and is deaf for longer if that was too early.
            self.deaf.set(false);
            self.rest.set(doubled(&self.rest));
        } else if now < self.end.get() {
            self.deaf.set(true);
        } else {
            self.pause.set(doubled(&self.pause));
            self.rest.set(SHORTEST);
        }
    }

    /// Somebody was relieved of something.
    pub(crate) fn found(&self) {
        self.pause.set(SHORTEST);
        self.rest.set(SHORTEST);
        self.deaf.set(false);
    }
}

fn doubled(pause: &Cell<Duration>) -> Duration {
    (pause.get() * 2).min(LONGEST)
}

//! Models of the protocol in `time/timers.rs`: every interleaving under loom, one run otherwise.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Waker;

use raddle_base::parker::Parker;
use raddle_base::shim::{model, thread};

use crate::time::entry::{Entry, Phase};
use crate::time::tests::support::Count;
use crate::time::{Instant, Timers};

const DUE: u64 = 1_000;

fn origin() -> Instant {
    Instant::from_nanos(0)
}

fn due() -> Instant {
    Instant::from_nanos(DUE)
}

fn timers() -> Arc<Timers> {
    Arc::new(Timers::with_clock(|| (), origin))
}

/// An entry that ends as that of a `Sleep` does.
struct Armed<'a> {
    entry: Pin<Box<Entry>>,
    timers: &'a Timers,
}

impl<'a> Armed<'a> {
    fn new(timers: &'a Timers, waker: &Waker) -> Self {
        let entry = Box::pin(Entry::new(DUE, Phase::Idle));
        // SAFETY: the entry is ours, boxed, and cancelled in `end` before it is freed.
        unsafe { timers.arm(&entry, waker.clone(), true) };
        Armed { entry, timers }
    }

    /// As the drop of a sleep; true if it was fired. Afterwards the owner writes to the entry, as
    /// whoever gets its memory next will: loom objects if the firing thread is not done with it.
    fn end(self) -> bool {
        if self.entry.phase() == Phase::Armed {
            // SAFETY: the entry is ours and was armed with these timers.
            unsafe { self.timers.cancel(&self.entry) };
        }
        let fired = self.entry.phase() == Phase::Fired;
        // SAFETY: it is ours, and by its phase not armed.
        unsafe { self.entry.rewind(0, Phase::Idle) };
        // SAFETY: as above; the waker is that of nobody and is forgotten with the entry.
        unsafe { self.entry.arm(Waker::noop().clone()) };
        fired
    }
}

#[test]
fn model_fire_meets_cancel() {
    model::check(|| {
        let timers = timers();
        let (count, waker) = Count::new();
        let armed = Armed::new(&timers, &waker);
        drop(waker);
        let firing = {
            let timers = Arc::clone(&timers);
            thread::spawn(move || timers.fire(due(), 8))
        };
        let fired = armed.end();
        assert_eq!(firing.join().unwrap(), usize::from(fired));
        assert_eq!(count.get(), usize::from(fired));
        assert_eq!(Arc::strong_count(&count), 1, "the waker was woken or dropped");
        assert_eq!(timers.next(), None);
    });
}

#[test]
fn model_fire_meets_reset() {
    model::check(|| {
        let timers = timers();
        let (count, waker) = Count::new();
        let armed = Armed::new(&timers, &waker);
        let firing = {
            let timers = Arc::clone(&timers);
            thread::spawn(move || timers.fire(due(), 8))
        };
        // SAFETY: the entry is ours and was armed with these timers.
        let moved = unsafe { timers.rearm(&armed.entry, 5 * DUE, true) };
        let fired = firing.join().unwrap();
        assert_eq!(fired, usize::from(!moved));
        assert_eq!(timers.fire(Instant::from_nanos(5 * DUE), 8), usize::from(moved));
        assert_eq!(count.get(), 1);
        assert!(armed.end());
    });
}

/// A poll with another waker while the entry fires: one of the two is woken, or the poll sees it.
#[test]
fn model_fire_meets_another_waker() {
    model::check(|| {
        let timers = timers();
        let (first, waker) = Count::new();
        let (second, other) = Count::new();
        let armed = Armed::new(&timers, &waker);
        let firing = {
            let timers = Arc::clone(&timers);
            thread::spawn(move || timers.fire(due(), 8))
        };
        // SAFETY: the entry is ours; it is looked at by address only.
        let same = armed.entry.phase() == Phase::Armed && unsafe { armed.entry.would_wake(&waker) };
        if same {
            // SAFETY: the entry is ours and was armed with these timers.
            unsafe { timers.replace_waker(&armed.entry, other.clone()) };
        }
        let seen = armed.entry.phase() == Phase::Fired;
        assert_eq!(firing.join().unwrap(), 1);
        assert_eq!(first.get() + second.get(), 1);
        assert!(seen || second.get() == 1, "a pending poll is followed by its own wake");
        assert!(armed.end());
    });
}

/// The owner reads `next`, finds nothing and parks; another thread arms meanwhile.
#[test]
fn model_remote_arm_wakes_the_owner() {
    model::check(|| {
        let parker = Arc::new(Parker::new());
        let unpark = Arc::clone(&parker);
        let timers = Arc::new(Timers::with_clock(move || unpark.unpark(), origin));
        let (count, waker) = Count::new();
        let entry = Arc::pin(Entry::new(DUE, Phase::Idle));
        let remote = {
            let (timers, entry) = (Arc::clone(&timers), Pin::clone(&entry));
            thread::spawn(move || {
                // SAFETY: this thread is the owner; the entry is pinned, and fired before it goes.
                unsafe { timers.arm(&entry, waker, false) };
            })
        };
        let mut fired = 0;
        while fired == 0 {
            match timers.next() {
                Some(next) => fired = timers.fire(next, 8),
                None => parker.park(),
            }
        }
        remote.join().unwrap();
        assert_eq!((fired, count.get()), (1, 1));
        assert_eq!(entry.phase(), Phase::Fired);
    });
}

/// Two threads fire (a worker and its rescuer): each entry is woken once.
#[test]
fn model_two_threads_fire() {
    model::check(|| {
        let timers = timers();
        let (count, waker) = Count::new();
        let entries = [Armed::new(&timers, &waker), Armed::new(&timers, &waker)];
        let rescuer = {
            let timers = Arc::clone(&timers);
            thread::spawn(move || timers.fire(due(), 1))
        };
        let own = timers.fire(due(), 1);
        assert_eq!(own + rescuer.join().unwrap() + timers.fire(due(), 8), 2);
        assert_eq!(count.get(), 2);
        assert!(entries.into_iter().all(Armed::end));
    });
}

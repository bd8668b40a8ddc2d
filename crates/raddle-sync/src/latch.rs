//! A latch: a count that goes down to zero once, and everybody who waits for that.
//!
//! A face of the crowd in `crowd.rs`, where protocol and proof are. The value is the count.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use raddle_base::wait::WaitKind;

use crate::block_on::{block_on, wait_timeout};
use crate::crowd::stay::{Gather, Stay, named_future};
use crate::crowd::{Crowd, Step};

/// Lets everybody go when a count has reached zero. It opens once and stays open.
///
/// * *Order.* All waits end in one round, woken in the order of their first poll.
/// * *Ordering.* What happened before a count went down is visible to whoever finds the latch open.
/// * *Cost.* Counting down takes no lock, but for the last one if somebody waits. Waiting does not
///   allocate; with the latch open it is one load. 24 bytes.
///
/// ```
/// use raddle_sync::{Latch, block_on};
///
/// static READY: Latch = Latch::new(2);
///
/// let threads = [(); 2].map(|()| std::thread::spawn(|| READY.count_down()));
/// block_on(READY.wait());
/// assert_eq!(READY.count(), 0);
/// # threads.map(|thread| thread.join().unwrap());
/// ```
#[derive(Debug)]
pub struct Latch {
    crowd: Crowd,
}

impl Gather for Latch {
    fn crowd(&self) -> &Crowd {
        &self.crowd
    }

    fn is_over(count: usize) -> bool {
        count == 0
    }
}

impl Latch {
    /// The largest count.
    pub const MAX_COUNT: usize = Crowd::MAX;

    raddle_base::const_unless_loom! {
        /// A latch that opens after `count` arrivals; with zero it is open.
        ///
        /// # Panics
        ///
        /// If `count` is more than [`MAX_COUNT`](Self::MAX_COUNT).
        #[track_caller]
        pub const fn new(count: usize) -> Self {
            Latch { crowd: Crowd::new(count) }
        }
    }

    /// Arrivals that are missing.
    #[inline]
    pub fn count(&self) -> usize {
        self.crowd.value()
    }

    /// Counts one arrival. On an open latch it does nothing.
    #[inline]
    pub fn count_down(&self) {
        self.arrive(1);
    }

    /// Counts `count` arrivals, at most as many as are missing.
    ///
    /// Those who wait have been woken on return, if these were the last. A waker that panics does
    /// not keep the others from being woken.
    #[inline]
    pub fn arrive(&self, count: usize) {
        self.crowd.step(|missing| match missing.saturating_sub(count) {
            same if same == missing => Step::Keep,
            0 => Step::Release(0),
            left => Step::To(left),
        });
    }

    /// Whether the latch is open; else how many arrivals are missing.
    #[inline]
    pub fn try_wait(&self) -> Result<(), usize> {
        match self.count() {
            0 => Ok(()),
            missing => Err(missing),
        }
    }

    /// Waits until the latch is open.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing but its place in the order of wakes.
    #[track_caller]
    pub fn wait(&self) -> LatchWait<'_> {
        LatchWait(Stay::new(self, WaitKind::Event))
    }

    /// As [`wait`](Self::wait), with a reference of its own.
    #[track_caller]
    pub fn wait_owned(self: Arc<Self>) -> OwnedLatchWait {
        OwnedLatchWait(Stay::new(self, WaitKind::Event))
    }

    /// Counts one arrival and waits for the others. Both happen at the first poll at the earliest;
    /// the arrival is not taken back when the future is dropped after that.
    #[track_caller]
    pub fn arrive_and_wait(&self) -> ArriveAndWait<'_> {
        ArriveAndWait { arrived: false, wait: self.wait() }
    }

    /// Blocks the thread until the latch is open.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task: use [`wait`](Self::wait) there.
    #[track_caller]
    pub fn blocking_wait(&self) {
        block_on(self.wait());
    }

    /// As [`blocking_wait`](Self::blocking_wait) for at most `limit`; whether the latch opened.
    ///
    /// # Panics
    ///
    /// As [`blocking_wait`](Self::blocking_wait).
    #[track_caller]
    pub fn blocking_wait_timeout(&self, limit: Duration) -> bool {
        wait_timeout(self.wait(), limit).is_some()
    }
}

named_future! {
    /// The future of [`Latch::wait`].
    ///
    /// It contains the waiter's place in the queue, so it cannot be moved once it is pinned:
    ///
    /// ```compile_fail,E0277
    /// fn movable<T: Unpin>(_: T) {}
    /// movable(raddle_sync::Latch::new(1).wait());
    /// ```
    LatchWait<'a> = Stay<&'a Latch> => ()
}

named_future! {
    /// The future of [`Latch::wait_owned`].
    OwnedLatchWait = Stay<Arc<Latch>> => ()
}

/// The future of [`Latch::arrive_and_wait`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct ArriveAndWait<'a> {
    arrived: bool,
    wait: LatchWait<'a>,
}

impl Future for ArriveAndWait<'_> {
    type Output = ();

    fn poll(
        self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<()> {
        // SAFETY: `wait` is pinned with the whole, and not moved out of it.
        let this = unsafe { self.get_unchecked_mut() };
        if !this.arrived {
            this.arrived = true;
            this.wait.0.of().count_down();
        }
        // SAFETY: as above.
        unsafe { std::pin::Pin::new_unchecked(&mut this.wait) }.poll(cx)
    }
}

#[cfg(all(test, loom))]
#[path = "tests/latch_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/latch.rs"]
mod tests;

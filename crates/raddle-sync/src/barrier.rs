//! A barrier: a round is over when a given number has arrived, and then the next one begins.
//!
//! A face of the crowd in `crowd.rs`, where protocol and proof are. The lower half of the value is
//! the number of those who have arrived: the last one resets it in the exchange that lets the
//! others go, and who gives up takes one off under the lock. A waiter learns from its own node that
//! its round is over. But a large round is let go in batches, with the lock dropped between; who
//! gives up there has left the count already. So the upper half is the number of the round, which
//! tells.

use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use raddle_base::context;
use raddle_base::shim::atomic::AtomicUsize;
use raddle_base::shim::atomic::Ordering::Relaxed;
use raddle_base::wait::{Phase, WaitKind, Waiter};

use crate::block_on::{block_on, wait_timeout};
use crate::crowd::stay::named_future;
use crate::crowd::{Crowd, Entry, OVER, Step};

/// The outcome of those whom [`Barrier::release_waiting`] let go.
const RELEASED: u8 = 2;

/// The bits of the value that count those who have arrived; the round is above.
const ARRIVED: usize = u32::MAX as usize;

/// The value when a round has ended: nobody has arrived for the next one.
fn next_round(value: usize) -> usize {
    (value | ARRIVED).wrapping_add(1) & Crowd::MAX
}

/// Lets a number of tasks wait for each other, round after round.
///
/// * *Arrival.* A wait counts as arrived from its first poll on. **Dropping it takes the arrival
///   back**, unless the round was complete by then; so a cancelled task neither completes a round
///   nor takes part in one, and the others wait until somebody arrives in its place.
/// * *Order.* A round ends for all at once; they are woken in the order of arrival. The last one to
///   arrive is the leader, and does not wait.
/// * *Ordering.* What each did before it arrived is visible to all of its round after it.
/// * *Cost.* Arriving takes one short lock. Waiting does not allocate, nor does making a barrier.
///   32 bytes.
///
/// ```
/// use raddle_sync::Barrier;
///
/// static START: Barrier = Barrier::new(3);
///
/// let threads = [(); 3].map(|()| std::thread::spawn(|| START.blocking_wait().is_leader()));
/// let leaders = threads.map(|thread| thread.join().unwrap());
/// assert_eq!(leaders.iter().filter(|leads| **leads).count(), 1);
/// ```
#[derive(Debug)]
pub struct Barrier {
    crowd: Crowd,
    parties: usize,
}

impl Barrier {
    raddle_base::const_unless_loom! {
        /// A barrier for rounds of `parties`.
        ///
        /// # Panics
        ///
        /// If `parties` is zero: no round of nobody would ever end, or every one. And if it does
        /// not fit into 32 bits.
        #[track_caller]
        pub const fn new(parties: usize) -> Self {
            assert!(parties > 0, "a barrier needs at least one party");
            assert!(parties <= ARRIVED, "a barrier for more parties than it can count");
            Barrier { crowd: Crowd::new(0), parties }
        }
    }

    /// How many make a round.
    pub fn parties(&self) -> usize {
        self.parties
    }

    /// How many have arrived and wait now.
    pub fn waiting(&self) -> usize {
        self.crowd.value() & ARRIVED
    }

    /// Arrives, and waits for the others of the round.
    ///
    /// A future that is polled again after it was ready arrives again, for the next round.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future takes the arrival back, unless the round was complete by then: it stays
    /// complete.
    #[track_caller]
    pub fn wait(&self) -> BarrierWait<'_> {
        BarrierWait(Arrival::new(self))
    }

    /// As [`wait`](Self::wait), with a reference of its own.
    #[track_caller]
    pub fn wait_owned(self: Arc<Self>) -> OwnedBarrierWait {
        OwnedBarrierWait(Arrival::new(self))
    }

    /// Completes the round if all others have arrived; `None`, without arriving, if not.
    pub fn try_wait(&self) -> Option<BarrierWaitResult> {
        let last = self.parties - 1;
        let step = |value| match value & ARRIVED == last {
            true => Step::Release(next_round(value)),
            false => Step::Keep,
        };
        (self.crowd.step(step) & ARRIVED == last).then_some(BarrierWaitResult(Role::Leader))
    }

    /// Lets those go who wait now, although others are missing, and tells how many they were. They
    /// see it by [`BarrierWaitResult::was_released`]. The next arrival begins a new round.
    pub fn release_waiting(&self) -> usize {
        let before = self.crowd.step_locked(RELEASED, |value| match value & ARRIVED {
            0 => Step::Keep,
            _ => Step::Release(next_round(value)),
        });
        before & ARRIVED
    }

    /// Arrives and blocks the thread until the round is complete.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task: use [`wait`](Self::wait) there.
    #[track_caller]
    pub fn blocking_wait(&self) -> BarrierWaitResult {
        block_on(self.wait())
    }

    /// As [`blocking_wait`](Self::blocking_wait) for at most `limit`. `None`: the arrival was taken
    /// back.
    ///
    /// # Panics
    ///
    /// As [`blocking_wait`](Self::blocking_wait).
    #[track_caller]
    pub fn blocking_wait_timeout(&self, limit: Duration) -> Option<BarrierWaitResult> {
        wait_timeout(self.wait(), limit)
    }
}

/// How a round ended for one of its parties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BarrierWaitResult(Role);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Leader,
    Follower,
    Released,
}

impl BarrierWaitResult {
    /// Whether this one was the last to arrive: one of each complete round.
    pub fn is_leader(&self) -> bool {
        self.0 == Role::Leader
    }

    /// Whether the round was ended by [`Barrier::release_waiting`].
    pub fn was_released(&self) -> bool {
        self.0 == Role::Released
    }
}

struct Arrival<R: Deref<Target = Barrier>> {
    barrier: R,
    /// The value's bits above [`ARRIVED`] on arrival. The owner's only.
    round: AtomicUsize,
    node: Waiter,
}

impl<R: Deref<Target = Barrier>> Arrival<R> {
    #[track_caller]
    fn new(barrier: R) -> Self {
        Arrival { barrier, round: AtomicUsize::new(0), node: Waiter::new(WaitKind::Event, ()) }
    }
}

impl<R: Deref<Target = Barrier>> Future for Arrival<R> {
    type Output = BarrierWaitResult;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<BarrierWaitResult> {
        ready!(context::check_budget(cx));
        let this = self.into_ref().get_ref();
        let (crowd, last) = (&this.barrier.crowd, this.barrier.parties - 1);
        // SAFETY: the node is pinned with the future that owns it, used with this crowd only, and
        // leaves when the future is dropped.
        let node = unsafe { Pin::new_unchecked(&this.node) };
        let role = if node.phase() == Phase::Idle {
            let arrive = |value| match value & ARRIVED == last {
                true => Entry::Release(next_round(value)),
                false => {
                    // Relaxed: nobody else looks.
                    this.round.store(value & !ARRIVED, Relaxed);
                    Entry::Wait(value + 1)
                }
            };
            // SAFETY: as above; the node is idle.
            match unsafe { crowd.enter(node, cx, arrive) } {
                Entry::Wait(_) => return Poll::Pending,
                _ => Role::Leader,
            }
        } else {
            // SAFETY: as above; the node is not idle.
            match ready!(unsafe { crowd.poll_entered(node, cx) }) {
                OVER => Role::Follower,
                _ => Role::Released,
            }
        };
        context::spend();
        Poll::Ready(BarrierWaitResult(role))
    }
}

impl<R: Deref<Target = Barrier>> Drop for Arrival<R> {
    fn drop(&mut self) {
        if self.node.phase() == Phase::Waiting {
            // SAFETY: as in `poll`; a future that was polled was pinned and did not move since.
            let node = unsafe { Pin::new_unchecked(&self.node) };
            // Relaxed: nobody else looks.
            let round = self.round.load(Relaxed);
            // Of a later round, the count is that of others.
            let depart = |value| if value & !ARRIVED == round { value - 1 } else { value };
            // SAFETY: as above.
            unsafe { self.barrier.crowd.leave_with(node, depart) };
        }
    }
}

impl<R: Deref<Target = Barrier>> fmt::Debug for Arrival<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Arrival").field(&self.node).finish()
    }
}

named_future! {
    /// The future of [`Barrier::wait`].
    BarrierWait<'a> = Arrival<&'a Barrier> => BarrierWaitResult
}

named_future! {
    /// The future of [`Barrier::wait_owned`].
    OwnedBarrierWait = Arrival<Arc<Barrier>> => BarrierWaitResult
}

#[cfg(all(test, loom))]
#[path = "tests/barrier_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/barrier.rs"]
mod tests;

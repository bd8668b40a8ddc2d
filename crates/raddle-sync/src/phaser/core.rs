//! The phaser itself, its transitions, and the wait for the end of a phase.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use raddle_base::wait::{WaitKind, Waiter};

use super::fields::Fields;
use crate::block_on::{block_on, wait_timeout};
use crate::crowd::stay::named_future;
use crate::crowd::{Crowd, Step};

/// Lets parties that come and go wait for each other, phase after phase.
///
/// Parties [register](Self::register_one) and arrive; a phase ends when all who are registered have
/// arrived. A party that goes counts no longer, which may end the phase; when the last one goes,
/// the phase ends once more and the phaser stays open. Anybody can [`wait`](Self::wait) for the end
/// of a phase.
///
/// * *Phases* count up from 0 and wrap after [`MAX_PHASE`](Self::MAX_PHASE). A wait ends when the
///   phase differs from the one that was observed, so it may miss phases in between.
/// * *Order.* All waits for a phase end in one round, woken in the order of their first poll.
/// * *Ordering.* What each party did before it arrived is visible after the phase.
/// * *Cost.* One exchange to register, arrive and deregister, and a lock for the last one if
///   somebody waits. Nothing allocates. 24 bytes.
///
/// ```
/// use raddle_sync::{Phaser, block_on};
///
/// let phaser = Phaser::new();
/// let mut parties: Vec<_> = phaser.register(3).unwrap().collect();
/// let observed = phaser.phase();
/// parties[0].arrive().unwrap();
/// parties[1].arrive().unwrap();
/// drop(parties.pop());
/// assert_eq!(block_on(phaser.wait(observed)), Ok(1));
/// assert_eq!(phaser.registered_parties(), 2);
/// ```
#[derive(Debug)]
pub struct Phaser {
    crowd: Crowd,
}

impl Phaser {
    /// The most parties that can be registered at a time.
    pub const MAX_PARTIES: usize = Fields::MAX_PARTIES;

    /// The last phase before they begin again with 0.
    pub const MAX_PHASE: u32 = Fields::MAX_PHASE;

    raddle_base::const_unless_loom! {
        /// A phaser in phase 0, without parties.
        pub const fn new() -> Self {
            Phaser { crowd: Crowd::new(0) }
        }
    }

    /// The present phase.
    pub fn phase(&self) -> u32 {
        self.fields().phase()
    }

    /// Whether the phaser is closed.
    pub fn is_closed(&self) -> bool {
        self.fields().is_closed()
    }

    /// How many parties are registered.
    pub fn registered_parties(&self) -> usize {
        self.fields().registered()
    }

    /// How many of them have arrived in this phase.
    pub fn arrived_parties(&self) -> usize {
        let fields = self.fields();
        fields.registered() - fields.missing()
    }

    /// How many of them have not.
    pub fn unarrived_parties(&self) -> usize {
        self.fields().missing()
    }

    /// Ends the phaser: the present phase will not end. Its waits end with an error, those for an
    /// earlier one still succeed. True the first time.
    pub fn close(&self) -> bool {
        let close = |value| match Fields(value) {
            fields if fields.is_closed() => Step::Keep,
            fields => Step::Release(fields.closed().0),
        };
        !Fields(self.crowd.step(close)).is_closed()
    }

    /// Waits until the phase is another one than `observed`, and tells which.
    ///
    /// # Errors
    ///
    /// If the phaser is closed in that phase.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing but its place in the order of wakes.
    #[track_caller]
    pub fn wait(&self, observed: u32) -> PhaserWait<'_> {
        PhaserWait(PhaseEnd::new(self, observed))
    }

    /// As [`wait`](Self::wait), with a reference of its own.
    #[track_caller]
    pub fn wait_owned(self: Arc<Self>, observed: u32) -> OwnedPhaserWait {
        OwnedPhaserWait(PhaseEnd::new(self, observed))
    }

    /// Blocks the thread as [`wait`](Self::wait) does the task.
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait).
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task: use [`wait`](Self::wait) there.
    #[track_caller]
    pub fn blocking_wait(&self, observed: u32) -> Result<u32, PhaserError> {
        block_on(self.wait(observed))
    }

    /// As [`blocking_wait`](Self::blocking_wait) for at most `limit`.
    ///
    /// # Panics
    ///
    /// As [`blocking_wait`](Self::blocking_wait).
    #[track_caller]
    pub fn blocking_wait_timeout(
        &self,
        observed: u32,
        limit: Duration,
    ) -> Option<Result<u32, PhaserError>> {
        wait_timeout(self.wait(observed), limit)
    }

    fn fields(&self) -> Fields {
        Fields(self.crowd.value())
    }

    pub(super) fn add(&self, count: usize) -> Result<(), PhaserError> {
        let add = |value| Fields(value).add(count).map_or(Step::Keep, |more| Step::To(more.0));
        match Fields(self.crowd.step(add)) {
            before if before.is_closed() => Err(PhaserError::Closed),
            before if before.add(count).is_none() => Err(PhaserError::TooManyParties),
            _ => Ok(()),
        }
    }

    /// One arrival in `phase`; `None` if the phaser is closed.
    pub(super) fn arrive(&self) -> Option<u32> {
        let arrive = |value| match Fields(value) {
            fields if fields.is_closed() => Step::Keep,
            fields => step(fields.without_missing(1)),
        };
        let before = Fields(self.crowd.step(arrive));
        (!before.is_closed()).then(|| before.phase())
    }

    /// `count` parties go, which have arrived in the phase `arrived`, if in any.
    pub(super) fn remove(&self, count: usize, arrived: Option<u32>) {
        self.crowd.step(|value| {
            let fields = Fields(value);
            let fewer = fields.without_registered(count);
            // On a closed phaser nothing ends, and only the counts go down.
            match arrived == Some(fields.phase()) {
                true => Step::To(fewer.0),
                false if fields.is_closed() => Step::To(fewer.fewer_missing(count).0),
                false => step(fewer.without_missing(count)),
            }
        });
    }

    /// How a wait for the end of `observed` ends, if it does by now.
    fn outcome(&self, observed: u32) -> Result<u32, PhaserError> {
        match self.phase() {
            phase if phase == observed => Err(PhaserError::Closed),
            phase => Ok(phase),
        }
    }
}

impl Default for Phaser {
    fn default() -> Self {
        Self::new()
    }
}

/// The fields and whether a phase has ended with them.
fn step((fields, ends): (Fields, bool)) -> Step {
    if ends { Step::Release(fields.0) } else { Step::To(fields.0) }
}

/// Waits until the phase is not the observed one.
pub(super) struct PhaseEnd<R: Deref<Target = Phaser>> {
    pub(super) of: R,
    pub(super) observed: u32,
    node: Waiter,
}

impl<R: Deref<Target = Phaser>> PhaseEnd<R> {
    #[track_caller]
    pub(super) fn new(of: R, observed: u32) -> Self {
        PhaseEnd { of, observed, node: Waiter::new(WaitKind::Event, ()) }
    }
}

impl<R: Deref<Target = Phaser>> Future for PhaseEnd<R> {
    type Output = Result<u32, PhaserError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.into_ref().get_ref();
        let is_over = |value| {
            let fields = Fields(value);
            fields.is_closed() || fields.phase() != this.observed
        };
        // SAFETY: the node is pinned with the future that owns it, used with this crowd only, and
        // leaves when the future is dropped.
        let node = unsafe { Pin::new_unchecked(&this.node) };
        // SAFETY: as above.
        ready!(unsafe { this.of.crowd.poll(node, cx, is_over) });
        Poll::Ready(this.of.outcome(this.observed))
    }
}

impl<R: Deref<Target = Phaser>> Drop for PhaseEnd<R> {
    fn drop(&mut self) {
        // SAFETY: as in `poll`; a future that was polled was pinned and did not move since.
        unsafe { self.of.crowd.leave(Pin::new_unchecked(&self.node)) };
    }
}

impl<R: Deref<Target = Phaser>> fmt::Debug for PhaseEnd<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PhaseEnd")
            .field("observed", &self.observed)
            .field("node", &self.node)
            .finish()
    }
}

named_future! {
    /// The future of [`Phaser::wait`].
    PhaserWait<'a> = PhaseEnd<&'a Phaser> => Result<u32, PhaserError>
}

named_future! {
    /// The future of [`Phaser::wait_owned`].
    OwnedPhaserWait = PhaseEnd<Arc<Phaser>> => Result<u32, PhaserError>
}

/// Why a phaser did not do what it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaserError {
    /// The phaser is closed.
    Closed,
    /// There would be more than [`Phaser::MAX_PARTIES`].
    TooManyParties,
}

impl fmt::Display for PhaserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PhaserError::Closed => "the phaser is closed",
            PhaserError::TooManyParties => "the phaser has too many parties",
        })
    }
}

impl Error for PhaserError {}

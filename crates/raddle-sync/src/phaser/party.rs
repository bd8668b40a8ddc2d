//! One party of a phaser, and a batch of them.

use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use super::core::{PhaseEnd, Phaser, PhaserError};
use crate::block_on::{block_on, wait_timeout};

impl Phaser {
    /// Registers one party, which has not arrived in the present phase.
    ///
    /// # Errors
    ///
    /// If the phaser is closed, or has [`MAX_PARTIES`](Self::MAX_PARTIES) already.
    pub fn register_one(&self) -> Result<Participant<&Phaser>, PhaserError> {
        self.add(1)?;
        Ok(Participant::new(self))
    }

    /// As [`register_one`](Self::register_one), with a reference of its own.
    ///
    /// # Errors
    ///
    /// As [`register_one`](Self::register_one).
    pub fn register_one_owned(self: Arc<Self>) -> Result<Participant<Arc<Phaser>>, PhaserError> {
        self.add(1)?;
        Ok(Participant::new(self))
    }

    /// Registers `count` parties at once, so that no phase ends between the first and the last.
    /// Those that are not taken out of the iterator are withdrawn with it.
    ///
    /// # Errors
    ///
    /// If the phaser is closed, or would have more than [`MAX_PARTIES`](Self::MAX_PARTIES); none is
    /// registered then.
    pub fn register(&self, count: usize) -> Result<Participants<&Phaser>, PhaserError> {
        self.add(count)?;
        Ok(Participants::new(self, count))
    }

    /// As [`register`](Self::register), with references of their own.
    ///
    /// # Errors
    ///
    /// As [`register`](Self::register).
    pub fn register_owned(
        self: Arc<Self>,
        count: usize,
    ) -> Result<Participants<Arc<Phaser>>, PhaserError> {
        self.add(count)?;
        Ok(Participants::new(self, count))
    }
}

/// A registered party. Dropped, it is deregistered, which may end the phase.
#[must_use = "a party is deregistered as soon as this is dropped"]
pub struct Participant<R: Deref<Target = Phaser>> {
    phaser: R,
    /// The phase it has arrived in, until its end was seen.
    arrived: Option<u32>,
}

impl<R: Deref<Target = Phaser>> Participant<R> {
    pub(super) fn new(phaser: R) -> Self {
        Participant { phaser, arrived: None }
    }

    /// The phaser it belongs to.
    pub fn phaser(&self) -> &R {
        &self.phaser
    }

    /// Arrives in the present phase, unless it has already, and does not wait. Tells the phase.
    ///
    /// # Errors
    ///
    /// If the phaser is closed.
    pub fn arrive(&mut self) -> Result<u32, PhaserError> {
        if let Some(arrived) = self.arrived {
            // Its end is decided with this party's arrival, so no race can be behind this look.
            if self.phaser.phase() == arrived {
                return if self.phaser.is_closed() {
                    Err(PhaserError::Closed)
                } else {
                    Ok(arrived)
                };
            }
        }
        self.arrived = self.phaser.arrive();
        self.arrived.ok_or(PhaserError::Closed)
    }

    /// Arrives, at the first poll, and waits for the end of the phase; tells the phase after. If
    /// the party has arrived before and has not seen the end of that phase yet, it waits for that.
    ///
    /// # Errors
    ///
    /// If the phaser is closed in that phase.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future keeps the arrival; the next wait is for the end of the same phase.
    #[track_caller]
    pub fn wait(&mut self) -> ParticipantWait<'_, R> {
        let end = PhaseEnd::new(&*self.phaser, self.arrived.unwrap_or(0));
        ParticipantWait { arrived: &mut self.arrived, end }
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
    pub fn blocking_wait(&mut self) -> Result<u32, PhaserError> {
        block_on(self.wait())
    }

    /// As [`blocking_wait`](Self::blocking_wait) for at most `limit`; the arrival stays.
    ///
    /// # Panics
    ///
    /// As [`blocking_wait`](Self::blocking_wait).
    #[track_caller]
    pub fn blocking_wait_timeout(&mut self, limit: Duration) -> Option<Result<u32, PhaserError>> {
        wait_timeout(self.wait(), limit)
    }

    /// Deregisters the party. The same as dropping it.
    pub fn deregister(self) {}
}

impl<R: Deref<Target = Phaser>> Drop for Participant<R> {
    fn drop(&mut self) {
        self.phaser.remove(1, self.arrived);
    }
}

impl<R: Deref<Target = Phaser>> fmt::Debug for Participant<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Participant").field("arrived", &self.arrived).finish_non_exhaustive()
    }
}

/// The future of [`Participant::wait`].
#[must_use = "futures do nothing unless awaited"]
pub struct ParticipantWait<'p, R: Deref<Target = Phaser>> {
    arrived: &'p mut Option<u32>,
    /// Pinned. Its phase is that of the arrival, if there is one.
    end: PhaseEnd<&'p R::Target>,
}

impl<R: Deref<Target = Phaser>> Future for ParticipantWait<'_, R> {
    type Output = Result<u32, PhaserError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the node in `end` is pinned with the whole, and not moved out of it.
        let this = unsafe { self.get_unchecked_mut() };
        if this.arrived.is_none() {
            let Some(phase) = this.end.of.arrive() else {
                return Poll::Ready(Err(PhaserError::Closed));
            };
            *this.arrived = Some(phase);
            this.end.observed = phase;
        }
        // SAFETY: as above.
        let result = ready!(unsafe { Pin::new_unchecked(&mut this.end) }.poll(cx));
        if result.is_ok() {
            *this.arrived = None;
        }
        Poll::Ready(result)
    }
}

impl<R: Deref<Target = Phaser>> fmt::Debug for ParticipantWait<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParticipantWait")
            .field("arrived", &self.arrived)
            .field("end", &self.end)
            .finish()
    }
}

/// Parties that were registered together. Those that are not taken out are withdrawn.
#[derive(Debug)]
#[must_use = "parties that are not taken out are withdrawn"]
pub struct Participants<R: Deref<Target = Phaser>> {
    phaser: R,
    left: usize,
}

impl<R: Deref<Target = Phaser>> Participants<R> {
    pub(super) fn new(phaser: R, left: usize) -> Self {
        Participants { phaser, left }
    }
}

impl<R: Deref<Target = Phaser> + Clone> Iterator for Participants<R> {
    type Item = Participant<R>;

    fn next(&mut self) -> Option<Participant<R>> {
        self.left = self.left.checked_sub(1)?;
        Some(Participant::new(self.phaser.clone()))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<R: Deref<Target = Phaser> + Clone> ExactSizeIterator for Participants<R> {}

impl<R: Deref<Target = Phaser>> Drop for Participants<R> {
    fn drop(&mut self) {
        if self.left > 0 {
            self.phaser.remove(self.left, None);
        }
    }
}

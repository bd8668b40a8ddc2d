//! One caller's attempt: wait for the lead, then run the future that the caller's closure makes.
//!
//! Whatever ends the attempt early (it is dropped, the closure or the future panics), first the
//! future is dropped, then the lead passes on: two attempts never exist at the same time.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::core::{Leading, Once};
use super::lead::Lead;

/// How an attempt ended.
pub(crate) enum Attempted<'a, T> {
    /// Somebody else did it.
    Over,
    /// This caller's future gave this; the lead is to be completed, or given up by dropping it.
    Mine(T, Leading<'a>),
}

/// See the module's description. The order of the fields is the order in which they are dropped.
pub(crate) struct Attempt<'a, F, A> {
    /// Pinned.
    running: Option<A>,
    leading: Option<Leading<'a>>,
    make: Option<F>,
    /// Pinned.
    lead: Lead<'a>,
}

impl<'a, F, A> Attempt<'a, F, A> {
    #[track_caller]
    pub(crate) fn new(once: &'a Once, make: F) -> Self {
        Attempt::at(once, make, Location::caller())
    }

    /// The same, for a call that was written in this place.
    pub(crate) fn at(once: &'a Once, make: F, place: &'static Location<'static>) -> Self {
        Attempt { running: None, leading: None, make: Some(make), lead: Lead::at(once, place) }
    }
}

/// Ends the attempt unless it is disarmed: after a panic the others need not wait until the future
/// is dropped.
struct Abandon<'s, 'a, A> {
    running: Pin<&'s mut Option<A>>,
    leading: &'s mut Option<Leading<'a>>,
    armed: bool,
}

impl<A> Drop for Abandon<'_, '_, A> {
    fn drop(&mut self) {
        if self.armed {
            // A local, so that it is dropped although the future's destructor panics.
            let _leading = self.leading.take();
            self.running.set(None);
        }
    }
}

impl<'a, F, A> Future for Attempt<'a, F, A>
where
    F: FnOnce() -> A,
    A: Future,
{
    type Output = Attempted<'a, A::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `running` and `lead` are pinned with the whole, and not moved out of it.
        let this = unsafe { self.get_unchecked_mut() };
        if this.leading.is_none() {
            // SAFETY: as above.
            match ready!(unsafe { Pin::new_unchecked(&mut this.lead) }.poll(cx)) {
                None => return Poll::Ready(Attempted::Over),
                leading => this.leading = leading,
            }
        }
        let mut abandon = Abandon {
            // SAFETY: as above.
            running: unsafe { Pin::new_unchecked(&mut this.running) },
            leading: &mut this.leading,
            armed: true,
        };
        if abandon.running.is_none() {
            let make = this.make.take().expect("an attempt was polled after its end");
            abandon.running.set(Some(make()));
        }
        let running = abandon.running.as_mut().as_pin_mut().expect("it was set above");
        let polled = running.poll(cx);
        abandon.armed = false;
        let output = ready!(polled);
        // From here on this frame's: the future is gone before the lead passes on.
        abandon.running.set(None);
        let leading = abandon.leading.take().expect("it was waited for above");
        Poll::Ready(Attempted::Mine(output, leading))
    }
}

impl<F, A> fmt::Debug for Attempt<'_, F, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempt")
            .field("leads", &self.leading.is_some())
            .field("lead", &self.lead)
            .finish_non_exhaustive()
    }
}

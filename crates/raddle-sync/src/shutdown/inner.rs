//! What all sides of a shutdown share: the request, its reason, the guards, and the one above.

use std::error::Error;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use raddle_base::shim::mutex::Mutex;

use crate::cancel::CancellationToken;
use crate::crowd::stay::Gather;
use crate::crowd::{Crowd, Step};
use crate::set_once::SetOnce;

/// Why shutdown was requested.
pub(super) type Reason = dyn Error + Send + Sync;

#[derive(Debug)]
pub(super) struct Guards(pub(super) Crowd);

impl Gather for Guards {
    fn crowd(&self) -> &Crowd {
        &self.0
    }

    fn is_over(guards: usize) -> bool {
        guards == 0
    }
}

pub(super) struct Inner {
    /// The request; a child's is a child.
    pub(super) token: CancellationToken,
    reason: SetOnce<Box<Reason>>,
    pub(super) guards: Guards,
    /// The one above it.
    parent: Option<Arc<Inner>>,
    /// Holds up the one above until the last guard here is gone.
    hold: Mutex<Option<Hold>>,
}

impl Inner {
    /// With one guard, which is the caller's to make.
    fn new(token: CancellationToken, parent: Option<Arc<Inner>>, hold: Option<Hold>) -> Arc<Self> {
        let guards = Guards(Crowd::new(1));
        let hold = Mutex::new(hold);
        Arc::new(Inner { token, reason: SetOnce::new(), guards, parent, hold })
    }

    /// One without another above, and its one guard.
    pub(super) fn root() -> Hold {
        Hold(Inner::new(CancellationToken::new(), None, None))
    }

    /// One below this, and its one guard.
    pub(super) fn child(self: &Arc<Self>) -> Hold {
        let token = self.token.child_token();
        Hold(Inner::new(token, Some(self.clone()), Hold::try_new(self)))
    }

    /// Requests; true if nobody had.
    pub(super) fn request(&self, reason: Option<Box<Reason>>) -> bool {
        if let Some(reason) = reason
            && !self.token.is_cancelled()
        {
            // Before the request, so that whoever sees that sees this. Of two the first one stays.
            let _ = self.reason.set(reason);
        }
        self.token.cancel_first()
    }

    /// The reason of the nearest one that has one, from here upwards.
    pub(super) fn reason(&self) -> Option<&Reason> {
        let mut at = Some(self);
        while let Some(inner) = at {
            if let Some(reason) = inner.reason.get() {
                return Some(&**reason);
            }
            at = inner.parent.as_deref();
        }
        None
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shutdown")
            .field("requested", &self.token.is_cancelled())
            .field("reason", &self.reason())
            .field("guards", &self.guards.0.value())
            .finish()
    }
}

/// One count of the guards.
#[derive(Debug)]
pub(super) struct Hold(pub(super) Arc<Inner>);

impl Hold {
    /// One more, unless there are none.
    fn try_new(inner: &Arc<Inner>) -> Option<Self> {
        let more = |guards| if guards == 0 { Step::Keep } else { Step::To(guards + 1) };
        (inner.guards.0.step(more) != 0).then(|| Hold(inner.clone()))
    }
}

impl Clone for Hold {
    fn clone(&self) -> Self {
        // The count cannot overflow: every guard holds a count of the `Arc` as well.
        self.0.guards.0.step(|guards| Step::To(guards + 1));
        Hold(self.0.clone())
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // A value, so that a waker that panics holds nothing up.
        let _above = LetGo(&self.0);
        self.0.guards.0.step(|guards| match guards {
            1 => Step::Release(0),
            _ => Step::To(guards - 1),
        });
    }
}

/// Lets go of what is above when dropped, if no guard is left: there is none again after that.
struct LetGo<'a>(&'a Inner);

impl Drop for LetGo<'_> {
    fn drop(&mut self) {
        if self.0.guards.0.value() == 0 {
            // Bound first, so that it is dropped after the lock was released.
            let above = self.0.hold.lock().take();
            drop(above);
        }
    }
}

/// A reference to the guards, of one's own.
pub(super) struct GuardsOf(pub(super) Arc<Inner>);

impl Deref for GuardsOf {
    type Target = Guards;

    fn deref(&self) -> &Guards {
        &self.0.guards
    }
}

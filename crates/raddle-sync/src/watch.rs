//! A value that changes, of which many want to know the latest: configuration, state, progress.
//!
//! A [`channel`] holds one value. A [`Sender`] replaces it, or changes it in place; each
//! [`Receiver`] looks at it when it likes, and waits for it to change. Values that nobody came to
//! look at in time are never seen.
//!
//! What it promises.
//!
//! * *Nothing is missed.* A receiver that waits after a change that it has not seen does not wait.
//!   The last value is seen before the end: when all senders are gone, a receiver is told so only
//!   after it has seen the last value.
//! * *Order.* Who waits is woken first come first served, all in one round. What happened before a
//!   send is visible to who finds its change.
//! * *Cost.* To ask whether there is something new is one load. A look at the value is one exchange
//!   and a subtraction, and so is a send while nobody waits. Waiting allocates nothing; the channel
//!   is one allocation.
//! * *Blocking.* Looks and changes exclude each other by blocking threads, so a [`Ref`] is to be
//!   held for a moment only, and not while sending. A sender that waits keeps new looks out, so
//!   that it is not kept out for ever; a second look on a thread that has one may therefore block
//!   for ever. In debug builds, such waits of a task for itself are reported.
//! * *Foreign code.* Closures and clones of values run while the value is locked, as documented at
//!   each, and under no other lock. Old values are dropped, and tasks woken, with nothing locked.
//!
//! ```
//! use raddle_sync::{block_on, watch};
//!
//! let (tx, mut rx) = watch::channel("starting");
//! let thread = std::thread::spawn(move || {
//!     tx.send("running").unwrap();
//!     tx.send("done").unwrap();
//! });
//! block_on(async {
//!     let last = *rx.wait_for(|state| *state == "done").await.unwrap();
//!     assert_eq!(last, "done");
//!     assert!(rx.changed().await.is_err());
//! });
//! # thread.join().unwrap();
//! ```

mod changed;
pub mod error;
mod guard;
mod lock;
mod receiver;
mod sender;
mod shared;
mod stream;

use raddle_base::shim::Arc;

pub use crate::audience::Closed;
pub use changed::{Changed, Recv, WaitFor};
pub use error::{RecvError, RecvTimeoutError, SendError};
pub use guard::Ref;
pub use receiver::Receiver;
pub use sender::Sender;
pub use stream::WatchStream;

use crate::ends::End;
use shared::Shared;

/// Makes a channel with a first value, which the receiver has seen.
pub fn channel<T>(value: T) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Shared::new(value, 1));
    let receiver = Receiver::new(shared.clone(), shared.version());
    (Sender::from_end(End::counted(shared)), receiver)
}

#[cfg(all(test, loom))]
#[path = "tests/watch_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/watch.rs"]
mod tests;

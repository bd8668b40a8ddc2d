//! The server: listens, says so, accepts up to a limit, and drains when interrupted.
//!
//! A connection holds one of a fixed number of slots from before it is accepted until its task
//! ends. While none is free nothing is accepted: more connections wait in the kernel's backlog,
//! and cost no descriptor. Draining is then only waiting until every slot is back.
//!
//! On Ctrl-C (or SIGTERM) the listener closes, connections finish what is in flight, and after
//! the drain limit (or at a second Ctrl-C) the rest is dropped with the runtime. A line on standard
//! error tells of the beginning of that and one of its end. The handlers of
//! the signals stand before the first line is printed, so whoever has read it may interrupt.

use std::future::{Future, poll_fn};
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use raddle::net::TcpListener;
use raddle::sync::{CancellationToken, Semaphore};

use super::connection;
use super::handler::Site;
use super::interrupt::Interrupts;
use super::options::Limits;
use crate::failure::Failure;

/// How long accepting rests after an error that will not go away by itself.
const REST: Duration = Duration::from_millis(50);

/// Opens the first of `addresses` that can be listened on.
pub(crate) async fn listen(name: &str, addresses: &[SocketAddr]) -> Result<TcpListener, Failure> {
    let mut error = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        match TcpListener::bind(*address).await {
            Ok(listener) => return Ok(listener),
            Err(refused) => error = refused,
        }
    }
    Err(Failure::of(format_args!("cannot listen on {name}"), &error))
}

/// Accepts and serves until interrupted and drained. `announce` is called once, when a connection
/// or an interrupt could come.
pub(crate) async fn serve(
    listener: TcpListener,
    site: Arc<Site>,
    limits: Limits,
    announce: impl FnOnce(),
) -> Result<(), Failure> {
    let mut interrupts =
        Interrupts::listen().map_err(|error| Failure::of("cannot listen to signals", &error))?;
    announce();
    let slots = Arc::new(Semaphore::new(limits.connections as usize));
    let stop = CancellationToken::new();
    {
        let mut accepting = pin!(accept(listener, site, limits, &slots, &stop));
        poll_fn(|cx| match interrupts.poll(cx) {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => accepting.as_mut().poll(cx),
        })
        .await;
        // Here the listener closes, with the future that owns it.
    }
    stop.cancel();
    drain(&slots, limits, &mut interrupts).await;
    Ok(())
}

/// Accepts for ever.
async fn accept(
    listener: TcpListener,
    site: Arc<Site>,
    limits: Limits,
    slots: &Arc<Semaphore>,
    stop: &CancellationToken,
) {
    let mut last = None;
    // The semaphore is never closed, so a slot comes in the end.
    while let Ok(slot) = Arc::clone(slots).acquire_owned().await {
        match listener.accept().await {
            Ok((stream, peer)) => {
                last = None;
                let served =
                    connection::serve(stream, peer, Arc::clone(&site), limits, stop.clone());
                let task = raddle::spawn(async move {
                    served.await;
                    drop(slot);
                });
                task.detach();
            }
            Err(error) if is_the_peers(&error) => {}
            Err(error) => {
                // Said once, not twenty times a second.
                if last != error.raw_os_error() {
                    last = error.raw_os_error();
                    let line = Failure::of("cannot accept connections", &error);
                    let _ = writeln!(io::stderr(), "raddle: {line}");
                }
                raddle::time::sleep(REST).await;
            }
        }
    }
}

/// Whether an accept failed because of the one connection that was to be accepted.
fn is_the_peers(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, TimedOut};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | TimedOut)
}

/// Waits until all connections are gone, the limit is over, or patience is.
async fn drain(slots: &Semaphore, limits: Limits, interrupts: &mut Interrupts) {
    let open = || (limits.connections as usize).saturating_sub(slots.available_permits());
    let (limit, count) = (limits.drain, open());
    let _ = writeln!(
        io::stderr(),
        "raddle: stopping: {count} connections are open, {limit:?} at most for what is in flight"
    );
    let cut = {
        let all = slots.acquire_many(limits.connections);
        let mut gone = pin!(raddle::time::timeout(limits.drain, all));
        poll_fn(|cx| match gone.as_mut().poll(cx) {
            Poll::Ready(gone) => Poll::Ready(gone.is_err()),
            Poll::Pending => interrupts.poll(cx).map(|()| true),
        })
        .await
        // Here the slots that were gathered in vain go back, to be counted.
    };
    let _ = match cut {
        true => writeln!(io::stderr(), "raddle: stopped: {} connections were cut off", open()),
        false => writeln!(io::stderr(), "raddle: stopped: all connections have ended"),
    };
}

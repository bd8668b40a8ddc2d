//! tokio as the service cases use it: a runtime beside the calling thread, and `AsyncFd`.

use super::{Tokio, runtime};
use crate::hosted::{Service, take_count};
use std::future::Future;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// A thread that blocks on the runtime until it is told to stop. On a current-thread runtime it is
/// the worker.
pub(super) struct Host {
    handle: Handle,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl<const WORKERS: usize> Service for Tokio<WORKERS> {
    const WORKERS: usize = if WORKERS == 0 { 1 } else { WORKERS };
    type Host = Host;
    type Source = AsyncFd<OwnedFd>;

    fn host() -> Host {
        let runtime = runtime(WORKERS);
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::spawn(move || {
            // The sender is dropped only by a trial that failed: that is a stop as well.
            let _ = runtime.block_on(stopped);
            runtime.shutdown_timeout(Duration::from_secs(2));
        });
        Host { handle, stop, thread }
    }

    fn submit<F>(host: &Host, task: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        host.handle.spawn(task);
    }

    fn adopt(event: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
        // SAFETY: an `OwnedFd` is one open descriptor for as long as it lives, and always the same.
        let registered = unsafe { AsyncFd::register_with_interest(event, Interest::READABLE) };
        registered.map_err(Into::into)
    }

    fn take(source: &AsyncFd<OwnedFd>) -> impl Future<Output = io::Result<u64>> + Send {
        source.async_io(Interest::READABLE, |event| take_count(event.as_fd()))
    }

    fn stop(host: Host) -> Result<(), String> {
        // A receiver that is gone has ended for another reason, which the join tells.
        let _ = host.stop.send(());
        host.thread.join().map_err(|_| "the runtime's thread panicked".to_owned())
    }
}

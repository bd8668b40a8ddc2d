//! Waiting until a socket may be used, in one direction or either.

use raddle_driver::{Direction, Interest, Source};
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// What a socket is ready for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ready {
    read: bool,
    write: bool,
}

impl Ready {
    /// A read, receive or accept may give something: data, the end of input, or an error.
    pub fn is_readable(self) -> bool {
        self.read
    }

    /// A write may give something: room, or an error.
    pub fn is_writable(self) -> bool {
        self.write
    }
}

/// Waits for any direction of `interest`.
#[track_caller]
pub(crate) fn ready(
    source: &Source,
    interest: Interest,
) -> impl Future<Output = io::Result<Ready>> + Send {
    // Made here, for the caller's location.
    let (read, write) = (source.readable(), source.writable());
    let read = interest.contains(Direction::Read).then_some(read);
    let write = interest.contains(Direction::Write).then_some(write);
    async move {
        let (mut read, mut write) = (pin!(read), pin!(write));
        poll_fn(|cx| {
            let read = poll_one(read.as_mut(), cx)?;
            let write = poll_one(write.as_mut(), cx)?;
            if read || write { Poll::Ready(Ok(Ready { read, write })) } else { Poll::Pending }
        })
        .await
    }
}

fn poll_one(
    future: Pin<&mut Option<impl Future<Output = io::Result<()>>>>,
    cx: &mut Context<'_>,
) -> io::Result<bool> {
    match future.as_pin_mut().map(|future| future.poll(cx)) {
        Some(Poll::Ready(result)) => result.map(|()| true),
        Some(Poll::Pending) | None => Ok(false),
    }
}

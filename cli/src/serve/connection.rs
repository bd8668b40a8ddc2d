//! One connection: hyper's HTTP/1 state machine, its two time limits and the order to stop.
//!
//! One task holds all of it. Each poll runs hyper, then brings the timer to where the activity
//! says it belongs; only when that moved forward of what is armed is the timer armed anew, so a
//! busy connection touches the timer wheel about once per idle limit. The order to stop lets
//! hyper finish the request in flight and close; a connection without one closes at once.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use raddle::net::TcpStream;
use raddle::sync::CancellationToken;
use raddle::time::{Instant, sleep_until};
use raddle_hyper::RaddleIo;

use super::activity::{Activity, Patience};
use super::handler::{self, Site};
use super::options::Limits;

/// hyper's read and write buffers hold this much each at most.
const BUFFER: usize = 64 * 1024;
/// A longer header gets 431.
const HEADER: usize = 32 * 1024;

/// Serves a connection until it ends, errs, is silent for too long, or is stopped and done.
pub(crate) async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    site: Arc<Site>,
    limits: Limits,
    stop: CancellationToken,
) {
    // Answers leave whole; waiting to join small segments would only delay them.
    let _ = stream.set_nodelay(true);
    let activity = Arc::new(Activity::new());
    let service = service_fn(|request| {
        let site = Arc::clone(&site);
        handler::answer(site, peer.ip(), Arc::clone(&activity), request)
    });
    let watched = Watched { inner: RaddleIo::new(stream), activity: Arc::clone(&activity) };
    let mut http = http1::Builder::new();
    http.header_read_timeout(None).max_buf_size(BUFFER).max_header_size(HEADER);
    // A peer that will send no more (`nc -N`) may still want its answer.
    http.half_close(true);
    let mut connection = pin!(http.serve_connection(watched, service));

    let mut stopped = pin!(stop.cancelled());
    let mut stopping = false;
    let mut silence = pin!(Silence::new(&limits));
    std::future::poll_fn(|cx| {
        if !stopping && stopped.as_mut().poll(cx).is_ready() {
            stopping = true;
            connection.as_mut().graceful_shutdown();
        }
        // A peer that broke off or sent nonsense concerns nobody else: hyper has replied to it
        // where that made sense.
        if connection.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        silence.as_mut().poll(cx, &activity)
    })
    .await;
}

/// Completes once a connection has exhausted its patience.
struct Silence {
    patience: Patience,
    started: Instant,
    armed: Instant,
    timer: Pin<Box<raddle::time::Sleep>>,
}

impl Silence {
    fn new(limits: &Limits) -> Self {
        let started = Instant::now();
        let armed = started + limits.header;
        Self {
            patience: Patience::new(limits.header, limits.idle),
            started,
            armed,
            timer: Box::pin(sleep_until(armed)),
        }
    }

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>, activity: &Activity) -> Poll<()> {
        let this = &mut *self;
        loop {
            let now = this.started.elapsed();
            let deadline = this.started + this.patience.deadline(activity, now);
            if deadline < this.armed {
                this.arm(deadline);
            }
            match this.timer.as_mut().poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(()) if deadline <= this.armed => return Poll::Ready(()),
                Poll::Ready(()) => this.arm(deadline),
            }
        }
    }

    fn arm(&mut self, deadline: Instant) {
        self.armed = deadline;
        self.timer.set(sleep_until(deadline));
    }
}

/// A stream that tells the activity when bytes move.
struct Watched {
    inner: RaddleIo<TcpStream>,
    activity: Arc<Activity>,
}

impl Read for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.inner).poll_read(cx, buffer);
        // The end of the stream counts as well, which does no harm: nothing is waited for then.
        if let Poll::Ready(Ok(())) = done {
            self.activity.read();
        }
        done
    }
}

impl Watched {
    fn tell(&self, written: &Poll<io::Result<usize>>) {
        if let Poll::Ready(Ok(1..)) = written {
            self.activity.written();
        }
    }
}

impl Write for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.tell(&done);
        done
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.inner).poll_write_vectored(cx, slices);
        self.tell(&done);
        done
    }
}

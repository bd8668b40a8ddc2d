//! What the tests of this crate share: a runtime on each backend, a watchdog, and small helpers.

#![expect(dead_code, reason = "each test file uses a part of this")]

use raddle::{Io, Runtime};
use raddle_net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::Duration;

/// The backends to test: that of `RADDLE_IO`, else all that this kernel has.
pub(crate) fn backends() -> Vec<Io> {
    match std::env::var("RADDLE_IO").as_deref() {
        Ok("epoll") => vec![Io::Epoll],
        Ok("uring") => vec![Io::Uring],
        _ if Runtime::builder().workers(1).io(Io::Uring).build().is_ok() => {
            vec![Io::Epoll, Io::Uring]
        }
        _ => vec![Io::Epoll],
    }
}

/// Runs `test` on each backend, with one worker and with two.
pub(crate) fn on_each<F, R>(test: F)
where
    F: Fn() -> R + Send + Copy + 'static,
    R: Future<Output = ()>,
{
    for io in backends() {
        for workers in [1, 2] {
            println!("{io:?}, {workers} workers");
            watched(move || {
                Runtime::builder().workers(workers).io(io).build().unwrap().run(test());
            });
        }
    }
}

/// Runs `body` in a thread; aborts if it takes more than three minutes, fails if it panics.
pub(crate) fn watched(body: impl FnOnce() + Send + 'static) {
    let (done, end) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        let _done = done;
        body();
    });
    if let Err(mpsc::RecvTimeoutError::Timeout) = end.recv_timeout(Duration::from_secs(180)) {
        eprintln!("watchdog: the test did not end within 180 s");
        std::process::abort();
    }
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Two ends of a TCP connection.
pub(crate) async fn tcp_pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let accepted = raddle::spawn(async move { listener.accept().await.unwrap().0 });
    let client = TcpStream::connect(addr).await.unwrap();
    (client, accepted.await.unwrap())
}

/// Descriptors of this process that are open now.
pub(crate) fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Polls `future` `times` times and drops it; its output if it came.
pub(crate) async fn polled<F: Future>(future: F, times: usize) -> Option<F::Output> {
    let mut future = std::pin::pin!(future);
    let mut left = times;
    std::future::poll_fn(|cx| {
        if let std::task::Poll::Ready(output) = future.as_mut().poll(cx) {
            return std::task::Poll::Ready(Some(output));
        }
        left -= 1;
        if left == 0 {
            return std::task::Poll::Ready(None);
        }
        cx.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await
}

/// Bytes that tell where they stand.
pub(crate) fn pattern(len: usize) -> Vec<u8> {
    (0..len as u32).map(|n| (n ^ (n >> 8) ^ (n >> 16)) as u8).collect()
}

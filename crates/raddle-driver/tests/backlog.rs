//! Connecting to a Unix listener whose queue is full: on both backends it waits, as std's does.

mod common;

use common::*;
use raddle_base::clock::Instant;
use raddle_driver::{RawAddr, op};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A listener whose queue is full, its address, and what is in the queue.
fn full_listener() -> (UnixListener, RawAddr, Vec<OwnedFd>) {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("raddle-backlog-{}-{number}", std::process::id());
    let listener =
        UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    // SAFETY: no pointer is passed. Listening again changes the length of the queue.
    assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 0) }, 0);
    let addr = RawAddr::unix(format!("\0{name}").as_bytes()).unwrap();
    let mut queued = Vec::new();
    loop {
        let fd = unix_socket();
        // SAFETY: the address is readable for its length.
        if unsafe { libc::connect(fd.as_raw_fd(), addr.as_ptr(), addr.len()) } != 0 {
            assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EAGAIN));
            return (listener, addr, queued);
        }
        queued.push(fd);
    }
}

fn unix_socket() -> OwnedFd {
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: no pointer is passed; the descriptor is new and owned by nobody else.
    unsafe { OwnedFd::from_raw_fd(libc::socket(libc::AF_UNIX, kind, 0)) }
}

#[test]
fn connecting_to_a_full_unix_queue_waits_for_room() {
    on_each(|world| {
        let (listener, addr, queued) = full_listener();
        let client = Rc::new(stream(unix_socket()));
        let task = world.spawn({
            let client = Rc::clone(&client);
            async move { op::connect(&client, addr).await }
        });
        // Long enough for several attempts.
        world.run_for(Duration::from_millis(40), || task.is_done());
        assert!(!task.is_done(), "{:?}", task.take());
        for _ in &queued {
            listener.accept().unwrap();
        }
        world.block_on(task).unwrap();
        listener.accept().unwrap();
        // One that gives up leaves nothing behind.
        let (listener, addr, _queued) = full_listener();
        let other = Rc::new(stream(unix_socket()));
        world.block_on({
            let other = Rc::clone(&other);
            async move {
                let mut connecting = std::pin::pin!(op::connect(&other, addr));
                for _ in 0..3 {
                    assert!(once(connecting.as_mut()).await.is_none());
                    yield_now().await;
                }
            }
        });
        drop((other, listener));
        // The driver's own close finds nothing that would keep it.
        assert_eq!(world.driver.close(Instant::now() + Duration::from_secs(10)).requests, 0);
    });
}

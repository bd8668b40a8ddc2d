//! A process without descriptors: accepting backs off, others are served, and it recovers.
//!
//! The limit is the process's, so this is the only test of its file.

mod support;

use raddle_net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::{on_each, open_descriptors, tcp_pair};

/// Sets the limit of descriptors; the one before.
fn set_limit(limit: libc::rlim_t) -> libc::rlim_t {
    let mut now = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is on this frame.
    unsafe {
        assert_eq!(libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut now), 0);
        let before = now.rlim_cur;
        now.rlim_cur = limit;
        assert_eq!(libc::setrlimit(libc::RLIMIT_NOFILE, &raw const now), 0);
        before
    }
}

#[test]
fn accepting_backs_off_and_recovers() {
    on_each(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let (ping, pong) = tcp_pair().await;
        // Clients that the kernel has connected, before there is a shortage.
        let clients: Vec<_> =
            (0..20).map(|_| std::net::TcpStream::connect(addr).unwrap()).collect();
        let errors = Arc::new(AtomicUsize::new(0));
        let before = set_limit(open_descriptors() as libc::rlim_t + 2);
        let server = raddle::spawn({
            let errors = Arc::clone(&errors);
            async move {
                let mut streams = Vec::new();
                while streams.len() < 20 {
                    match listener.accept().await {
                        Ok((stream, _)) => streams.push(stream),
                        Err(error) => {
                            assert_eq!(error.raw_os_error(), Some(libc::EMFILE));
                            // Relaxed: read after a join, or as a progress count.
                            errors.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            }
        });
        // Others are served, for as long as it takes to see the error.
        let echo = raddle::spawn(async move {
            let mut buf = [0; 4];
            while pong.read(&mut buf).await.unwrap() > 0 {
                pong.write_all(&buf).await.unwrap();
            }
        });
        let mut buf = [0; 4];
        let mut rounds = 0;
        // Relaxed: as above.
        while errors.load(Ordering::Relaxed) == 0 || rounds < 1_000 {
            ping.write_all(b"ping").await.unwrap();
            ping.read_exact(&mut buf).await.unwrap();
            rounds += 1;
        }
        // A loop that spins would have counted many by now.
        // Relaxed: as above.
        assert_eq!(errors.load(Ordering::Relaxed), 1, "reported once");
        set_limit(before);
        server.await.unwrap();
        drop((ping, clients));
        echo.await.unwrap();
        // Connecting reports a shortage as the kernel does.
        let before = set_limit(0);
        let error = TcpStream::connect(addr).await.unwrap_err();
        set_limit(before);
        assert_eq!(error.raw_os_error(), Some(libc::EMFILE));
    });
}

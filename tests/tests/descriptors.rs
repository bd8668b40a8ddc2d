//! When descriptors run out, accepting goes on within 200 ms of their return. The limit is the
//! process's, so this is the only test of its file.

use std::time::{Duration, Instant};

use raddle::Builder;
use raddle::net::TcpListener;
use raddle_tests::{wants_limits, watched};

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
fn limit_accepting_goes_on_within_200_ms() {
    if !wants_limits() {
        return;
    }
    watched(|| {
        Builder::new().workers(1).build().unwrap().run(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let addr = listener.local_addr().unwrap();
            for _ in 0..10 {
                let client = std::net::TcpStream::connect(addr).unwrap();
                let before = set_limit(0);
                // Reported once; then the listener rests.
                let error = listener.accept().await.unwrap_err();
                assert_eq!(error.raw_os_error(), Some(libc::EMFILE));
                let mut next = Box::pin(listener.accept());
                let while_empty = raddle::time::timeout(Duration::from_millis(20), &mut next);
                assert!(while_empty.await.is_err(), "nothing can be accepted");
                set_limit(before);
                let begin = Instant::now();
                drop(next.await.unwrap());
                let took = begin.elapsed();
                assert!(took <= Duration::from_millis(200), "{took:?}");
                drop(client);
            }
        });
    });
}

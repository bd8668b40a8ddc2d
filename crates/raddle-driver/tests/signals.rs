//! SIGPIPE with its default disposition, which kills: writing to a closed peer gives an error.
//!
//! Alone in its process, because dispositions are the process's.

mod common;

use common::*;
use raddle_driver::{Source, SourceKind, op};
use std::io::ErrorKind;
use std::os::unix::net::UnixStream;

#[test]
fn writing_to_a_closed_peer_is_an_error_and_no_signal() {
    // SAFETY: the default disposition; no handler of ours is replaced.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    on_each(|world| {
        let (a, b) = UnixStream::pair().unwrap();
        let (reader, writer) = pipe();
        drop((b, reader));
        let unix = stream(a);
        let pipe = Source::from_fd(writer, SourceKind::Pipe).unwrap();
        let (tcp, peer) = tcp_pair();
        drop(peer);
        world.block_on(async move {
            for source in [&unix, &pipe] {
                assert_eq!(source.write(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
                let slices = [std::io::IoSlice::new(b"x"), std::io::IoSlice::new(b"y")];
                let error = source.try_write_vectored(&slices).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::BrokenPipe);
            }
            let (result, _) = op::send(&unix, b"x".to_vec()).await;
            assert_eq!(result.unwrap_err().kind(), ErrorKind::BrokenPipe);
            let (result, _) = op::send_msg(&unix, vec![b"x".to_vec()], None).await;
            assert_eq!(result.unwrap_err().kind(), ErrorKind::BrokenPipe);
            // The first write is answered by a reset, after which there is an error for each.
            while tcp.write(b"x").await.is_ok() {
                yield_now().await;
            }
            let kind = tcp.write(b"x").await.unwrap_err().kind();
            assert!(matches!(kind, ErrorKind::BrokenPipe | ErrorKind::ConnectionReset), "{kind}");
        });
    });
}

//! Unix sockets through the public API: streams, datagrams, names, credentials, errors.

mod support;

use raddle_net::{UnixDatagram, UnixListener, UnixStream};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::net::Shutdown;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use support::{on_each, pattern};

/// A path in a directory of its own, removed when dropped.
struct Place(PathBuf);

impl Place {
    fn new() -> Place {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        // Relaxed: numbers are all that is wanted.
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("raddle-unix-{}-{number}", std::process::id());
        let dir = std::env::temp_dir().join(name);
        std::fs::create_dir(&dir).unwrap();
        Place(dir)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An abstract name that nobody else uses, with bytes that look like ends.
fn abstract_name(tail: &[u8]) -> Vec<u8> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    // Relaxed: numbers are all that is wanted.
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    [format!("raddle-{}-{number}", std::process::id()).as_bytes(), tail].concat()
}

#[test]
fn echo_over_a_file_name() {
    on_each(|| async {
        let place = Place::new();
        let path = place.path("socket");
        let listener = UnixListener::bind(&path).unwrap();
        assert_eq!(listener.local_addr().unwrap().as_pathname(), Some(path.as_path()));
        let again = UnixListener::bind(&path).unwrap_err();
        assert_eq!(again.kind(), ErrorKind::AddrInUse);
        let server = raddle::spawn(async move {
            let (stream, peer) = listener.accept().await.unwrap();
            assert!(peer.is_unnamed());
            let mut got = Vec::new();
            stream.read_to_end(&mut got).await.unwrap();
            stream.write_all(&got).await.unwrap();
        });
        let client = UnixStream::connect(&path).await.unwrap();
        assert_eq!(client.peer_addr().unwrap().as_pathname(), Some(path.as_path()));
        assert!(client.local_addr().unwrap().is_unnamed());
        let cred = client.peer_cred().unwrap();
        assert_eq!(cred.pid(), Some(std::process::id().cast_signed()));
        // SAFETY: these calls only answer.
        assert_eq!((cred.uid(), cred.gid()), unsafe { (libc::geteuid(), libc::getegid()) });
        let sent = pattern(500_000);
        let mut got = Vec::new();
        let (read, write) = client.into_split();
        let sending = raddle::spawn(async move {
            write.write_all(&pattern(500_000)).await.unwrap();
        });
        read.read_to_end(&mut got).await.unwrap();
        assert!(got == sent);
        sending.await.unwrap();
        server.await.unwrap();
    });
}

#[test]
fn abstract_names_are_exact() {
    on_each(|| async {
        for tail in [&b""[..], b"\0", b"\0inner", b"trailing\0\0", &[b'x'; 60]] {
            let name = abstract_name(tail);
            let addr = SocketAddr::from_abstract_name(&name).unwrap();
            let listener = UnixListener::bind_addr(&addr).unwrap();
            let there = listener.local_addr().unwrap();
            assert_eq!(there.as_abstract_name(), Some(&name[..]));
            let first = UnixStream::connect_addr(&addr).await.unwrap();
            assert_eq!(first.peer_addr().unwrap().as_abstract_name(), Some(&name[..]));
            listener.accept().await.unwrap();
            // The same name as a path that begins with a zero byte.
            let path = [b"\0", &name[..]].concat();
            UnixStream::connect(OsStr::from_bytes(&path)).await.unwrap();
            // A name that differs in its last zero byte only is another name.
            let other = SocketAddr::from_abstract_name([&name[..], b"\0"].concat()).unwrap();
            assert!(UnixStream::connect_addr(&other).await.is_err());
        }
    });
}

#[test]
fn names_that_are_too_long_are_refused() {
    on_each(|| async {
        let place = Place::new();
        let room = 107 - place.path("").as_os_str().len();
        let longest = place.path(&"n".repeat(room));
        assert_eq!(longest.as_os_str().len(), 107);
        let listener = UnixListener::bind(&longest).unwrap();
        assert_eq!(listener.local_addr().unwrap().as_pathname(), Some(longest.as_path()));
        UnixStream::connect(&longest).await.unwrap();
        let too_long = place.path(&"n".repeat(room + 1));
        let refused = [
            UnixListener::bind(&too_long).err(),
            UnixStream::connect(&too_long).await.err(),
            UnixDatagram::bind(&too_long).err(),
            UnixDatagram::unbound().unwrap().send_to(b"", &too_long).await.err(),
            UnixListener::bind("with\0zero").err(),
            UnixListener::bind(OsStr::from_bytes(&[0; 109])).err(),
        ];
        for error in refused {
            assert_eq!(error.unwrap().kind(), ErrorKind::InvalidInput);
        }
        assert!(!too_long.exists());
    });
}

#[test]
fn missing_and_deserted_names() {
    on_each(|| async {
        let place = Place::new();
        let path = place.path("socket");
        let error = UnixStream::connect(&path).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        drop(UnixListener::bind(&path).unwrap());
        let error = UnixStream::connect(&path).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    });
}

#[test]
fn pairs_and_broken_pipes() {
    // SAFETY: sets a signal's action, no more: the default one ends the process.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    on_each(|| async {
        let (a, b) = UnixStream::pair().unwrap();
        a.write_all(b"over").await.unwrap();
        let mut buf = [0; 8];
        assert_eq!(b.read(&mut buf).await.unwrap(), 4);
        drop(b);
        assert_eq!(a.write(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        let (result, _) = a.write_owned(vec![1]).await;
        assert_eq!(result.unwrap_err().kind(), ErrorKind::BrokenPipe);
        assert_eq!(a.read(&mut buf).await.unwrap(), 0);

        let (a, b) = UnixDatagram::pair().unwrap();
        drop(b);
        assert!(a.send(b"x").await.is_err());
        let (a, _b) = UnixDatagram::pair().unwrap();
        a.shutdown(Shutdown::Write).unwrap();
        assert_eq!(a.send(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn datagrams_by_name() {
    on_each(|| async {
        let place = Place::new();
        let (here, there) = (place.path("here"), place.path("there"));
        let a = UnixDatagram::bind(&here).unwrap();
        let b = UnixDatagram::bind(&there).unwrap();
        assert_eq!(a.send_to(b"one", &there).await.unwrap(), 3);
        assert_eq!(a.try_send_to(b"", &there).unwrap(), 0);
        let (result, buf) = a.send_to_owned(b"three".to_vec(), &there).await;
        assert_eq!((result.unwrap(), &buf[..]), (5, &b"three"[..]));
        let mut buf = [0; 16];
        let (count, from) = b.peek_from(&mut buf).await.unwrap();
        assert_eq!((&buf[..count], from.as_pathname()), (&b"one"[..], Some(here.as_path())));
        for expected in [&b"one"[..], b"", b"three"] {
            let (count, from) = b.recv_from(&mut buf).await.unwrap();
            assert_eq!((&buf[..count], from.as_pathname()), (expected, Some(here.as_path())));
        }
        // Without a name, and by address.
        let nameless = UnixDatagram::unbound().unwrap();
        nameless.send_to_addr(b"who", &b.local_addr().unwrap()).await.unwrap();
        let (count, from) = b.recv_from(&mut buf).await.unwrap();
        assert!(count == 3 && from.is_unnamed());
        let abstracted = SocketAddr::from_abstract_name(abstract_name(b"")).unwrap();
        let c = UnixDatagram::bind_addr(&abstracted).unwrap();
        a.connect_addr(&abstracted).unwrap();
        a.send(b"connected").await.unwrap();
        let (result, got) = c.recv_owned(Vec::with_capacity(64)).await;
        assert_eq!((result.unwrap(), &got[..]), (9, &b"connected"[..]));
        c.send_to(b"back", Path::new(&here)).await.unwrap();
        assert_eq!(a.recv(&mut buf).await.unwrap(), 4);
    });
}

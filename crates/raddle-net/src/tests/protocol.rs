//! Unix addresses from and to the forms of std, the driver and socket2.

use super::{Protocol, Tcp, Unix, unix_to_raw};
use raddle_driver::RawAddr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::SocketAddr;

#[test]
fn names_come_back_as_they_went() {
    for name in [&b""[..], b"plain", b"\0\0", b"a\0b", &[255; 107]] {
        let addr = SocketAddr::from_abstract_name(name).unwrap();
        let raw = unix_to_raw(&addr).unwrap();
        assert_eq!(Unix::from_raw(&raw).unwrap().as_abstract_name(), Some(name));
    }
    for path in ["relative", "/absolute/path", &"n".repeat(107)] {
        let addr = SocketAddr::from_pathname(path).unwrap();
        let raw = unix_to_raw(&addr).unwrap();
        assert_eq!(Unix::from_raw(&raw).unwrap().as_pathname(), Some(path.as_ref()));
    }
    let unnamed = Unix::from_raw(&RawAddr::unix(b"").unwrap()).unwrap();
    assert!(unnamed.is_unnamed());
    assert!(unix_to_raw(&unnamed).unwrap().as_unix().unwrap().is_empty());
}

#[test]
fn families_do_not_mix() {
    let inet = RawAddr::from("127.0.0.1:1".parse::<std::net::SocketAddr>().unwrap());
    assert!(Unix::from_raw(&inet).is_err());
    assert!(Tcp::from_raw(&RawAddr::unix(b"path").unwrap()).is_err());
}

//! Addresses survive the way to the kernel's form and back.

use super::*;

#[test]
fn internet_addresses_round_trip() {
    for text in ["127.0.0.1:80", "0.0.0.0:0", "[::1]:443", "[fe80::1%7]:9"] {
        let addr: SocketAddr = text.parse().unwrap();
        assert_eq!(RawAddr::from(addr).as_inet(), Some(addr));
        assert_eq!(RawAddr::from(addr).as_unix(), None);
    }
}

#[test]
fn unix_paths_round_trip() {
    let longest_file = [b'x'; 107];
    let longest_name = [0; 108];
    let paths: [&[u8]; 6] =
        [b"", b"/run/socket", b"\0abstract", b"\0with\0zero", &longest_file, &longest_name];
    for path in paths {
        let addr = RawAddr::unix(path).unwrap();
        assert_eq!(addr.as_unix(), Some(path));
        assert_eq!(addr.as_inet(), None);
    }
}

#[test]
fn unix_paths_that_do_not_fit_are_refused() {
    for path in [&[b'x'; 108][..], &[0; 109], b"a\0b"] {
        assert_eq!(RawAddr::unix(path).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
}

#[test]
fn an_empty_address_is_of_no_family() {
    let addr = RawAddr::empty();
    assert_eq!((addr.as_inet(), addr.as_unix(), addr.family()), (None, None, 0));
}

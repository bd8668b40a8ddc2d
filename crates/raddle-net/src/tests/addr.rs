//! What address arguments stand for.

use super::{AddrQuery, ToSocketAddrs};
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

fn one(text: &str) -> AddrQuery {
    AddrQuery::One(text.parse().unwrap())
}

#[test]
fn literals_need_no_look_up() {
    assert_eq!("127.0.0.1:80".to_query().unwrap(), one("127.0.0.1:80"));
    assert_eq!("[::1]:80".to_query().unwrap(), one("[::1]:80"));
    assert_eq!(String::from("1.2.3.4:0").to_query().unwrap(), one("1.2.3.4:0"));
    assert_eq!(("1.2.3.4", 5).to_query().unwrap(), one("1.2.3.4:5"));
    assert_eq!(("::1", 5).to_query().unwrap(), one("[::1]:5"));
    assert_eq!((Ipv4Addr::LOCALHOST, 5).to_query().unwrap(), one("127.0.0.1:5"));
    assert_eq!((Ipv6Addr::LOCALHOST, 5).to_query().unwrap(), one("[::1]:5"));
    assert_eq!((IpAddr::from([1, 2, 3, 4]), 5).to_query().unwrap(), one("1.2.3.4:5"));
    let addrs: [SocketAddr; 2] = ["1.2.3.4:5".parse().unwrap(), "[::1]:5".parse().unwrap()];
    assert_eq!(addrs.to_query().unwrap(), AddrQuery::Many(addrs.to_vec()));
    assert_eq!(addrs[..].to_query().unwrap(), AddrQuery::Many(addrs.to_vec()));
    assert_eq!(addrs[0].to_query().unwrap(), AddrQuery::One(addrs[0]));
}

#[test]
fn names_are_left_to_the_resolver() {
    let name = AddrQuery::Name(String::from("localhost"), 8080);
    assert_eq!("localhost:8080".to_query().unwrap(), name);
    assert_eq!(("localhost", 8080).to_query().unwrap(), name);
    assert_eq!((String::from("localhost"), 8080).to_query().unwrap(), name);
}

#[test]
fn malformed_strings_are_refused() {
    for text in ["", "host", "host:", "host:x", "host:65536", "host:-1"] {
        assert_eq!(text.to_query().unwrap_err().kind(), ErrorKind::InvalidInput, "{text}");
    }
}

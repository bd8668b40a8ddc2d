//! Ctrl-C: what is in flight is finished, the rest is let go, and the code is 0. Two lines tell of
//! it on standard error.

use std::net::TcpStream;

use super::client::{Client, request};
use super::process::Ended;
use super::setup::{Site, each_setup};

const LONG: &str = "3600000";

fn site() -> Site {
    let site = Site::new();
    let pattern: Vec<u8> = (0..1 << 16).map(|at: u32| (at / 3) as u8).collect();
    site.file("a.txt", "hello").file("big", pattern.repeat(256));
    site
}

/// The line at the beginning, with at most so many connections open, and the one at the end.
fn told(ended: &Ended, most: usize, end: &str) {
    let lines: Vec<&str> = ended.stderr.lines().collect();
    let [first, last] = lines[..] else { panic!("{ended:?}") };
    let open = first.strip_prefix("raddle: stopping: ").expect("the beginning is told");
    let open: usize = open.split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
    assert!(open <= most && first.contains("at most for what is in flight"), "{ended:?}");
    assert!(last.starts_with("raddle: stopped: ") && last.ends_with(end), "{ended:?}");
}

#[test]
fn without_connections() {
    let site = site();
    each_setup(|setup| {
        let server = site.serve(setup, &["--drain-timeout-ms", LONG]);
        let ended = server.stop();
        assert_eq!(ended.stdout, "");
        told(&ended, 0, "all connections have ended");
    });
}

#[test]
fn a_service_manager_is_heard_too() {
    let site = site();
    each_setup(|setup| {
        let server = site.serve(setup, &["--drain-timeout-ms", LONG]);
        let mut idle = Client::connect(server.address);
        assert_eq!(idle.get("/a.txt").text(), "hello");
        server.terminate();
        assert_eq!(idle.rest(), b"");
        assert_eq!(server.wait().code, Some(0));
    });
}

/// Connections without a request end at once: with an hour to drain, the watchdog would bite.
#[test]
fn idle_connections_end_at_once() {
    let site = site();
    each_setup(|setup| {
        let server = site.serve(setup, &["--drain-timeout-ms", LONG]);
        let mut used = Client::connect(server.address);
        assert_eq!(used.get("/a.txt").text(), "hello");
        let mut fresh = Client::connect(server.address);
        // Makes sure that the fresh one was accepted: connections are accepted in order.
        assert_eq!(Client::connect(server.address).get("/a.txt").text(), "hello");
        server.interrupt();
        assert_eq!(used.rest(), b"");
        assert_eq!(fresh.rest(), b"");
        assert_eq!(server.wait().code, Some(0));
    });
}

#[test]
fn an_answer_in_flight_is_finished() {
    let site = site();
    let whole = std::fs::read(site.dir().join("big")).expect("readable");
    each_setup(|setup| {
        let server = site.serve(setup, &["--drain-timeout-ms", LONG]);
        let address = server.address;
        let mut client = Client::connect(address);
        client.send(request("GET", "/big", &[]));
        let header = client.header();
        let mut got = vec![0; header.length()];
        client.body(&mut got[..1000]);
        // An idle one tells when the order to stop has arrived.
        let mut idle = Client::connect(address);
        assert_eq!(idle.get("/a.txt").text(), "hello");
        server.interrupt();
        assert_eq!(idle.rest(), b"");
        assert!(TcpStream::connect(address).is_err(), "nothing new is accepted");
        client.body(&mut got[1000..]);
        assert!(got == whole, "the answer is intact");
        assert_eq!(client.rest(), b"", "and the connection is closed after it");
        let ended = server.wait();
        assert_eq!(ended.code, Some(0));
        told(&ended, 2, "all connections have ended");
    });
}

#[test]
fn what_does_not_end_is_cut_off() {
    let site = site();
    each_setup(|setup| {
        let server = site.serve(setup, &["--drain-timeout-ms", "200"]);
        let mut deaf = Client::connect(server.address);
        deaf.send(request("GET", "/big", &[]));
        assert_eq!(deaf.header().status, 200);
        let mut half = Client::connect(server.address);
        half.send("GET /a.txt HT");
        assert_eq!(Client::connect(server.address).get("/a.txt").text(), "hello");
        let ended = server.stop();
        told(&ended, 3, "connections were cut off");
        assert_eq!(half.rest(), b"");
    });
}

#[test]
fn a_second_interrupt_waits_for_nobody() {
    let site = site();
    each_setup(|setup| {
        let server = site.serve(setup, &["--drain-timeout-ms", LONG]);
        let mut deaf = Client::connect(server.address);
        deaf.send(request("GET", "/big", &[]));
        assert_eq!(deaf.header().status, 200);
        let mut idle = Client::connect(server.address);
        assert_eq!(idle.get("/a.txt").text(), "hello");
        server.interrupt();
        // The first has been taken once the idle one is closed.
        assert_eq!(idle.rest(), b"");
        let ended = server.stop();
        told(&ended, 2, "connections were cut off");
    });
}

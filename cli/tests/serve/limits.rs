//! Silence, slowness and crowds: what each connection may cost.
//!
//! The limits are made short by hidden options; what is asserted is that an end comes (under the
//! watchdog) and in which order, never when.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::client::{Client, request};
use super::process::Server;
use super::setup::{Site, each_setup};

const SHORT: &str = "200";
const LONG: &str = "3600000";

fn site() -> Site {
    let site = Site::new();
    site.file("a.txt", "hello").file("big", vec![b'x'; 64 << 20]);
    site
}

#[test]
fn a_header_that_does_not_end_ends_the_connection() {
    let site = site();
    each_setup(|setup| {
        let server = site.serve(setup, &["--header-timeout-ms", SHORT, "--idle-timeout-ms", LONG]);
        for start in ["", "G", "GET /a.txt HTTP/1.1\r\nHost: x\r\n"] {
            let mut client = Client::connect(server.address);
            client.send(start);
            assert_eq!(client.rest(), b"", "after {start:?}");
        }
        assert_eq!(Client::served(server.address, "/a.txt").1.text(), "hello");
        server.stop();
    });
}

/// A byte now and then does not help.
#[test]
fn a_trickling_header_ends_the_connection() {
    let site = site();
    each_setup(|setup| {
        let server = site.serve(setup, &["--header-timeout-ms", SHORT, "--idle-timeout-ms", LONG]);
        let mut client = Client::connect(server.address);
        client.send("GET /a.txt HTTP/1.1\r\nX: ");
        // The pause is the traffic's pace; the read ends with the connection or the watchdog.
        let mut writer = client.stream.try_clone().expect("another handle");
        let trickle = std::thread::spawn(move || {
            while writer.write_all(b"y").is_ok() {
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        assert_eq!(client.rest(), b"");
        trickle.join().expect("no panic");
        server.stop();
    });
}

/// The short limit belongs to headers: a connection that waits between requests outlives one
/// that was opened later and owes its header.
#[test]
fn waiting_connections_have_the_long_limit() {
    let site = site();
    each_setup(|setup| {
        let server = site.serve(setup, &["--header-timeout-ms", SHORT, "--idle-timeout-ms", LONG]);
        let (mut waiting, answer) = Client::served(server.address, "/a.txt");
        assert_eq!(answer.text(), "hello");
        let mut owing = Client::connect(server.address);
        owing.send("GET");
        assert_eq!(owing.rest(), b"");
        assert_eq!(waiting.get("/a.txt").text(), "hello");
        // And its own next header has the short one again.
        waiting.send("GET /a.txt");
        assert_eq!(waiting.rest(), b"");
        server.stop();
    });
}

#[test]
fn an_idle_connection_is_closed() {
    let site = site();
    each_setup(|setup| {
        let server = site.serve(setup, &["--idle-timeout-ms", SHORT]);
        let (mut client, answer) = Client::served(server.address, "/a.txt");
        assert_eq!(answer.text(), "hello");
        assert_eq!(client.rest(), b"");
        server.stop();
    });
}

/// A peer that takes nothing of its answer is idle too.
#[test]
fn an_answer_that_nobody_reads_ends_the_connection() {
    let site = site();
    each_setup(|setup| {
        let limits = ["--idle-timeout-ms", SHORT, "--max-connections", "1"];
        let server = site.serve(setup, &limits);
        let mut deaf = Client::connect(server.address);
        deaf.send(request("GET", "/big", &[]));
        // The only slot is free again once the deaf one was given up.
        assert_eq!(Client::served(server.address, "/a.txt").1.text(), "hello");
        assert!(deaf.rest().len() < 64 << 20);
        server.stop();
    });
}

#[test]
fn more_connections_than_allowed_wait_their_turn() {
    let site = site();
    each_setup(|setup| {
        let server = site.serve(setup, &["--max-connections", "2"]);
        let mut first = Client::connect(server.address);
        let mut second = Client::connect(server.address);
        assert_eq!(first.get("/a.txt").text(), "hello");
        assert_eq!(second.get("/a.txt").text(), "hello");
        let mut third = Client::connect(server.address);
        third.send(request("GET", "/a.txt", &[]));
        assert!(third.hears_nothing(), "no slot is free");
        // The two are served on meanwhile.
        assert_eq!(second.get("/a.txt").text(), "hello");
        drop(first);
        assert_eq!(third.answer("GET").text(), "hello");
        server.stop();
    });
}

/// One connection that is never read does not slow the others, on one worker either.
#[test]
fn a_deaf_connection_slows_nobody() {
    let site = site();
    each_setup(|setup| {
        let server = site.serve(setup, &["--idle-timeout-ms", LONG]);
        let mut deaf: Vec<_> = (0..4).map(|_| Client::connect(server.address)).collect();
        for client in &mut deaf {
            client.send(request("GET", "/big", &[]));
        }
        let mut client = Client::connect(server.address);
        for _ in 0..100 {
            assert_eq!(client.get("/a.txt").text(), "hello");
        }
        // And what the deaf ones left is whole.
        let (whole, mut body) = (vec![b'x'; 64 << 20], vec![0; 64 << 20]);
        for client in &mut deaf {
            assert_eq!(client.header().length(), 64 << 20);
            client.body(&mut body);
            assert!(body == whole);
        }
        server.stop();
    });
}

/// Out of descriptors: it is said once, those who are in are answered, and when some go away all
/// is well again.
#[test]
fn descriptors_run_out_and_come_back() {
    let site = site();
    each_setup(|setup| {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -n 40; exec \"$@\"", "sh"]);
        command.arg(env!("CARGO_BIN_EXE_raddle")).arg("serve").arg(site.dir());
        command.args(["--quiet", "--addr", "127.0.0.1:0"]);
        command.args(["--workers", &setup.workers.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        match setup.io {
            Some(way) => command.env("RADDLE_IO", way),
            None => command.env_remove("RADDLE_IO"),
        };
        let server = Server::launch(command);
        let mut first = Client::connect(server.address);
        assert_eq!(first.get("/a.txt").text(), "hello");
        let crowd: Vec<_> = (0..64).map(|_| Client::connect(server.address)).collect();
        let complaint = server.complaint();
        assert!(complaint.contains("cannot accept connections: Too many open files"));
        // A file needs a descriptor that is not there; the connection is served all the same.
        assert_eq!(first.get("/a.txt").status, 503);
        drop(crowd);
        // What waits in the backlog has to pass before descriptors are free for files.
        let well = (0..1000).any(|_| Client::connect(server.address).get("/a.txt").status == 200);
        assert!(well, "descriptors came back");
        server.stop();
    });
}

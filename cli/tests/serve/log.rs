//! The first line and the access log.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{ChildStdout, Stdio};

use super::client::{Client, request};
use super::process::{Process, Server, address_in, raddle};
use super::setup::{ANY, Site, each_setup};

fn site() -> Site {
    let site = Site::new();
    site.file("a.txt", "hello");
    site
}

#[test]
fn the_first_line_tells_address_and_backend() {
    let site = site();
    each_setup(|setup| {
        for more in [&[][..], &["--quiet"]] {
            let server = Server::start(&site.dir(), setup, more);
            let line = &server.announced;
            let io = line.split(" (io: ").nth(1).and_then(|io| io.strip_suffix(')'));
            let (way, why) = io.and_then(|io| io.split_once(", ")).expect("(io: …, why)");
            match setup.io {
                Some("epoll") => assert_eq!(way, "epoll", "{line}"),
                Some(_) => assert_eq!(way, "io_uring", "{line}"),
                None => assert!(matches!(way, "epoll" | "io_uring"), "{line}"),
            }
            assert!(!why.is_empty(), "{line}");
            server.stop();
        }
    });
}

#[test]
fn the_option_wins_over_the_environment() {
    let site = site();
    let mut setup = ANY;
    setup.io = Some("nonsense");
    let server = Server::start(&site.dir(), setup, &["--io", "epoll"]);
    assert!(server.announced.contains("(io: epoll, "), "{}", server.announced);
    server.stop();
}

#[test]
fn an_empty_variable_says_nothing() {
    let site = site();
    let mut setup = ANY;
    setup.io = Some("");
    Server::start(&site.dir(), setup, &[]).stop();
}

#[test]
fn one_line_a_request() {
    let site = site();
    let server = Server::start(&site.dir(), ANY, &[]);
    let mut client = Client::connect(server.address);
    for (method, path, headers, tail) in [
        ("GET", "/a.txt", &[][..], "\"GET /a.txt HTTP/1.1\" 200 5"),
        ("GET", "/a.txt?q=%22", &[], "\"GET /a.txt?q=%22 HTTP/1.1\" 200 5"),
        ("HEAD", "/a.txt", &[], "\"HEAD /a.txt HTTP/1.1\" 200 -"),
        ("GET", "/a.txt", &[("Range", "bytes=1-2")], "\"GET /a.txt HTTP/1.1\" 206 2"),
        ("GET", "/none", &[], "\"GET /none HTTP/1.1\" 404 14"),
        ("PUT", "/a.txt", &[], "\"PUT /a.txt HTTP/1.1\" 405 23"),
    ] {
        client.ask(method, path, headers);
        let line = server.line();
        assert!(line.starts_with("127.0.0.1 - - ["), "{line}");
        assert!(line.contains(" +0000] "), "{line}");
        assert!(line.ends_with(tail), "{line}");
    }
    assert_eq!(server.stop().stdout, "");
}

#[test]
fn quiet_means_no_log() {
    let site = site();
    let server = site.serve(ANY, &[]);
    let mut client = Client::connect(server.address);
    for _ in 0..10 {
        client.get("/a.txt");
    }
    let ended = server.stop();
    assert_eq!(ended.stdout, "");
    assert_eq!(ended.stderr.lines().count(), 2, "the two lines of the end: {ended:?}");
}

/// A server on one worker of which nothing but the first line was read, and the unread output.
fn unread(site: &Site) -> (Process, SocketAddr, BufReader<ChildStdout>) {
    let mut command = raddle();
    command.arg("serve").arg(site.dir()).args(["--addr", "127.0.0.1:0", "--workers", "1"]);
    command.stderr(Stdio::null());
    let mut child = command.spawn().expect("the command starts");
    let mut output = BufReader::with_capacity(256, child.stdout.take().expect("piped"));
    let process = Process::new(child);
    let mut line = String::new();
    output.read_line(&mut line).expect("the first line");
    (process, address_in(&line), output)
}

/// Somebody starts the server, reads the first line and nothing more. The pipe fills; requests
/// are answered all the same, and Ctrl-C still ends it.
#[test]
fn a_log_that_nobody_reads_stops_nothing() {
    let site = site();
    let (process, address, output) = unread(&site);
    let mut client = Client::connect(address);
    // 90 bytes a line: more than the pipe (64 KiB) and the queue take together.
    let many = request("GET", "/a.txt", &[]).repeat(50);
    for _ in 0..250 {
        client.send(&many);
        for _ in 0..50 {
            assert_eq!(client.answer("GET").text(), "hello");
        }
    }
    process.interrupt();
    assert!(process.wait().success());
    drop(output);
}

/// A reader that leaves (`raddle serve | head -1`) does no harm either.
#[test]
fn a_log_whose_reader_left_stops_nothing() {
    let site = site();
    let (process, address, output) = unread(&site);
    drop(output);
    let mut client = Client::connect(address);
    for _ in 0..100 {
        assert_eq!(client.get("/a.txt").text(), "hello");
    }
    process.interrupt();
    assert!(process.wait().success());
}

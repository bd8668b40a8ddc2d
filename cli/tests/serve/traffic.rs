//! Many requests: one after the other on one connection, on many connections at once, sent ahead
//! of their answers, and broken off.

use super::client::{Client, request};
use super::setup::{ANY, Site, each_setup};

/// A file's content that tells which file it is.
fn content(number: usize) -> String {
    format!("file {number} ").repeat(number * 7 + 1)
}

fn site() -> Site {
    let site = Site::new();
    for number in 0..16 {
        site.file(&format!("{number}.txt"), content(number));
    }
    site
}

#[test]
fn ten_thousand_requests_on_one_connection() {
    let site = site();
    each_setup(|setup| {
        let server = site.serve(setup, &[]);
        let mut client = Client::connect(server.address);
        for round in 0..10_000 {
            let number = round % 16;
            let answer = client.get(&format!("/{number}.txt"));
            assert_eq!(answer.status, 200);
            assert_eq!(answer.text(), content(number));
        }
        server.stop();
    });
}

#[test]
fn two_hundred_and_fifty_six_connections_at_once() {
    let site = site();
    each_setup(|setup| {
        let server = site.serve(setup, &[]);
        let mut clients: Vec<_> = (0..256).map(|_| Client::connect(server.address)).collect();
        for round in 0..8 {
            // All requests are on their way before the first answer is read.
            for (index, client) in clients.iter_mut().enumerate() {
                client.send(request("GET", &format!("/{}.txt", (index + round) % 16), &[]));
            }
            for (index, client) in clients.iter_mut().enumerate().rev() {
                let answer = client.answer("GET");
                assert_eq!(answer.status, 200);
                assert_eq!(answer.text(), content((index + round) % 16));
            }
        }
        server.stop();
    });
}

#[test]
fn requests_sent_ahead_are_answered_in_order() {
    let site = site();
    each_setup(|setup| {
        let server = site.serve(setup, &[]);
        let mut client = Client::connect(server.address);
        let mut ahead = String::new();
        for number in 0..16 {
            ahead += &request("GET", &format!("/{number}.txt"), &[]);
        }
        client.send(ahead);
        for number in 0..16 {
            assert_eq!(client.answer("GET").text(), content(number));
        }
        server.stop();
    });
}

/// Connections that go away inside a request or an answer. With eight slots, a slot or a
/// descriptor that is not given back would end this early.
#[test]
fn broken_connections_leave_nothing_behind() {
    let site = site();
    site.file("big", vec![b'x'; 4 << 20]);
    each_setup(|setup| {
        let server = site.serve(setup, &["--max-connections", "8"]);
        for round in 0..400 {
            let mut client = Client::connect(server.address);
            match round % 4 {
                0 => {}
                1 => client.send("GET /big HT"),
                2 => client.send(request("GET", "/big", &[])),
                _ => {
                    client.send(request("GET", "/big", &[]));
                    assert_eq!(client.header().status, 200);
                }
            }
        }
        assert_eq!(Client::connect(server.address).get("/3.txt").text(), content(3));
        let open = std::fs::read_dir(format!("/proc/{}/fd", server.pid())).expect("own child");
        let open = open.count();
        assert!(open < 100, "{open} descriptors with at most eight connections");
        server.stop();
    });
}

/// `printf … | nc -N`: a client that says it will send nothing more gets its answers all the same.
#[test]
fn a_client_may_close_its_sending_side() {
    let site = site();
    site.file("big", vec![b'x'; 8 << 20]);
    each_setup(|setup| {
        let server = site.serve(setup, &[]);
        let mut client = Client::connect(server.address);
        client.send(request("GET", "/1.txt", &[]) + &request("GET", "/big", &[]));
        client.stream.shutdown(std::net::Shutdown::Write).expect("connected");
        assert_eq!(client.answer("GET").text(), content(1));
        let mut body = vec![0; client.header().length()];
        client.body(&mut body);
        assert!(body == vec![b'x'; 8 << 20]);
        assert_eq!(client.rest(), b"");
        server.stop();
    });
}

#[test]
fn http_1_0_closes_unless_asked_not_to() {
    let site = site();
    let server = site.serve(ANY, &[]);
    let mut client = Client::connect(server.address);
    client.send("GET /1.txt HTTP/1.0\r\n\r\n");
    assert_eq!(client.answer("GET").text(), content(1));
    assert!(client.rest().is_empty());

    let mut client = Client::connect(server.address);
    for _ in 0..3 {
        client.send("GET /1.txt HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        let answer = client.answer("GET");
        assert_eq!((answer.must("connection"), answer.text()), ("keep-alive", &*content(1)));
    }

    let mut client = Client::connect(server.address);
    let answer = client.ask("GET", "/1.txt", &[("Connection", "close")]);
    assert_eq!(answer.must("connection"), "close");
    assert!(client.rest().is_empty());
    server.stop();
}

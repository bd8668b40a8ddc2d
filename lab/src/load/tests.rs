//! The load's protocols against answers whole, in pieces, and wrong.

use super::protocol::{Echo, Http, MESSAGE, Protocol};
use super::report::Kind;

#[test]
fn echo_takes_its_own_message_in_pieces() {
    let mut echo = Echo::new(3);
    let message = echo.request().to_vec();
    assert_eq!(message.len(), MESSAGE);
    assert_eq!(echo.answer(&message[..10]), Ok(false));
    assert_eq!(echo.answer(&message[10..]), Ok(true));
    let next = echo.request().to_vec();
    assert_ne!(message, next, "the sequence number is part of the message");
}

#[test]
fn echo_refuses_what_it_did_not_send() {
    let mut echo = Echo::new(3);
    let mut message = echo.request().to_vec();
    message[20] ^= 1;
    assert!(echo.answer(&message).is_err());
    let mut echo = Echo::new(3);
    let message = echo.request().to_vec();
    assert!(echo.answer(&[&message[..], b"x"].concat()).is_err(), "more than was sent");
}

#[test]
fn http_recognises_an_answer_in_pieces() {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\ndate: x\r\n\r\nHello, world!";
    for cut in 1..answer.len() {
        let mut http = Http::new(0);
        assert!(http.request().starts_with(b"GET / "));
        assert_eq!(http.answer(&answer[..cut]), Ok(false), "cut at {cut}");
        assert_eq!(http.answer(&answer[cut..]), Ok(true), "cut at {cut}");
    }
}

#[test]
fn http_refuses_wrong_answers() {
    for answer in [
        "HTTP/1.1 404 Not Found\r\ncontent-length: 13\r\n\r\nHello, world!",
        "HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\nHello, earth!",
        "HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\nHello, world!HTTP/1.1 200 OK",
        "HTTP/1.1 200 OK\r\n\r\nHello, world!",
        "HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n",
    ] {
        let mut http = Http::new(0);
        http.request();
        assert!(http.answer(answer.as_bytes()).is_err(), "{answer}");
    }
}

#[test]
fn kinds_have_names_that_parse() {
    for kind in [Kind::Echo, Kind::Http, Kind::Hold] {
        assert_eq!(Kind::parse(kind.name()), Some(kind));
    }
    assert_eq!(Kind::parse("other"), None);
}

//! An HTTP client that does exactly what it is told, on one std socket.
//!
//! Requests are written as they are given, so that they can be wrong; answers are read strictly:
//! by their Content-Length, without chunking, and not a byte more. Every read has the watchdog's
//! time.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

use super::process::WATCHDOG;

/// A connection.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    /// Read from the socket, not yet part of an answer.
    ahead: Vec<u8>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Client {
    /// Connects.
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the server accepts");
        stream.set_read_timeout(Some(WATCHDOG)).expect("settable");
        stream.set_write_timeout(Some(WATCHDOG)).expect("settable");
        stream.set_nodelay(true).expect("settable");
        Self { stream, ahead: Vec::new() }
    }

    /// A connection that has had its first answer, from a server with limits so short that on a
    /// busy machine it may take a client, or its own answer, for dead: then the next one is tried.
    pub(crate) fn served(address: SocketAddr, path: &str) -> (Self, Answer) {
        let start = Instant::now();
        loop {
            let mut client = Self::connect(address);
            let asked = client.stream.write_all(request("GET", path, &[]).as_bytes());
            if let Ok(answer) = asked.and_then(|()| client.try_answer("GET")) {
                return (client, answer);
            }
            assert!(start.elapsed() < WATCHDOG, "no client is served");
        }
    }

    /// Writes bytes as they are.
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).expect("the server reads");
    }

    /// Sends a request and reads its answer.
    pub(crate) fn ask(&mut self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send(request(method, path, headers));
        self.answer(method)
    }

    /// A GET without further headers.
    pub(crate) fn get(&mut self, path: &str) -> Answer {
        self.ask("GET", path, &[])
    }

    /// Reads the answer to a request with `method`.
    #[track_caller]
    pub(crate) fn answer(&mut self, method: &str) -> Answer {
        self.try_answer(method).expect("a whole answer within the watchdog's time")
    }

    fn try_answer(&mut self, method: &str) -> io::Result<Answer> {
        let mut answer = self.try_header()?;
        if method != "HEAD" && answer.status != 304 {
            let length = answer.length();
            while self.ahead.len() < length {
                self.more()?;
            }
            answer.body = self.ahead.drain(..length).collect();
        }
        Ok(answer)
    }

    /// Reads an answer's header; its body is next on the connection.
    #[track_caller]
    pub(crate) fn header(&mut self) -> Answer {
        self.try_header().expect("a whole header within the watchdog's time")
    }

    fn try_header(&mut self) -> io::Result<Answer> {
        let end = loop {
            let end = self.ahead.windows(4).position(|window| window == b"\r\n\r\n");
            match end {
                Some(end) => break end + 4,
                None => self.more()?,
            }
        };
        let header: Vec<u8> = self.ahead.drain(..end).collect();
        Ok(parse(std::str::from_utf8(&header).expect("headers of this server are ASCII")))
    }

    /// Fills `into` with the next bytes of a body.
    pub(crate) fn body(&mut self, into: &mut [u8]) {
        let ready = self.ahead.len().min(into.len());
        into[..ready].copy_from_slice(&self.ahead[..ready]);
        self.ahead.drain(..ready);
        self.stream.read_exact(&mut into[ready..]).expect("the whole body");
    }

    /// Reads until the server closes; what came before. A reset counts as closing.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        loop {
            match self.try_more() {
                Ok(0) => return std::mem::take(&mut self.ahead),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                    return std::mem::take(&mut self.ahead);
                }
                Err(error) => panic!("no end within the watchdog's time: {error}"),
            }
        }
    }

    /// That nothing comes cannot be waited for; a while of nothing is what can be had.
    pub(crate) fn hears_nothing(&mut self) -> bool {
        let pause = std::time::Duration::from_millis(100);
        self.stream.set_read_timeout(Some(pause)).expect("settable");
        let nothing = self.try_more();
        self.stream.set_read_timeout(Some(WATCHDOG)).expect("settable");
        use std::io::ErrorKind::{TimedOut, WouldBlock};
        nothing.is_err_and(|error| matches!(error.kind(), WouldBlock | TimedOut))
    }

    /// Reads on; the end is an error.
    fn more(&mut self) -> io::Result<()> {
        match self.try_more()? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    fn try_more(&mut self) -> io::Result<usize> {
        let mut buffer = [0; 16 * 1024];
        let count = loop {
            // A read with a time-out is interrupted when the process is stopped and continued.
            match self.stream.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => break done?,
            }
        };
        self.ahead.extend_from_slice(&buffer[..count]);
        Ok(count)
    }
}

impl Answer {
    /// The value of a header that occurs once, or not at all.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(have, _)| have.eq_ignore_ascii_case(name));
        let value = values.next().map(|(_, value)| value.as_str());
        assert!(values.next().is_none(), "{name} is there twice");
        value
    }

    /// The value of a header that must be there.
    pub(crate) fn must(&self, name: &str) -> &str {
        self.header(name).unwrap_or_else(|| panic!("{name} in {self:?}"))
    }

    /// The Content-Length.
    pub(crate) fn length(&self) -> usize {
        assert!(self.header("transfer-encoding").is_none(), "lengths are known");
        self.must("content-length").parse().expect("a number")
    }

    /// The body as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }
}

/// A request as bytes.
pub(crate) fn request(method: &str, path: &str, headers: &[(&str, &str)]) -> String {
    let mut request = format!("{method} {path} HTTP/1.1\r\nHost: test\r\n");
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request + "\r\n"
}

fn parse(header: &str) -> Answer {
    let mut lines = header.trim_end().split("\r\n");
    let first = lines.next().expect("a status line");
    let mut words = first.split(' ');
    assert!(matches!(words.next(), Some("HTTP/1.1" | "HTTP/1.0")), "{first}");
    let status = words.next().and_then(|code| code.parse().ok()).expect("a status code");
    let headers = lines
        .map(|line| {
            let (name, value) = line.split_once(':').expect("a header line");
            (name.to_owned(), value.trim().to_owned())
        })
        .collect();
    Answer { status, headers, body: Vec::new() }
}

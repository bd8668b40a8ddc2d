//! What the load sends, and how it recognises and checks an answer.

/// Bytes of an echo message.
pub(crate) const MESSAGE: usize = 64;

/// The body that every `http_hello` server gives.
pub(crate) const HELLO: &str = "Hello, world!";

/// A request and its answer on one connection.
pub(crate) trait Protocol: Send + 'static {
    /// For connection number `connection`.
    fn new(connection: u64) -> Self;

    /// The next request.
    fn request(&mut self) -> &[u8];

    /// Takes bytes of the answer; true when it is complete. More than one answer is an error.
    fn answer(&mut self, bytes: &[u8]) -> Result<bool, String>;
}

/// 64 bytes: connection, sequence number, and a fixed tail; the answer must be the same.
#[derive(Debug)]
pub(crate) struct Echo {
    message: [u8; MESSAGE],
    sequence: u64,
    got: usize,
}

impl Protocol for Echo {
    fn new(connection: u64) -> Echo {
        let mut message = [0; MESSAGE];
        for (place, byte) in message.iter_mut().enumerate() {
            *byte = place as u8;
        }
        message[..8].copy_from_slice(&connection.to_le_bytes());
        Echo { message, sequence: 0, got: 0 }
    }

    #[inline]
    fn request(&mut self) -> &[u8] {
        self.sequence += 1;
        self.got = 0;
        self.message[8..16].copy_from_slice(&self.sequence.to_le_bytes());
        &self.message
    }

    #[inline]
    fn answer(&mut self, bytes: &[u8]) -> Result<bool, String> {
        let end = self.got + bytes.len();
        if self.message.get(self.got..end) != Some(bytes) {
            return Err(format!("request {}: the echo differs: {bytes:?}", self.sequence));
        }
        self.got = end;
        Ok(end == MESSAGE)
    }
}

/// A keep-alive GET; the answer must be 200 with `HELLO` as its body.
#[derive(Debug)]
pub(crate) struct Http {
    got: Vec<u8>,
}

const GET: &[u8] = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";

impl Protocol for Http {
    fn new(_connection: u64) -> Http {
        Http { got: Vec::with_capacity(1024) }
    }

    fn request(&mut self) -> &[u8] {
        self.got.clear();
        GET
    }

    fn answer(&mut self, bytes: &[u8]) -> Result<bool, String> {
        self.got.extend_from_slice(bytes);
        let Some(head) = find(&self.got, b"\r\n\r\n") else { return Ok(false) };
        let length = content_length(&self.got[..head])?;
        let body = &self.got[head + 4..];
        if body.len() < length {
            return Ok(false);
        }
        if body != HELLO.as_bytes() || !self.got.starts_with(b"HTTP/1.1 200 OK\r\n") {
            return Err(format!("wrong answer: {:?}", String::from_utf8_lossy(&self.got)));
        }
        Ok(true)
    }
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

/// The content-length of a head; its name in any case.
fn content_length(head: &[u8]) -> Result<usize, String> {
    for line in head.split(|byte| *byte == b'\n') {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        if line[..colon].eq_ignore_ascii_case(b"content-length") {
            let value = String::from_utf8_lossy(&line[colon + 1..]);
            return value.trim().parse().map_err(|error| format!("content-length: {error}"));
        }
    }
    Err("an answer without content-length".to_owned())
}

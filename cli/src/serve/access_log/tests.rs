//! The form of a line, and a log whose reader is slow or gone.

use super::*;
use hyper::Request;
use std::sync::{Condvar, Mutex};

fn record(bytes: u64) -> Record {
    Record {
        peer: IpAddr::from([127, 0, 0, 1]),
        at: 784_111_777,
        request: "GET / HTTP/1.1".to_owned(),
        status: 200,
        bytes,
    }
}

#[test]
fn common_log_format() {
    assert_eq!(
        line(&record(1234)),
        "127.0.0.1 - - [06/Nov/1994:08:49:37 +0000] \"GET / HTTP/1.1\" 200 1234\n"
    );
    assert!(line(&record(0)).ends_with("\" 200 -\n"));
}

#[test]
fn request_lines() {
    for (method, uri, line) in [
        ("GET", "/a%20b?q=1", "GET /a%20b?q=1 HTTP/1.1"),
        ("HEAD", "/", "HEAD / HTTP/1.1"),
        ("GET", "http://h/x", "GET http://h/x HTTP/1.1"),
        ("OPTIONS", "*", "OPTIONS * HTTP/1.1"),
        ("GET", "/\"q\"", "GET /\\\"q\\\" HTTP/1.1"),
    ] {
        let request = Request::builder().method(method).uri(uri).body(()).expect("legal");
        assert_eq!(request_line(&request), line);
    }
}

/// An output that blocks until it is opened.
#[derive(Clone, Default)]
struct Gate(Arc<Shared>);

#[derive(Default)]
struct Shared {
    open: Mutex<bool>,
    opened: Condvar,
    written: Mutex<Vec<u8>>,
}

impl Write for Gate {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut open = self.0.open.lock().expect("unpoisoned");
        while !*open {
            open = self.0.opened.wait(open).expect("unpoisoned");
        }
        self.0.written.lock().expect("unpoisoned").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_stuck_reader_costs_lines_and_no_time() {
    let gate = Gate::default();
    let (log, writer) = AccessLog::into(gate.clone()).expect("thread");
    for _ in 0..QUEUE * 2 {
        log.record(&record(1));
    }
    let lost = Arc::clone(&log.0.as_ref().expect("on").lost);
    // At most one batch has left the queue.
    let missing = lost.load(Ordering::Relaxed) as usize;
    assert!((QUEUE - BATCH..=QUEUE).contains(&missing), "{missing}");
    *gate.0.open.lock().expect("unpoisoned") = true;
    gate.0.opened.notify_all();
    drop(log);
    // Not `finish`, which has a limit: here the end itself is waited for.
    let ended = writer.0.expect("on").recv();
    assert!(ended.is_err());
    let written = gate.0.written.lock().expect("unpoisoned").clone();
    let lines = written.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(lines + missing, QUEUE * 2);
}

#[test]
fn a_reader_that_left_ends_the_log() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (log, writer) = AccessLog::into(Closed).expect("thread");
    log.record(&record(1));
    assert!(writer.0.expect("on").recv().is_err());
    log.record(&record(1));
    assert!(log.is_on());
}

#[test]
fn off_is_off() {
    let (log, writer) = AccessLog::off();
    assert!(!log.is_on());
    log.record(&record(1));
    writer.finish();
}

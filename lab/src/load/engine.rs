//! The loop of the load: send, poll, read, check, send again.

use super::epoll::{self, Epoll};
use super::protocol::Protocol;
use super::report::Report;
use crate::rounds::cpu_of;
use crate::stats;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// How long the load runs before the first mark, and between the two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) warm_up: Duration,
    pub(crate) measured: Duration,
}

/// A request may take this long before the load gives up.
const PATIENCE: Duration = Duration::from_secs(30);

struct Connection<P> {
    stream: TcpStream,
    protocol: P,
    sent: Instant,
    waiting: bool,
}

struct Engine<P> {
    epoll: Epoll,
    connections: Vec<Connection<P>>,
    /// Latencies since the last mark, ns, saturating at 4 s.
    latencies: Vec<u32>,
    waiting: usize,
    refill: bool,
    last: Instant,
    buffer: Vec<u8>,
}

/// The two clocks at a mark.
struct Mark {
    at: Instant,
    server: Duration,
}

/// Drives a server; what was seen between the marks, or what was wrong.
pub(crate) fn run<P: Protocol>(
    address: SocketAddr,
    connections: usize,
    times: Times,
    server: libc::pid_t,
) -> Result<Report, String> {
    let mut engine = Engine::<P>::connect(address, connections)?;
    let clock = clock_of(server)?;
    engine.begin()?;
    engine.turn_until(Instant::now() + times.warm_up, 4)?;
    engine.latencies.clear();
    let first = mark(clock)?;
    engine.turn_until(first.at + times.measured, 1)?;
    let second = mark(clock)?;
    let mut latencies = std::mem::take(&mut engine.latencies);
    engine.finish()?;
    latencies.sort_unstable();
    let quantile = |q| stats::percentile(&latencies, q).map(f64::from).unwrap_or(0.0);
    Ok(Report {
        requests: latencies.len() as u64,
        elapsed_ns: (second.at - first.at).as_nanos() as u64,
        server_cpu_ns: second.server.saturating_sub(first.server).as_nanos() as u64,
        p50_ns: quantile(0.5),
        p99_ns: quantile(0.99),
        mismatch: latencies.is_empty().then(|| "no request was answered".to_owned()),
    })
}

/// The CPU clock of another process.
fn clock_of(process: libc::pid_t) -> Result<libc::clockid_t, String> {
    let mut clock = 0;
    // SAFETY: `clock` is a live clockid of ours, which the call only fills in.
    match unsafe { libc::clock_getcpuclockid(process, &mut clock) } {
        0 => Ok(clock),
        code => Err(format!("CPU clock of process {process}: error {code}")),
    }
}

fn mark(clock: libc::clockid_t) -> Result<Mark, String> {
    let server = cpu_of(clock).ok_or("the server's CPU clock cannot be read")?;
    Ok(Mark { at: Instant::now(), server })
}

/// One request and its answer, blocking, before the next connection is opened.
///
/// Else connections could come faster than the server accepts them and overflow its backlog (128
/// with std's listener), and the retries of the handshake, seconds apart, would be measured.
fn first_exchange<P: Protocol>(mut stream: &TcpStream, protocol: &mut P) -> Result<(), String> {
    let text = |error: std::io::Error| format!("first exchange: {error}");
    stream.set_read_timeout(Some(PATIENCE)).map_err(text)?;
    stream.write_all(protocol.request()).map_err(text)?;
    let mut buffer = [0; 1024];
    loop {
        let n = stream.read(&mut buffer).map_err(text)?;
        if n == 0 {
            return Err("the server closed a connection".to_owned());
        }
        if protocol.answer(&buffer[..n])? {
            return Ok(());
        }
    }
}

impl<P: Protocol> Engine<P> {
    fn connect(address: SocketAddr, number: usize) -> Result<Engine<P>, String> {
        let text = |error: std::io::Error| format!("connect: {error}");
        let epoll = Epoll::new(number).map_err(text)?;
        let mut connections = Vec::with_capacity(number);
        for key in 0..number as u64 {
            let stream = TcpStream::connect(address).map_err(text)?;
            stream.set_nodelay(true).map_err(text)?;
            let mut protocol = P::new(key);
            first_exchange(&stream, &mut protocol)?;
            stream.set_nonblocking(true).map_err(text)?;
            epoll.watch(&stream, key).map_err(text)?;
            let sent = Instant::now();
            connections.push(Connection { stream, protocol, sent, waiting: false });
        }
        Ok(Engine {
            epoll,
            connections,
            latencies: Vec::with_capacity(1 << 20),
            waiting: 0,
            refill: true,
            last: Instant::now(),
            buffer: vec![0; 16 * 1024],
        })
    }

    fn begin(&mut self) -> Result<(), String> {
        (0..self.connections.len()).try_for_each(|key| self.ask(key))
    }

    /// Sends the next request of a connection. It is small: a full socket is an error.
    #[inline]
    fn ask(&mut self, key: usize) -> Result<(), String> {
        let connection = &mut self.connections[key];
        connection.sent = Instant::now();
        connection.waiting = true;
        self.waiting += 1;
        let fd = connection.stream.as_raw_fd();
        let request = connection.protocol.request();
        match epoll::send(fd, request) {
            Ok(Some(sent)) if sent == request.len() => Ok(()),
            Ok(sent) => Err(format!("a request went out in part: {sent:?}")),
            Err(error) => Err(format!("send: {error}")),
        }
    }

    /// Polls, without ever sleeping, until a time and so many answers a connection.
    ///
    /// On a machine that is busy otherwise the time alone may end before every connection was met,
    /// and what is done once for each (a buffer, an arming) would be measured.
    fn turn_until(&mut self, end: Instant, answers: usize) -> Result<(), String> {
        loop {
            let answered = self.turn()?;
            let now = Instant::now();
            if answered {
                self.last = now;
            }
            if now >= end && self.latencies.len() >= answers * self.connections.len() {
                return Ok(());
            }
            if now - self.last > PATIENCE {
                return Err(format!("{} requests without an answer", self.waiting));
            }
        }
    }

    /// One poll and what it brought; true if an answer was completed.
    fn turn(&mut self) -> Result<bool, String> {
        let before = self.latencies.len();
        let ready = self.epoll.wait(0).map_err(|error| format!("epoll: {error}"))?;
        for place in 0..ready {
            self.read(self.epoll.key(place) as usize)?;
        }
        Ok(self.latencies.len() > before)
    }

    #[inline]
    fn read(&mut self, key: usize) -> Result<(), String> {
        let connection = &mut self.connections[key];
        let fd = connection.stream.as_raw_fd();
        let n = match epoll::recv(fd, &mut self.buffer) {
            Ok(None) => return Ok(()),
            Ok(Some(0)) => return Err("the server closed a connection".to_owned()),
            Ok(Some(n)) => n,
            Err(error) => return Err(format!("recv: {error}")),
        };
        if !connection.waiting {
            return Err("an answer that was not asked for".to_owned());
        }
        if connection.protocol.answer(&self.buffer[..n])? {
            let latency = connection.sent.elapsed().as_nanos();
            connection.waiting = false;
            self.waiting -= 1;
            self.latencies.push(u32::try_from(latency).unwrap_or(u32::MAX));
            if self.refill {
                return self.ask(key);
            }
        }
        Ok(())
    }

    /// Lets every connection finish its request: each must have been answered.
    fn finish(&mut self) -> Result<(), String> {
        self.refill = false;
        let end = Instant::now() + PATIENCE;
        while self.waiting > 0 {
            self.turn()?;
            if Instant::now() > end {
                return Err(format!("{} requests were never answered", self.waiting));
            }
        }
        Ok(())
    }
}

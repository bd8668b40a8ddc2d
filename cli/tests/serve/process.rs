//! The command as a process: started, listened to, interrupted, waited for under a watchdog, and
//! killed with the test that started it.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::setup::Setup;

/// After this long an event that was waited for is taken to be lost.
pub(crate) const WATCHDOG: Duration = Duration::from_secs(180);

/// The command under test.
pub(crate) fn raddle() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A command that ended by itself.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs the command to its end.
pub(crate) fn run(arguments: &[&str]) -> Ended {
    let mut command = raddle();
    command.args(arguments);
    finish(command)
}

/// Runs a prepared command to its end.
pub(crate) fn finish(mut command: Command) -> Ended {
    let mut child = command.spawn().expect("the command starts");
    let stdout = lines(child.stdout.take().expect("piped"));
    let stderr = lines(child.stderr.take().expect("piped"));
    let process = Process::new(child);
    let code = process.wait().code();
    Ended { code, stdout: all(&stdout), stderr: all(&stderr) }
}

/// A server that has said where it listens.
pub(crate) struct Server {
    process: Process,
    pub(crate) address: SocketAddr,
    /// The first line.
    pub(crate) announced: String,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

impl Server {
    /// Starts `raddle serve` on a free port and waits for its first line.
    pub(crate) fn start(dir: &Path, setup: Setup, more: &[&str]) -> Self {
        let mut command = raddle();
        command.arg("serve").arg(dir).args(["--addr", "127.0.0.1:0"]);
        command.args(["--workers", &setup.workers.to_string()]).args(more);
        match setup.io {
            Some(way) => command.env("RADDLE_IO", way),
            None => command.env_remove("RADDLE_IO"),
        };
        Self::launch(command)
    }

    /// Runs a prepared command that becomes a server.
    pub(crate) fn launch(mut command: Command) -> Self {
        let mut child = command.spawn().expect("the command starts");
        let stdout = lines(child.stdout.take().expect("piped"));
        let stderr = lines(child.stderr.take().expect("piped"));
        let process = Process::new(child);
        let announced = match stdout.recv_timeout(WATCHDOG) {
            Ok(line) => line,
            Err(_) => panic!("no first line; on standard error: {}", all(&stderr)),
        };
        let address = address_in(&announced);
        Self { process, address, announced, stdout, stderr }
    }

    /// What Ctrl-C sends.
    pub(crate) fn interrupt(&self) {
        self.process.interrupt();
    }

    /// What a service manager sends.
    pub(crate) fn terminate(&self) {
        kill_process(self.process.pid, Signal::TERM).expect("the process is there");
    }

    /// The next line on standard error.
    pub(crate) fn complaint(&self) -> String {
        self.stderr.recv_timeout(WATCHDOG).expect("a line within the watchdog's time")
    }

    /// The process.
    pub(crate) fn pid(&self) -> i32 {
        self.process.pid.as_raw_nonzero().get()
    }

    /// The next line on standard output.
    pub(crate) fn line(&self) -> String {
        self.stdout.recv_timeout(WATCHDOG).expect("a line within the watchdog's time")
    }

    /// Waits for the end; what else was written on either output.
    pub(crate) fn wait(self) -> Ended {
        let code = self.process.wait().code();
        Ended { code, stdout: all(&self.stdout), stderr: all(&self.stderr) }
    }

    /// Interrupts, and insists on an end as documented.
    pub(crate) fn stop(self) -> Ended {
        self.interrupt();
        let ended = self.wait();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended
    }
}

/// The address in a server's first line.
pub(crate) fn address_in(line: &str) -> SocketAddr {
    let rest = line.strip_prefix("listening on http://").expect("the agreed first line");
    rest.split(' ').next().expect("an address").parse().expect("an address")
}

/// A running process that does not outlive the test.
pub(crate) struct Process {
    pid: Pid,
    ended: Receiver<ExitStatus>,
}

impl Process {
    pub(crate) fn new(mut child: Child) -> Self {
        let pid = Pid::from_child(&child);
        let (tell, ended) = mpsc::channel();
        thread::spawn(move || {
            let status = child.wait().expect("a child can be waited for");
            let _ = tell.send(status);
        });
        Self { pid, ended }
    }

    pub(crate) fn interrupt(&self) {
        kill_process(self.pid, Signal::INT).expect("the process is there");
    }

    pub(crate) fn wait(&self) -> ExitStatus {
        self.ended.recv_timeout(WATCHDOG).expect("an end within the watchdog's time")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // `Disconnected` says that the end was reported before.
        if let Err(mpsc::TryRecvError::Empty) = self.ended.try_recv() {
            let _ = kill_process(self.pid, Signal::KILL);
        }
    }
}

/// Collects an output line by line, on a thread of its own.
fn lines(output: impl Read + Send + 'static) -> Receiver<String> {
    let (tell, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            let Ok(line) = line else { return };
            if tell.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// The lines up to the output's end, which is near.
fn all(lines: &Receiver<String>) -> String {
    let mut text = String::new();
    while let Ok(line) = lines.recv_timeout(WATCHDOG) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

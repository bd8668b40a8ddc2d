//! Running a program: its output goes through, its test summaries are counted, and a limit ends it.

use crate::counts::Counts;
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How a program ended.
pub(crate) struct Outcome {
    pub(crate) success: bool,
    pub(crate) counts: Counts,
    /// It was still running at the limit and was killed.
    pub(crate) timed_out: bool,
}

/// Cargo, in the project's folder.
pub(crate) fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
    command.current_dir(root);
    command
}

/// Runs a command as the only work of this program.
pub(crate) fn alone(command: &mut Command) -> Result<bool, String> {
    command.status().map(|status| status.success()).map_err(|error| cannot(command, &error))
}

/// Runs a command and returns what it wrote to standard output.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| cannot(command, &error))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a command for at most `limit`. `see` gets each line of its output.
pub(crate) fn watched(
    command: &mut Command,
    limit: Duration,
    see: impl FnMut(&str),
) -> Result<Outcome, String> {
    // In a group of its own it can be ended with all its children; at a terminal it stays in ours
    // so that Ctrl-C reaches it.
    watched_in(!std::io::stdin().is_terminal(), command, limit, see)
}

fn watched_in(
    grouped: bool,
    command: &mut Command,
    limit: Duration,
    mut see: impl FnMut(&str),
) -> Result<Outcome, String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    if grouped {
        command.process_group(0);
    }
    let mut child = command.spawn().map_err(|error| cannot(command, &error))?;
    let (finished, watch) = mpsc::channel::<()>();
    let id = child.id();
    let watchdog = std::thread::spawn(move || {
        let late = watch.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout);
        if late {
            kill(id, grouped);
        }
        late
    });
    let counts = read(&mut child, &mut see);
    let status = child.wait().map_err(|error| cannot(command, &error))?;
    drop(finished);
    let timed_out = watchdog.join().unwrap_or(false);
    Ok(Outcome { success: status.success() && !timed_out, counts, timed_out })
}

/// Passes lines on until the output ends.
fn read(child: &mut Child, see: &mut impl FnMut(&str)) -> Counts {
    let mut counts = Counts::default();
    let Some(stdout) = child.stdout.take() else { return counts };
    let mut reader = BufReader::new(stdout);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        let text = String::from_utf8_lossy(&line);
        counts.read(text.trim_end());
        see(&text);
        line.clear();
    }
    counts
}

/// Passes a line on to standard output.
pub(crate) fn print(line: &str) {
    print!("{line}");
    let _ = std::io::stdout().flush();
}

fn kill(id: u32, grouped: bool) {
    let Ok(id) = libc::pid_t::try_from(id) else { return };
    let target = if grouped { -id } else { id };
    // SAFETY: kill takes no pointers. The child was not waited for yet, or the pipe it and its
    // children hold is still open, so the number has not been given to another process.
    unsafe { libc::kill(target, libc::SIGKILL) };
}

fn cannot(command: &Command, error: &std::io::Error) -> String {
    format!("cannot run {}: {error}", command.get_program().display())
}

#[cfg(test)]
mod tests;

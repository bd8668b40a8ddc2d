//! The machine a sample runs on: its CPUs, its limits, and its description for reports.

use serde::Serialize;
use std::fs;
use std::process::Command;

/// Keeps this process, and what it starts later, on some CPUs.
///
/// A machine without them (one core, a container) leaves everything as it is: the sample is then
/// still right, only its timing means less.
pub(crate) fn bind_to_cpus(cpus: &[usize]) {
    // SAFETY: a cpu_set_t is plain bits; all zeroes is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for cpu in cpus {
        // SAFETY: CPU_SET bounds-checks the number against the set it is given.
        unsafe { libc::CPU_SET(*cpu, &mut set) };
    }
    // SAFETY: the set is ours and its size is passed; 0 is the calling thread.
    let code = unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) };
    if code != 0 {
        eprintln!("note: cannot bind to CPUs {cpus:?}: {}", std::io::Error::last_os_error());
    }
}

/// Lets malloc keep what was freed.
///
/// Else a round that frees more than 128 KiB at the heap's end gives the pages back, and the next
/// one takes page faults for them: up to a third of `spawn_batch`, which is no runtime's doing.
pub(crate) fn keep_freed_memory() {
    // SAFETY: mallopt only sets parameters of malloc, before other threads exist.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, i32::MAX);
        libc::mallopt(libc::M_MMAP_MAX, 0);
    }
}

/// Raises the limit on open files to what is allowed; gives the limit.
pub(crate) fn raise_file_limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is ours; the call fills it in.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } != 0 {
        return 1024;
    }
    let raised = libc::rlimit { rlim_cur: limit.rlim_max, ..limit };
    // SAFETY: `raised` is ours and only read.
    let done = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raised) } == 0;
    if done { raised.rlim_cur } else { limit.rlim_cur }
}

/// Resident memory of this process in bytes.
pub(crate) fn resident() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = statm.split(' ').nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
    pages * 4096
}

/// What a report says about where it was made.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) kernel: String,
    pub(crate) rustc: String,
    pub(crate) commit: String,
    pub(crate) load: String,
}

impl Machine {
    /// Asks the system; what cannot be told is `unknown`.
    pub(crate) fn describe() -> Machine {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let info = read("/proc/cpuinfo");
        let model = info.lines().find(|line| line.starts_with("model name"));
        let cpu = model.and_then(|line| line.split(": ").nth(1)).unwrap_or("unknown");
        let status = said("git", &["status", "--porcelain"]);
        let changed = !status.is_empty() && status != "unknown";
        let commit = said("git", &["rev-parse", "--short=12", "HEAD"]);
        Machine {
            cpu: cpu.to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            rustc: said("rustc", &["--version"]),
            commit: if changed { format!("{commit} with local changes") } else { commit },
            load: read("/proc/loadavg").trim().to_owned(),
        }
    }
}

/// What a program prints, or `unknown`.
fn said(program: &str, arguments: &[&str]) -> String {
    let manifest = env!("CARGO_MANIFEST_DIR");
    let output = Command::new(program).args(arguments).current_dir(manifest).output();
    match output {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        }
        _ => "unknown".to_owned(),
    }
}

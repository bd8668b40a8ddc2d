//! `cargo xtask refuse-uring CMD…`: run a command for which the kernel refuses io_uring.
//!
//! A seccomp filter lets `io_uring_setup` fail with EPERM, as containers do; every other call goes
//! through. The filter is inherited by all children and cannot be taken off again. The same file
//! asks the kernel whether io_uring is there at all.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Where `struct seccomp_data` holds the number of the call and the architecture.
const NUMBER_OFFSET: u32 = 0;
const ARCHITECTURE_OFFSET: u32 = 4;

/// `IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN`: a kernel that takes both is 6.1 or
/// later, which is what the driver asks for.
const SETUP_FLAGS: u32 = (1 << 12) | (1 << 13);

/// Replaces this program by the command. Only returns if that failed.
pub(crate) fn exec(program: &str, args: &[&str]) -> String {
    if let Err(error) = install() {
        return format!("cannot install the filter: {error}");
    }
    let error = Command::new(program).args(args).exec();
    format!("cannot run {program}: {error}")
}

/// Prints what the kernel says about io_uring; true if it gives one.
pub(crate) fn report() -> bool {
    let answer = probe();
    match &answer {
        Ok(()) => println!("io_uring: available"),
        Err(error) => println!("io_uring: refused ({error})"),
    }
    answer.is_ok()
}

/// Sets up a small ring and closes it again.
pub(crate) fn probe() -> io::Result<()> {
    // `struct io_uring_params`: 120 bytes, of which the flags are the third word.
    let mut params = [0u32; 30];
    params[2] = SETUP_FLAGS;
    // SAFETY: the kernel reads and writes 120 bytes at the pointer, which are ours.
    let fd = unsafe { libc::syscall(libc::SYS_io_uring_setup, 4, params.as_mut_ptr()) };
    let Ok(fd) = i32::try_from(fd) else { return Err(io::Error::from_raw_os_error(libc::EBADF)) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else knows it.
    unsafe { libc::close(fd) };
    Ok(())
}

/// Installs the filter for this thread and all it becomes or starts.
fn install() -> io::Result<()> {
    let filter = filter(architecture()?);
    let length = u16::try_from(filter.len()).map_err(io::Error::other)?;
    let program = libc::sock_fprog { len: length, filter: filter.as_ptr().cast_mut() };
    // SAFETY: this prctl takes numbers only.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel copies the program during the call; program and filter outlive it.
    let done =
        unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Numbers of calls differ between architectures, so the filter has to know which one it is on.
fn architecture() -> io::Result<u32> {
    match std::env::consts::ARCH {
        "x86_64" => Ok(0xC000_003E),
        "aarch64" => Ok(0xC000_00B7),
        other => Err(io::Error::other(format!("no call numbers known for {other}"))),
    }
}

fn filter(architecture: u32) -> [libc::sock_filter; 6] {
    let number = u32::try_from(libc::SYS_io_uring_setup).unwrap_or(u32::MAX);
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let equal = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let ret = libc::BPF_RET | libc::BPF_K;
    let errno = u32::from(libc::EPERM.unsigned_abs() as u16);
    [
        op(load, 0, 0, ARCHITECTURE_OFFSET),
        op(equal, 0, 2, architecture), // another architecture: allow
        op(load, 0, 0, NUMBER_OFFSET),
        op(equal, 1, 0, number), // ours: refuse
        op(ret, 0, 0, libc::SECCOMP_RET_ALLOW),
        op(ret, 0, 0, libc::SECCOMP_RET_ERRNO | errno),
    ]
}

fn op(code: u32, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    // Codes are below 256.
    libc::sock_filter { code: code as u16, jt, jf, k }
}

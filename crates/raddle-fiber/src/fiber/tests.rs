//! Does a debugger that looks at a suspended fiber see its frames, and a clean end?

use super::{Fiber, Step};
use crate::stack::Stack;
use crate::suspender::Suspender;
use std::arch::asm;
use std::env;
use std::hint::black_box;
use std::process::Command;

const CHILD: &str = "RADDLE_FIBER_TRAP";
const NAME: &str = "fiber::tests::a_debugger_walks_a_suspended_fiber";

/// At the trap the frame's address is in rdi: goes on from there as a resume would.
const SCRIPT: [&str; 8] = [
    "set language c",
    "set $frame = $rdi",
    "set $rbp = *(long*)$frame",
    "set $rbx = *(long*)($frame + 16)",
    "set $pc = *(long*)($frame + 8)",
    "set $sp = $frame + 24",
    "backtrace",
    "kill",
];

#[inline(never)]
fn waits_in_here(s: &Suspender<(), ()>) -> u32 {
    s.suspend(());
    black_box(1)
}

/// What the debugger looks at.
fn trap() {
    let mut fiber: Fiber<(), (), u32> = Fiber::new(Stack::new().unwrap(), |s, ()| waits_in_here(s));
    assert!(matches!(fiber.resume(()), Step::Suspended(())));
    let frame = fiber.control().frame();
    // SAFETY: a trap, for the debugger that runs this process.
    unsafe { asm!("int3", in("rdi") frame, options(nostack)) };
}

#[test]
fn a_debugger_walks_a_suspended_fiber() {
    if env::var_os(CHILD).is_some() {
        return trap();
    }
    if env::var_os("ASAN_OPTIONS").is_some() {
        return; // a watched fiber keeps its frame where walks do not look
    }
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-batch", "-ex", "set confirm off", "-ex", "set debuginfod enabled off"]);
    gdb.args(["-ex", "run"]);
    gdb.args(SCRIPT.iter().flat_map(|line| ["-ex", line])).arg("--args");
    gdb.arg(env::current_exe().unwrap()).args([NAME, "--exact", "--test-threads=1"]);
    let Ok(output) = gdb.env(CHILD, "1").output() else { return };
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    if !said.contains("SIGTRAP") {
        return; // this machine does not let processes be traced
    }
    let walk = &said[said.find("#0").expect(&said)..];
    for frame in ["waits_in_here", "entry::entry", "x86_64::suspended"] {
        assert!(walk.contains(frame), "{frame} is missing: {said}");
    }
    assert!(
        !walk.contains("fiber::tests::trap ()"),
        "it goes on in a resumer that is gone: {said}"
    );
    assert!(!walk.contains("corrupt") && !walk.contains("Cannot access"), "{said}");
}

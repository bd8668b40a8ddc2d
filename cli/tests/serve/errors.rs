//! What goes wrong before anything is served: one line and code 1, or usage and code 2.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;

use super::process::{Ended, finish, raddle, run};
use super::setup::Site;

/// Code 1, nothing on standard output, one line on standard error with all these words.
fn assert_failed(ended: &Ended, words: &[&str]) {
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{ended:?}");
    assert!(ended.stderr.starts_with("raddle: "), "{ended:?}");
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    for word in words {
        assert!(ended.stderr.contains(word), "{word} in {ended:?}");
    }
}

#[test]
fn port_in_use() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = taken.local_addr().expect("bound").to_string();
    let ended = run(&["serve", ".", "--addr", &address]);
    assert_failed(&ended, &["cannot listen on", &address, "in use"]);
}

#[test]
fn no_such_directory() {
    let site = Site::new();
    site.file("file", "x");
    for (name, words) in [("nothing", "No such file"), ("file", "Not a directory")] {
        let path = site.dir().join(name);
        let path = path.to_str().expect("text");
        assert_failed(&run(&["serve", path, "--addr", "127.0.0.1:0"]), &[path, words]);
    }
}

#[test]
fn an_address_of_somebody_else() {
    // From the documentation range, so no interface has it.
    assert_failed(&run(&["serve", ".", "--addr", "192.0.2.1:80"]), &["192.0.2.1:80"]);
    // Where no name server answers, the resolver would try for a minute and longer.
    let mut command = raddle();
    command.args(["serve", ".", "--addr", "no-such-host.invalid:80"]);
    command.env("RES_OPTIONS", "timeout:1 attempts:1");
    assert_failed(&finish(command), &["no-such-host"]);
}

/// Permissions bind everybody but root, so as root the command is run as somebody else; from a
/// copy, since that one may not be able to reach the build's folder.
#[test]
fn no_permission() {
    let site = Site::new();
    site.file("private/x", "x").file("open/private.txt", "x");
    let open = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("own file");
    };
    let copy = site.above().join("raddle");
    // By another process: a program that this one still has open for writing, be it in a child
    // that a test beside this one has just forked, cannot be run.
    let copied = std::process::Command::new("cp")
        .arg(env!("CARGO_BIN_EXE_raddle"))
        .arg(&copy)
        .status()
        .expect("coreutils");
    assert!(copied.success());
    open(site.above(), 0o755);
    open(&site.dir().join("private"), 0o000);
    let mut command = std::process::Command::new(copy);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.arg("serve").arg(site.dir().join("private")).args(["--addr", "127.0.0.1:0"]);
    if rustix::process::geteuid().is_root() {
        command.uid(65534).gid(65534);
    }
    assert_failed(&finish(command), &["private", "Permission denied"]);
    open(&site.dir().join("private"), 0o755);
}

#[test]
fn misuse() {
    for arguments in [
        &["serve", "--bogus"][..],
        &["serve", "a", "b"],
        &["serve", "--workers", "0"],
        &["serve", "--workers", "x"],
        &["serve", "--io", "kqueue"],
        &["serve", "--addr", "nonsense"],
        &["serve", "--addr"],
        &["bogus"],
        &[],
    ] {
        let ended = run(arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(ended.stderr.contains("--help") || ended.stderr.contains("Usage"), "{ended:?}");
    }
}

#[test]
fn a_wrong_environment_is_an_error_too() {
    let mut command = raddle();
    command.args(["serve", ".", "--addr", "127.0.0.1:0"]).env("RADDLE_IO", "nonsense");
    assert_failed(&finish(command), &["RADDLE_IO", "nonsense"]);
}

#[test]
fn help_and_version() {
    let help = run(&["serve", "--help"]);
    assert_eq!(help.code, Some(0));
    for word in ["DIR", "--addr", "--workers", "--io", "--quiet", "127.0.0.1:8080"] {
        assert!(help.stdout.contains(word), "{word}");
    }
    assert!(!help.stdout.contains("timeout"), "test options are hidden");
    let version = run(&["--version"]);
    assert_eq!((version.code, version.stdout.starts_with("raddle ")), (Some(0), true));
}

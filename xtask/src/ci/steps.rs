//! The steps of CI: what each runs, in which order, and when it is left out.
//!
//! Steps with the same flags share a target folder, so that each crate is compiled once for them:
//! the test suite runs three times from one build.

use crate::{asan, bench_smoke, command, model, refuse_uring, shuttle, tidy};
use std::path::Path;
use std::process::{Command, Stdio};

/// What a step does.
pub(crate) enum Work {
    /// Run this, or fail because it could not be put together.
    Run(Result<Command, String>),
    /// Do this inside this program.
    Call(Box<dyn FnOnce() -> Result<bool, String>>),
    /// Nothing, for a reason.
    Skip(String),
}

/// One step. If a step fails that all later ones need, those are left out.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) work: Work,
    pub(crate) needed_by_all: bool,
}

fn step(name: &'static str, work: Work) -> Step {
    Step { name, work, needed_by_all: false }
}

/// For every push. The lab's unit tests are left to the whole: linking them with all peers takes
/// as long as the rest.
pub(crate) fn quick(root: &Path) -> Vec<Step> {
    let mut steps = vec![fmt(root), check_tidy(root), clippy(root)];
    let which = ["--workspace", "--exclude", "raddle-lab", "--lib", "--bins"];
    steps.push(step("unit tests", tests(root, &which)));
    steps
}

/// All there is. The command of the README comes last.
pub(crate) fn full(root: &Path) -> Vec<Step> {
    let mut steps = vec![fmt(root), check_tidy(root), build(root), clippy(root), rustdoc(root)];
    steps.push(models(root));
    steps.push(step("shuttle", Work::Run(Ok(shuttle::command(root)))));
    steps.push(step("asan", Work::Run(asan::command(root))));
    steps.extend(bench(root));
    steps.extend([refused(root), required(root), hooks(root)]);
    steps.push(step("tests", tests(root, &["--workspace"])));
    steps
}

fn fmt(root: &Path) -> Step {
    step("fmt", tool(root, "fmt", &["fmt", "--all", "--check"]))
}

fn clippy(root: &Path) -> Step {
    let args = [
        "clippy",
        "--locked",
        "--workspace",
        "--all-targets",
        "--features",
        "raddle-tests/test-hooks",
        "--keep-going",
        "--",
        "-D",
        "warnings",
    ];
    step("clippy", tool(root, "clippy", &args))
}

/// A part of the toolchain that may not be installed.
fn tool(root: &Path, name: &str, args: &[&str]) -> Work {
    let mut asked = command::cargo(root);
    asked.args([name, "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    if !asked.status().is_ok_and(|status| status.success()) {
        return Work::Skip(format!("cargo {name} is not installed"));
    }
    Work::Run(Ok(cargo(root, args)))
}

fn check_tidy(root: &Path) -> Step {
    let root = root.to_owned();
    step("tidy", Work::Call(Box::new(move || tidy::run(&root))))
}

fn build(root: &Path) -> Step {
    let work = Work::Run(Ok(cargo(root, &["test", "--locked", "--workspace", "--no-run"])));
    Step { name: "build", work, needed_by_all: true }
}

fn rustdoc(root: &Path) -> Step {
    let mut command = cargo(root, &["doc", "--locked", "--workspace", "--no-deps", "--keep-going"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    step("rustdoc", Work::Run(Ok(command)))
}

fn models(root: &Path) -> Step {
    let work = match model::crates_with_models(root) {
        Ok(crates) if crates.is_empty() => Work::Skip("no crate has a model yet".to_owned()),
        _ => Work::Run(model::command(root, &[])),
    };
    step("models", work)
}

/// Building and running the lab.
fn bench(root: &Path) -> [Step; 2] {
    let work = |command: Command| {
        if bench_smoke::exists(root) {
            Work::Run(Ok(command))
        } else {
            Work::Skip("the lab has no smoke mode yet".to_owned())
        }
    };
    [
        step("lab", work(bench_smoke::build(root))),
        step("bench-smoke", work(bench_smoke::command(root))),
    ]
}

/// The suite where the kernel refuses io_uring: raddle has to fall back by itself.
fn refused(root: &Path) -> Step {
    let inner = cargo(root, &["test", "--locked", "--workspace", "--no-fail-fast"]);
    let mut command = Command::new("/proc/self/exe");
    command.current_dir(root).arg("refuse-uring").arg(inner.get_program()).args(inner.get_args());
    command.envs(inner.get_envs().filter_map(|(key, value)| Some((key, value?))));
    step("uring refused", Work::Run(Ok(command)))
}

/// The suite where io_uring must be used.
fn required(root: &Path) -> Step {
    let work = match refuse_uring::probe() {
        Ok(()) => {
            let mut command = cargo(root, &["test", "--locked", "--workspace", "--no-fail-fast"]);
            command.env("RADDLE_IO", "uring");
            Work::Run(Ok(command))
        }
        Err(error) => Work::Skip(format!("this kernel refuses io_uring: {error}")),
    };
    step("uring required", work)
}

/// The twin that timed builds never have, and the tests that stop workers at its points. The
/// feature is asked for by this command alone, so it gets into no other step's build.
fn hooks(root: &Path) -> Step {
    let mut command = cargo(root, &["test", "--locked", "--features", "raddle-tests/test-hooks"]);
    command.args(["--package", "raddle-base", "--package", "raddle-tests"]);
    command.args(["--no-fail-fast", "--lib", "--test", "points"]);
    step("hooks", Work::Run(Ok(command)))
}

fn tests(root: &Path, which: &[&str]) -> Work {
    let mut command = cargo(root, &["test"]);
    command.args(which).arg("--no-fail-fast");
    Work::Run(Ok(command))
}

fn cargo(root: &Path, args: &[&str]) -> Command {
    let mut command = command::cargo(root);
    command.args(args);
    // What was asked for from outside must not leak into steps that say what they use.
    command.env_remove("RADDLE_IO").env_remove("RUSTFLAGS");
    if std::env::var_os("CI").is_some() {
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

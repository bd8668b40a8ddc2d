//! `cargo xtask model [CRATE…]`: the loom models.
//!
//! A model is a test whose name starts with `model_`. Compiled with `--cfg loom`, the shim of
//! raddle-base stands for loom's types, and loom runs the test under every interleaving and every
//! value a load may see. Models have a target folder of their own, since the flag changes all
//! crates, and an optimised profile with assertions.

use crate::command;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Where compiled models lie, relative to the project.
const TARGET: &str = "target/loom";

/// The command that runs the models of `crates`, or of every crate that has some.
pub(crate) fn command(root: &Path, crates: &[&str]) -> Result<Command, String> {
    let with_models = crates_with_models(root)?;
    if let Some(unknown) = crates.iter().find(|name| !with_models.iter().any(|has| has == *name)) {
        return Err(format!("{unknown} has no models; there are some in {with_models:?}"));
    }
    if with_models.is_empty() {
        return Err("no crate has a model".to_owned());
    }
    let chosen = with_models.iter().filter(|n| crates.is_empty() || crates.contains(&n.as_str()));
    let mut command = cargo(root, &root.join(TARGET));
    chosen.for_each(|name| {
        command.args(["--package", name]);
    });
    command.args(["--", "model_"]);
    Ok(command)
}

/// `cargo test` with everything a model needs but the choice of package and test.
pub(crate) fn cargo(root: &Path, target: &Path) -> Command {
    let mut command = command::cargo(root);
    command.env("RUSTFLAGS", "--cfg loom").env("CARGO_TARGET_DIR", target).args([
        "test",
        "--locked",
        "--profile",
        "model",
        "--lib",
        "--no-fail-fast",
    ]);
    command
}

/// The packages below `crates` in whose source a model stands.
pub(crate) fn crates_with_models(root: &Path) -> Result<Vec<String>, String> {
    let folder = root.join("crates");
    let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut found: Vec<String> = entries
        .flatten()
        .filter(|entry| has_model(&entry.path().join("src")))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    found.sort();
    Ok(found)
}

fn has_model(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().map(|entry| entry.path()).any(|path| {
        if path.is_dir() {
            return has_model(&path);
        }
        fs::read_to_string(&path).is_ok_and(|text| text.contains("fn model_"))
    })
}

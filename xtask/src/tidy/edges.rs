//! Does a package depend on anything that ARCHITECTURE.md does not list?
//!
//! The list is the fenced block marked `edges`: one line a package, `name: what it may use`, with
//! `dev` or `build` before the name for the dependencies of its tests or its build script. What
//! cargo says about the packages must be covered by it; the list may allow more. Looked at as well:
//! that the feature for test hooks stays out of everything that is shipped or measured.

use super::findings::Findings;
use super::tree::Tree;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::process::Command;

const LIST: &str = "ARCHITECTURE.md";
/// The feature with which tests stop threads at chosen points.
const HOOKS: &str = "test-hooks";

/// What `cargo metadata` says about each workspace of the tree.
pub(crate) fn workspaces(root: &Path, tree: &Tree) -> Result<Vec<Value>, String> {
    let mut found = Vec::new();
    for file in &tree.files {
        let manifest = file.path == "Cargo.toml" || file.path.ends_with("/Cargo.toml");
        if manifest && file.text.lines().any(|line| line.trim() == "[workspace]") {
            found.push(metadata(&root.join(&file.path))?);
        }
    }
    Ok(found)
}

fn metadata(manifest: &Path) -> Result<Value, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--all-features"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu", "--manifest-path"])
        .arg(manifest)
        .output()
        .map_err(|error| format!("cannot run cargo metadata: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("cargo metadata for {}: {said}", manifest.display()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}

pub(crate) fn check(root: &str, tree: &Tree, metadata: &Value, findings: &mut Findings) {
    let listed = listed(tree.text(LIST).unwrap_or_default());
    let members: HashSet<&str> =
        array(&metadata["workspace_members"]).filter_map(Value::as_str).collect();
    for package in array(&metadata["packages"]) {
        if !package["id"].as_str().is_some_and(|id| members.contains(id)) {
            continue;
        }
        let name = package["name"].as_str().unwrap_or_default();
        for dependency in array(&package["dependencies"]) {
            let to = dependency["name"].as_str().unwrap_or_default();
            let (key, kind) = match dependency["kind"].as_str() {
                Some(kind) => (format!("{kind} {name}"), kind),
                None => (name.to_owned(), "normal"),
            };
            let path = manifest_of(root, package);
            let hooks = array(&dependency["features"]).any(|feature| feature == HOOKS);
            if hooks && (name != "raddle-tests" || kind != "dev") {
                let advice = format!("only the dev-dependencies of raddle-tests enable {HOOKS}");
                findings.add(&path, 1, "test-hooks", advice);
            }
            let itself = to == name;
            let normal = listed.get(name).is_some_and(|allowed| allowed.contains(to));
            let marked = listed.get(&key).is_some_and(|allowed| allowed.contains(to));
            if !(itself || marked || (kind == "dev" && normal)) {
                let advice = format!(
                    "{kind} dependency of {name} on {to}: add `{key}: {to}` to the list of \
                     {LIST} with a reason, or drop it"
                );
                findings.add(&path, 1, "crate-edge", advice);
            }
        }
    }
}

/// The entries of the fenced list.
fn listed(text: &str) -> HashMap<String, HashSet<String>> {
    let lines = text.lines().skip_while(|line| line.trim() != "```edges").skip(1);
    let mut edges: HashMap<String, HashSet<String>> = HashMap::new();
    for line in lines.take_while(|line| line.trim() != "```") {
        let line = line.split('#').next().unwrap_or_default();
        if let Some((from, to)) = line.split_once(':') {
            let names = to.split(',').map(|name| name.trim().to_owned());
            let from = from.split_whitespace().collect::<Vec<_>>().join(" ");
            edges.entry(from).or_default().extend(names.filter(|name| !name.is_empty()));
        }
    }
    edges
}

/// The package's manifest as a path inside the project.
fn manifest_of(root: &str, package: &Value) -> String {
    let path = package["manifest_path"].as_str().unwrap_or_default();
    path.strip_prefix(root).unwrap_or(path).trim_start_matches('/').to_owned()
}

/// The elements of a JSON array, none if it is something else.
pub(crate) fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

//! Edges between packages and licences, on what cargo would say of a small workspace.

use crate::tidy::findings::Findings;
use crate::tidy::tree::Tree;
use crate::tidy::{edges, licences, spdx};
use serde_json::{Value, json};

fn metadata() -> Value {
    let dependency = |name: &str, kind: Value| json!({ "name": name, "kind": kind });
    let package = |id: &str, licence: Value, dependencies: Vec<Value>| {
        json!({
            "id": id, "name": id, "version": "1.0.0", "license": licence,
            "manifest_path": format!("/top/{id}/Cargo.toml"), "dependencies": dependencies,
        })
    };
    let sync = vec![
        dependency("base", Value::Null),
        dependency("tempfile", json!("dev")),
        dependency("cc", json!("build")),
    ];
    json!({
        "workspace_members": ["base", "sync"],
        "packages": [
            package("base", json!("MIT"), vec![]),
            package("sync", json!("MIT OR Apache-2.0"), sync),
            package("cc", json!("GPL-3.0"), vec![dependency("anything", Value::Null)]),
            package("unused", Value::Null, vec![]),
        ],
        "resolve": { "nodes": [{ "id": "base" }, { "id": "sync" }, { "id": "cc" }] },
    })
}

fn edge_findings(list: &str) -> Vec<String> {
    let tree = Tree::of(&[("ARCHITECTURE.md", list)]);
    let mut findings = Findings::default();
    edges::check("/top", &tree, &metadata(), &mut findings);
    findings.list.iter().map(ToString::to_string).collect()
}

#[test]
fn listed_edges_pass() {
    let list = "x\n```edges\nsync: base # why\ndev  sync: tempfile\nbuild sync: cc\n```\n";
    assert_eq!(edge_findings(list), Vec::<String>::new());
}

#[test]
fn each_missing_edge_is_named_with_its_kind() {
    let found = edge_findings("```edges\nsync: cc\n```\nsync: base\n");
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(
        found[0].starts_with("sync/Cargo.toml:1: crate-edge: normal dependency of sync on base")
    );
    assert!(found[1].contains("dev dependency of sync on tempfile: add `dev sync: tempfile`"));
    assert!(found[2].contains("build dependency of sync on cc: add `build sync: cc`"));
    assert_eq!(edge_findings("").len(), 3);
}

#[test]
fn a_test_may_use_what_its_package_may_use() {
    let list = "```edges\nsync: base, tempfile\nbuild sync: cc\n```\n";
    assert_eq!(edge_findings(list), Vec::<String>::new());
}

#[test]
fn hooks_are_for_tests_alone() {
    let found = |name: &str, kind: Value| {
        let dependency = json!({ "name": "base", "kind": kind, "features": ["test-hooks"] });
        let metadata = json!({
            "workspace_members": [name],
            "packages": [{
                "id": name, "name": name, "manifest_path": "/top/Cargo.toml",
                "dependencies": [dependency],
            }],
        });
        let list = format!("```edges\n{name}: base\n```\n");
        let tree = Tree::of(&[("ARCHITECTURE.md", &list)]);
        let mut findings = Findings::default();
        edges::check("/top", &tree, &metadata, &mut findings);
        findings.list.iter().map(|finding| finding.rule).collect::<Vec<_>>()
    };
    assert_eq!(found("raddle-tests", json!("dev")), Vec::<&str>::new());
    assert_eq!(found("raddle-tests", Value::Null), ["test-hooks"]);
    assert_eq!(found("raddle-lab", json!("dev")), ["test-hooks"]);
}

#[test]
fn licences_of_all_resolved_packages_are_checked() {
    let mut findings = Findings::default();
    licences::check(&metadata(), &mut findings);
    let found: Vec<String> = findings.list.iter().map(ToString::to_string).collect();
    assert_eq!(found, ["Cargo.lock:1: licence: cc 1.0.0 is under GPL-3.0: replace it"]);
    let mut silent = metadata();
    silent["packages"][0]["license"] = Value::Null;
    licences::check(&silent, &mut findings);
    assert!(findings.list.iter().any(|f| f.advice.starts_with("base 1.0.0 states no licence")));
}

#[test]
fn licence_expressions_are_evaluated() {
    let allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"];
    let met = |expression: &str| spdx::satisfied(expression, &allowed);
    for good in [
        "MIT",
        "MIT OR GPL-3.0",
        "GPL-3.0 OR MIT AND Apache-2.0",
        "(MIT OR Apache-2.0) AND Unicode-3.0",
        "MIT/Apache-2.0",
        "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
        "Apache-2.0+",
    ] {
        assert_eq!(met(good), Ok(true), "{good}");
    }
    for bad in [
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "(MIT OR Apache-2.0) AND GPL-3.0",
        "GPL-3.0 AND MIT OR GPL-2.0",
        "MIT WITH Classpath-exception-2.0",
    ] {
        assert_eq!(met(bad), Ok(false), "{bad}");
    }
    for broken in ["", "MIT OR", "(MIT", "MIT Apache-2.0", "AND MIT", "MIT WITH", "MIT)"] {
        assert!(met(broken).is_err(), "{broken}");
    }
}

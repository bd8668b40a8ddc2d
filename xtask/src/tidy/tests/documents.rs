//! Paths that prose names, and things outside the tree.

use super::tree_findings;

const HEAD: &str = "//! A sample that says what it is for.\n";

/// Findings for a document at the top of a small tree.
fn document(text: &str) -> Vec<(&'static str, usize)> {
    tree_findings(&[
        ("README.md", text),
        ("docs/measurements.md", ""),
        ("lab/Cargo.toml", ""),
        ("lab/src/main.rs", HEAD),
        (".ci/run", ""),
    ])
}

#[test]
fn paths_in_markdown_exist() {
    assert_eq!(document("`lab/src/main.rs`, `docs/measurements.md`, `lab/`, `.ci/run`\n"), []);
    assert_eq!(document("see\n`lab/src/missing.rs`\n"), [("doc-path", 2)]);
    assert_eq!(document("`lab/gone`\n"), [("doc-path", 1)]);
    assert_eq!(document("`gone/`\n"), [("doc-path", 1)]);
    assert_eq!(document("`GONE.md`\n"), [("doc-path", 1)]);
    assert_eq!(document("`lab/src/main.rs:12`\n"), []);
}

#[test]
fn what_is_no_path_of_ours_is_left_alone() {
    let text =
        "`text/html` `/dev/null` `GET /a.rs` `a::b` `target/x.rs` `index.html` `x/y` `1/2`\n";
    assert_eq!(document(text), []);
    assert_eq!(document("put it into your `src/main.rs`, and its `Cargo.toml`\n"), []);
    assert_eq!(document("```text\n`lab/gone.rs`\n```\n"), []);
}

#[test]
fn links_lead_somewhere() {
    assert_eq!(document("[a](docs/measurements.md#b) [c](https://example.org/x.md) [d](#e)\n"), []);
    assert_eq!(document("[a](docs/gone.md)\n"), [("doc-path", 1)]);
}

#[test]
fn paths_in_headers_are_relative_to_file_module_package_or_top() {
    let file = |line: &str| {
        let text = format!("{HEAD}//! {line}\n");
        tree_findings(&[
            ("lab/Cargo.toml", ""),
            ("lab/CASES.md", ""),
            ("lab/src/a.rs", &text),
            ("lab/src/b.rs", HEAD),
            ("lab/src/a/c.rs", HEAD),
        ])
    };
    assert_eq!(file("`b.rs`, `c.rs`, `a/c.rs`, `CASES.md`, `lab/src/b.rs`, `a/`."), []);
    assert_eq!(file("`d.rs`."), [("doc-path", 2)]);
}

#[test]
fn the_project_names_nothing_outside_it() {
    let machine = format!("cd {}/raddle\n", concat!("/ro", "ot"));
    assert_eq!(document(&machine), [("outside", 1)]);
    assert_eq!(document("crates/root/x and https://example.org/work/x\n"), []);
    assert_eq!(document(concat!("see ../sha", "red/x\n")), [("outside", 1)]);
    assert_eq!(document(concat!("see design", ".md\n")), [("outside", 1)]);
    assert_eq!(document(concat!("https://index.crates", ".io/\n")), [("outside", 1)]);
}

#[test]
fn the_lock_file_knows_one_registry() {
    let lock = |host: &str| {
        let text = format!("source = \"registry+https://{host}\"\n");
        tree_findings(&[("Cargo.lock", &text)])
    };
    assert_eq!(lock("github.com/rust-lang/crates.io-index"), []);
    assert_eq!(lock("example.org/index"), [("outside", 1)]);
}

#[test]
fn numbers_of_lists_elsewhere_are_refused_in_prose() {
    let number = format!("guards against {}13\n", 'F');
    assert_eq!(document(&number), [("outside", 1)]);
    assert_eq!(document("`F13`, p99, P99, IPv4, F#\n"), []);
    let comment = format!("{HEAD}// promise {}5\nfn f<F1>(_: F1) {{}}\n", 'P');
    assert_eq!(tree_findings(&[("lab/a.rs", &comment)]), [("outside", 2)]);
}

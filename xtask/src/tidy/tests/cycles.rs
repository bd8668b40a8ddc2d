//! Rings of imports inside one crate, and what only looks like one.

use super::tree_findings;

const HEAD: &str = "//! A sample that says what it is for.\n";

/// Findings for a crate of these files, each with a header.
fn findings(files: &[(&str, &str)]) -> Vec<(&'static str, usize)> {
    let files: Vec<(String, String)> = files
        .iter()
        .map(|(path, text)| (format!("crates/x/src/{path}"), format!("{HEAD}{text}")))
        .collect();
    let mut all: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    all.push(("crates/x/Cargo.toml", ""));
    tree_findings(&all)
}

#[test]
fn two_files_that_import_each_other_are_a_ring() {
    let found = findings(&[
        ("lib.rs", "mod a;\nmod b;\n"),
        ("a.rs", "use crate::b::B;\npub struct A(B);\n"),
        ("b.rs", "use crate::a::A;\npub struct B(A);\n"),
    ]);
    assert_eq!(found, [("import-cycle", 2)]);
}

#[test]
fn one_direction_is_none() {
    let found = findings(&[
        ("lib.rs", "mod a;\nmod b;\n"),
        ("a.rs", "use crate::b::B;\npub struct A(B);\n"),
        ("b.rs", "pub struct B;\n"),
    ]);
    assert_eq!(found, []);
}

#[test]
fn a_ring_of_three_is_reported_once() {
    let found = findings(&[
        ("lib.rs", "mod a;\nmod b;\nmod c;\n"),
        ("a.rs", "pub fn a() { crate::b::b() }\n"),
        ("b.rs", "pub fn b() { super::c::c() }\n"),
        ("c.rs", "use super::a;\npub fn c() { a::a() }\n"),
    ]);
    assert_eq!(found, [("import-cycle", 2)]);
}

#[test]
fn rings_that_share_a_file_are_one_finding() {
    let found = findings(&[
        ("lib.rs", "mod a;\nmod b;\nmod c;\n"),
        ("a.rs", "pub fn a() { crate::b::b() }\n"),
        ("b.rs", "pub fn b() { crate::a::a(); crate::c::c() }\n"),
        ("c.rs", "pub fn c() { crate::a::a() }\n"),
    ]);
    assert_eq!(found, [("import-cycle", 2)]);
}

#[test]
fn names_are_followed_through_re_exports_to_their_file() {
    let passed_on = findings(&[
        ("lib.rs", "mod a;\nmod b;\npub use a::A;\npub use b::{B, C as D};\n"),
        ("a.rs", "use crate::D;\npub struct A(D);\n"),
        ("b.rs", "pub struct B;\npub struct C;\n"),
    ]);
    assert_eq!(passed_on, []);
    let ring = findings(&[
        ("lib.rs", "mod a;\nmod b;\npub use a::A;\npub use b::*;\n"),
        ("a.rs", "use crate::B;\npub struct A(B);\n"),
        ("b.rs", "use crate::A;\npub struct B(A);\n"),
    ]);
    assert_eq!(ring, [("import-cycle", 2)]);
}

#[test]
fn a_parent_may_pass_its_child_on_but_not_use_what_uses_it() {
    let child = "use super::Lock;\npub struct Guard(Lock);\n";
    let passed = findings(&[
        ("lib.rs", "mod lock;\n"),
        ("lock.rs", "mod guard;\npub use guard::Guard;\npub struct Lock;\n"),
        ("lock/guard.rs", child),
    ]);
    assert_eq!(passed, []);
    let used = findings(&[
        ("lib.rs", "mod lock;\n"),
        (
            "lock.rs",
            "mod guard;\npub use guard::Guard;\npub struct Lock;\nfn f() -> Guard { g() }\n",
        ),
        ("lock/guard.rs", child),
    ]);
    assert_eq!(used, [("import-cycle", 3)]);
}

#[test]
fn tests_may_import_anything() {
    let found = findings(&[
        ("lib.rs", "mod a;\n"),
        ("a.rs", "#[cfg(test)]\nmod tests;\n#[cfg(test)]\nuse self::tests::T;\npub struct A;\n"),
        ("a/tests.rs", "use super::A;\npub struct T(A);\n"),
    ]);
    assert_eq!(found, []);
}

#[test]
fn paths_in_macros_and_functions_count() {
    let found = findings(&[
        ("lib.rs", "mod a;\nmod b;\n"),
        ("a.rs", "pub fn a() { assert!($crate::b::b()) }\n".replace('$', "").as_str()),
        ("b.rs", "pub fn b() -> bool { use super::a::{a as go}; go(); true }\n"),
    ]);
    assert_eq!(found, [("import-cycle", 2)]);
}

#[test]
fn exported_macros_and_inline_modules_are_no_dependencies_on_the_root() {
    let found = findings(&[
        ("lib.rs", "mod a;\nmod shim { pub mod cell { pub struct C; } }\nfn f() { a::a() }\n"),
        ("a.rs", "pub fn a() { crate::exported!() }\n"),
    ]);
    assert_eq!(found, []);
    let inline = findings(&[
        ("lib.rs", "mod a;\nmod i { pub struct C; }\nfn f() { a::a() }\n"),
        ("a.rs", "pub fn a(c: crate::i::C) {}\n"),
    ]);
    assert_eq!(inline, [("import-cycle", 4)]);
}

//! Lengths, nesting and headers: the shape of a file.

use super::{findings, tree_findings};

fn lines(n: usize) -> String {
    "// x\n".repeat(n)
}

#[test]
fn a_file_has_at_most_500_lines() {
    assert_eq!(findings(&lines(499)), []);
    assert_eq!(findings(&lines(500)), [("file-length", 501)]);
}

#[test]
fn a_function_has_at_most_60_lines() {
    let function = |body: usize| format!("fn f() {{\n{}}}\n", lines(body));
    assert_eq!(findings(&function(58)), []);
    assert_eq!(findings(&function(59)), [("function-length", 2)]);
}

#[test]
fn functions_are_measured_without_their_documentation() {
    let text = format!("{}#[inline]\nfn f() {{\n{}}}\n", "/// d\n".repeat(30), lines(50));
    assert_eq!(findings(&text), []);
}

#[test]
fn functions_inside_macros_are_measured_too() {
    let text = format!("macro_rules! m {{ () => {{\nfn f() {{\n{}}}\n}} }}\n", lines(59));
    assert_eq!(findings(&text), [("function-length", 3)]);
}

#[test]
fn pointers_to_functions_and_declarations_are_no_functions() {
    let text = format!("struct S {{\n    f: fn(u8),\n{}}}\ntrait T {{ fn g(); }}\n", lines(70));
    assert_eq!(findings(&text), []);
}

#[test]
fn a_line_has_at_most_100_columns() {
    let line = |n: usize| format!("// {}\n", "ä".repeat(n));
    assert_eq!(findings(&line(97)), []);
    assert_eq!(findings(&line(98)), [("line-length", 2)]);
    let address = format!("// see https://example.org/{}\n", "a".repeat(100));
    assert_eq!(findings(&address), []);
}

#[test]
fn control_flow_nests_at_most_four_levels() {
    let four = "fn f() { loop { while a() { for _ in b() { if c() { d(); } } } } }\n";
    assert_eq!(findings(four), []);
    let five =
        "fn f() { loop { while a() { for _ in b() { match c() { _ => if d() {\n} } } } } }\n";
    assert_eq!(findings(five), [("nesting", 2)]);
    let else_branch = "fn f() { loop { loop { loop { if a() {} else { if b() {} } } } } }\n";
    assert_eq!(findings(else_branch), [("nesting", 2)]);
}

#[test]
fn else_if_is_one_level_and_nested_functions_start_again() {
    let chain = "fn f() { loop { loop { loop { if a() {} else if b() {} else if c() {} } } } }\n";
    assert_eq!(findings(chain), []);
    let inner = "fn f() { loop { loop { loop { if a() { fn g() { if b() {} } } } } } }\n";
    assert_eq!(findings(inner), []);
    let closure = "fn f() { loop { loop { run(|| async { loop { if a() {} } }) } } }\n";
    assert_eq!(findings(closure), []);
}

#[test]
fn line_one_is_a_header_that_explains() {
    let file = |text: &str| tree_findings(&[("lab/src/a.rs", text)]);
    assert_eq!(file("//! Says what the file is about.\n"), []);
    assert_eq!(file("//! Says what the\n//! file is about.\n//!\n//! More\n"), []);
    assert_eq!(file(""), [("header", 1)]);
    assert_eq!(file("\n//! Says what the file is about.\n"), [("header", 1)]);
    assert_eq!(file("// Says what the file is about.\n"), [("header", 1)]);
    assert_eq!(file("//! Utilities.\n"), [("header", 1)]);
    assert_eq!(file("//! some words which never form any sentence\n"), [("header", 1)]);
}

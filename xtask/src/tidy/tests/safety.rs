//! Every `unsafe` has its argument, where a reader looks for it.

use super::findings;

#[test]
fn a_block_needs_a_note_above_its_statement() {
    assert_eq!(findings("fn f() {\n    // SAFETY: p is ours.\n    unsafe { g() }\n}\n"), []);
    assert_eq!(findings("fn f() {\n    unsafe { g() }\n}\n"), [("safety-note", 3)]);
    assert_eq!(
        findings("fn f() {\n    // p is ours.\n    unsafe { g() }\n}\n"),
        [("safety-note", 4)]
    );
    assert_eq!(findings("fn f() {\n    // SAFETY:\n    unsafe { g() }\n}\n"), [("safety-note", 4)]);
}

#[test]
fn a_note_serves_the_statement_it_stands_above() {
    let good =
        "fn f() {\n// SAFETY: argued,\n// at length.\nlet x =\n  g(1, |p| unsafe { h(p) });\n}\n";
    assert_eq!(findings(good), []);
    let between = "fn f() {\nlet x = g(\n1,\n// SAFETY: argued.\nunsafe { h() },\n);\n}\n";
    assert_eq!(findings(between), []);
    let other = "fn f() {\n// SAFETY: argued.\nlet x = g();\nlet y = unsafe { h() };\n}\n";
    assert_eq!(findings(other), [("safety-note", 5)]);
    let gap = "fn f() {\n// SAFETY: argued.\n\nlet y = unsafe { h() };\n}\n";
    assert_eq!(findings(gap), [("safety-note", 5)]);
}

#[test]
fn match_arms_and_branches_are_places_of_their_own() {
    let arms = "fn f() { match a {\n// SAFETY: argued.\n\
                1 => unsafe { g() },\n2 => unsafe { h() },\n_ => {}\n} }\n";
    assert_eq!(findings(arms), [("safety-note", 5)]);
    let after = "fn f() {\nif a {}\n// SAFETY: argued.\nunsafe { g() }\n}\n";
    assert_eq!(findings(after), []);
    let deref = "fn f() {\nif a {}\n// SAFETY: argued.\n*unsafe { g() } = 1;\n}\n";
    assert_eq!(findings(deref), []);
}

#[test]
fn each_impl_needs_its_own_note() {
    let good = "struct A;\n// SAFETY: no data.\nunsafe impl Send for A {}\n\
                // SAFETY: none.\n#[doc(hidden)]\nunsafe impl Sync for A {}\n";
    assert_eq!(findings(good), []);
    let bad =
        "struct A;\n// SAFETY: no data.\nunsafe impl Send for A {}\nunsafe impl Sync for A {}\n";
    assert_eq!(findings(bad), [("safety-note", 5)]);
}

#[test]
fn blocks_in_macros_count_and_words_in_strings_do_not() {
    let bad = "macro_rules! m { () => { unsafe { g() } } }\n";
    assert_eq!(findings(bad), [("safety-note", 2)]);
    assert_eq!(findings("const A: &str = \"unsafe { g() }\"; // unsafe { g() }\n"), []);
}

#[test]
fn an_unsafe_function_documents_what_the_caller_must_keep() {
    let good =
        "/// Does.\n///\n/// # Safety\n///\n/// `p` is valid.\n#[inline]\npub unsafe fn f() {}\n";
    assert_eq!(findings(good), []);
    assert_eq!(findings("/// Does.\npub unsafe fn f() {}\n"), [("safety-section", 3)]);
    assert_eq!(findings("unsafe extern \"C\" fn f() {}\n"), [("safety-section", 2)]);
    assert_eq!(findings("/// Is.\npub unsafe trait T {}\n"), [("safety-section", 3)]);
    assert_eq!(findings("type F = unsafe fn(u8);\n"), []);
}

#[test]
fn what_a_trait_has_stated_need_not_be_said_again() {
    assert_eq!(findings("impl T for A {\n    unsafe fn f() {}\n}\n"), []);
    assert_eq!(findings("impl A {\n    unsafe fn f() {}\n}\n"), [("safety-section", 3)]);
    assert_eq!(
        findings("impl A<dyn for<'a> F<'a>> {\n    unsafe fn f() {}\n}\n"),
        [("safety-section", 3)]
    );
    let foreign = "unsafe extern \"C\" {\n    unsafe fn f();\n}\n";
    assert_eq!(findings(foreign), []);
}

//! Words and attributes: what may not stand in the source, or only at its address.

use super::{findings, findings_at};

#[test]
fn allow_is_refused_wherever_it_hides() {
    assert_eq!(findings("#[expect(dead_code, reason = \"later\")]\nfn f() {}\n"), []);
    assert_eq!(findings("#[allow(dead_code)]\nfn f() {}\n"), [("allow", 2)]);
    assert_eq!(findings("#![allow(dead_code)]\n"), [("allow", 2)]);
    assert_eq!(findings("#[cfg_attr(test, allow(dead_code))]\nfn f() {}\n"), [("allow", 2)]);
    assert_eq!(findings("macro_rules! m { () => { #[allow(x)] fn f() {} } }\n"), [("allow", 2)]);
    assert_eq!(findings("fn f() { a.allow(1); }\n"), []);
}

#[test]
fn expect_gives_its_reason() {
    assert_eq!(findings("#[expect(dead_code)]\nfn f() {}\n"), [("expect-reason", 2)]);
    assert_eq!(findings("fn f() { a.expect(\"msg\"); }\n"), []);
}

#[test]
fn nothing_is_left_open() {
    assert_eq!(findings("// A todo list is kept elsewhere.\n"), []);
    assert_eq!(findings("const A: &str = \"TODO dbg!(x)\";\n"), []);
    assert_eq!(findings("// TODO: later\n"), [("left-open", 2)]);
    assert_eq!(findings("/// Does.\n/// FIXME\nfn f() {}\n"), [("left-open", 3)]);
    assert_eq!(findings("fn f() { dbg!(1); }\n"), [("left-open", 2)]);
    assert_eq!(findings("fn f() { todo!() }\n"), [("left-open", 2)]);
    assert_eq!(findings("fn f() { a(todo != 1) }\n"), []);
}

#[test]
fn visibility_names_no_path() {
    assert_eq!(findings("pub(crate) fn f() {}\npub fn g() {}\n"), []);
    assert_eq!(findings("pub(in crate::a) fn f() {}\n"), [("pub-in", 2)]);
}

#[test]
fn conditions_other_than_test_have_addresses() {
    let net = "crates/raddle-net/src/a.rs";
    let feature = "#[cfg(feature = \"x\")]\nfn f() {}\n";
    assert_eq!(findings("#[cfg(test)]\nmod tests;\n#[cfg(not(test))]\nfn f() {}\n"), []);
    assert_eq!(findings_at(net, feature), [("cfg", 2)]);
    assert_eq!(findings_at(net, "#[cfg(any(test, unix))]\nfn f() {}\n"), [("cfg", 2)]);
    assert_eq!(findings_at(net, "#[cfg_attr(miri, test)]\nfn f() {}\n"), [("cfg", 2)]);
    assert_eq!(findings_at(net, "fn f() { if cfg!(debug_assertions) {} }\n"), [("cfg", 2)]);
    assert_eq!(findings_at("crates/raddle-base/src/shim/cell.rs", feature), []);
    assert_eq!(findings_at("crates/raddle-base/src/shim.rs", feature), []);
    assert_eq!(findings_at("crates/raddle-base/src/shimmer.rs", feature), [("cfg", 2)]);
    assert_eq!(findings_at("crates/raddle-base/src/hooks.rs", feature), []);
    assert_eq!(findings_at("crates/raddle-base/src/trace/enabled.rs", feature), []);
    assert_eq!(findings_at("crates/raddle-net/src/a/tests.rs", feature), []);
    assert_eq!(findings_at("tests/src/a.rs", feature), []);
}

#[test]
fn the_processor_is_told_apart_in_two_places() {
    let arch = "#[cfg(target_arch = \"x86_64\")]\nfn f() {}\n";
    assert_eq!(findings_at("crates/raddle/src/lib.rs", arch), []);
    assert_eq!(findings_at("crates/raddle-fiber/src/switch.rs", arch), []);
    assert_eq!(findings_at("crates/raddle-sync/src/lib.rs", arch), [("cfg", 2)]);
}

#[test]
fn loom_is_seen_by_the_shim_and_by_tests() {
    let loom = "#[cfg(loom)]\nfn f() {}\n";
    assert_eq!(findings_at("crates/raddle-base/src/shim/cell.rs", loom), []);
    assert_eq!(findings_at("crates/raddle-base/src/deque.rs", loom), [("cfg", 2)]);
    assert_eq!(findings_at("crates/raddle-base/src/hooks.rs", loom), [("cfg", 2)]);
    assert_eq!(findings_at("crates/raddle-sync/src/a/tests/loom.rs", loom), []);
    assert_eq!(findings("#[cfg(all(test, loom))]\nmod models;\n"), []);
    assert_eq!(findings("#[cfg(all(test, not(loom)))]\nmod tests;\n"), []);
}

#[test]
fn the_clock_of_std_is_read_in_base_alone() {
    let std = "use std::time::Instant;\nfn f() { Instant::now(); }\n";
    assert_eq!(findings(std), [("clock", 3)]);
    assert_eq!(findings_at("crates/raddle-base/src/clock.rs", std), []);
    assert_eq!(findings_at("lab/src/a.rs", std), []);
    assert_eq!(findings_at("crates/raddle-net/src/tests/a.rs", std), []);
    assert_eq!(findings("fn f() { std::time::SystemTime::now(); }\n"), [("clock", 2)]);
    assert_eq!(findings("use std::time;\nfn f() { time::Instant::now(); }\n"), [("clock", 3)]);
    assert_eq!(
        findings("use std::time::{self, Duration};\nfn f() { time::Instant::now(); }\n"),
        [("clock", 3)]
    );
    assert_eq!(findings("use a::*;\nfn f() { Instant::now(); }\n"), [("clock", 3)]);
}

#[test]
fn the_clock_of_base_is_free() {
    assert_eq!(findings("use raddle_base::clock::Instant;\nfn f() { Instant::now(); }\n"), []);
    assert_eq!(findings("use raddle_base::clock;\nfn f() { clock::Instant::now(); }\n"), []);
    assert_eq!(findings("fn f() { raddle_base::clock::Instant::now(); }\n"), []);
    assert_eq!(findings("use std::time::Instant;\nfn f(at: Instant) {}\n"), []);
    assert_eq!(findings("/// `std::time::Instant::now()` is not used.\nfn f() {}\n"), []);
}

#[test]
fn randomness_comes_from_base() {
    assert_eq!(findings("fn f() { getrandom(1); }\n"), [("clock", 2)]);
    assert_eq!(findings("use std::hash::RandomState;\n"), [("clock", 2)]);
    assert_eq!(findings("fn f() { rand::random(); }\n"), [("clock", 2)]);
    assert_eq!(findings("const A: &str = \"/dev/urandom\";\n"), [("clock", 2)]);
    assert_eq!(findings("fn f(rand: u8) { raddle_base::random::seed(); }\n"), []);
}

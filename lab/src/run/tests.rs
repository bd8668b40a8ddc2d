//! Patterns, shuffles, and rows made from samples.

use super::*;

#[test]
fn patterns() {
    for (pattern, name, expected) in [
        ("*", "echo_64", true),
        ("echo_*", "echo_64", true),
        ("echo_*", "http_hello", false),
        ("*_?", "echo_1", true),
        ("*_?", "echo_64", false),
        ("yield_many", "yield_many", true),
        ("yield", "yield_many", false),
        ("", "x", false),
    ] {
        assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
    }
}

#[test]
fn a_shuffle_keeps_everyone() {
    let mut random = Random::new(1);
    let mut order = shuffled(9, &mut random);
    assert_ne!(order, (0..9).collect::<Vec<_>>());
    order.sort_unstable();
    assert_eq!(order, (0..9).collect::<Vec<_>>());
}

fn sampled(value: f64, verdict: Result<(), &str>) -> Sample {
    let outcome = crate::outcome::Outcome { value, n: 3, ..Default::default() }.with("p99", value);
    Sample::new("echo_1", "std", "ns", verdict.map(|()| outcome).map_err(str::to_owned))
}

#[test]
fn a_row_is_the_median_and_the_first_mismatch() {
    let good = row(&[sampled(3.0, Ok(())), sampled(1.0, Ok(())), sampled(2.0, Ok(()))]);
    assert_eq!((good.median, good.min, good.max, good.samples), (2.0, 1.0, 3.0, 3));
    assert_eq!((good.check.as_str(), good.figures["p99"]), ("ok", 2.0));
    let bad = row(&[sampled(3.0, Ok(())), sampled(0.0, Err("lost one"))]);
    assert_eq!(bad.check, "lost one");
}

#[test]
fn every_case_has_takers() {
    for case in CASES {
        assert!(!takers(case).is_empty(), "{}", case.name);
    }
}

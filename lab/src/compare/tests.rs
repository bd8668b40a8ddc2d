//! Comparisons of made-up contenders: order, ratio, stopping, JSON.

use super::*;
use crate::outcome::Outcome;

fn request(stop: Stop) -> Request {
    Request {
        case: "yield_many".to_owned(),
        a: "smol".to_owned(),
        b: "tokio-current".to_owned(),
        b_case: None,
        figure: None,
        higher: false,
        stop,
        seed: 7,
        resamples: 1_000,
        smoke: false,
        json: None,
    }
}

fn sampled(case: &str, name: &str, value: f64) -> Sample {
    let outcome = Outcome { value, n: 1, ..Outcome::default() }.with("requests_per_s", value);
    Sample::new(case, name, "ns", Ok(outcome))
}

/// Smol takes 20 to 20.4, tokio 40 to 40.8.
fn steady(calls: &mut Vec<String>) -> impl FnMut(&str, &str) -> Sample {
    move |case, name| {
        calls.push(name.to_owned());
        let base = if name == "smol" { 20.0 } else { 40.0 };
        sampled(case, name, base * (1.0 + (calls.len() % 3) as f64 / 100.0))
    }
}

#[test]
fn blocks_are_balanced_and_both_kinds_occur() {
    let mut calls = Vec::new();
    let found = compare(&request(Stop::Pairs(20)), &mut steady(&mut calls)).unwrap();
    assert_eq!((found.pairs, calls.len()), (20, 40));
    let blocks: Vec<String> = calls
        .chunks(4)
        .map(|block| block.iter().map(|name| &name[..1]).collect::<String>())
        .collect();
    assert!(blocks.iter().all(|block| block == "stts" || block == "tsst"), "{blocks:?}");
    assert!(blocks.contains(&"stts".to_owned()) && blocks.contains(&"tsst".to_owned()));
}

/// Two pairs would give an interval of no width.
#[test]
fn few_pairs_are_made_enough_for_an_interval() {
    let made = |pairs| compare(&request(Stop::Pairs(pairs)), &mut steady(&mut Vec::new())).unwrap();
    for pairs in [1, 2, 5] {
        let found = made(pairs);
        assert_eq!(found.pairs, LEAST);
        assert!(found.ci_low < found.ci_high, "{found:?}");
    }
    assert_eq!(made(7).pairs, 8);
    let smoke = Request { smoke: true, ..request(Stop::Pairs(2)) };
    assert_eq!(compare(&smoke, &mut steady(&mut Vec::new())).unwrap().pairs, 2);
}

#[test]
fn the_ratio_is_a_to_b_and_higher_inverts_it() {
    let mut calls = Vec::new();
    let found = compare(&request(Stop::Pairs(30)), &mut steady(&mut calls)).unwrap();
    assert!((found.ratio - 0.5).abs() < 0.01, "{found:?}");
    assert!(found.ci_low <= found.ratio && found.ratio <= found.ci_high);
    let mut asked = request(Stop::Pairs(30));
    (asked.higher, asked.figure) = (true, Some("requests_per_s".to_owned()));
    let found = compare(&asked, &mut steady(&mut Vec::new())).unwrap();
    assert!((found.ratio - 2.0).abs() < 0.05, "{found:?}");
}

#[test]
fn until_stops_at_the_first_look_that_decides() {
    for (limit, side) in [(0.6, "below"), (0.4, "above")] {
        let found = compare(&request(Stop::Until(limit)), &mut steady(&mut Vec::new())).unwrap();
        assert_eq!((found.pairs, found.side), (LOOK, Some(side)));
    }
}

#[test]
fn until_gives_up_after_the_most_pairs() {
    let mut turn = 0u32;
    let mut noisy = |case: &str, name: &str| {
        turn += 1;
        let wave = if (turn / 2).is_multiple_of(2) { 3.0 } else { 1.0 };
        sampled(case, name, if name == "smol" { wave } else { 2.0 - wave / 3.0 })
    };
    let mut asked = request(Stop::Until(1.0));
    // A limit that the estimate sits on can never be decided.
    let settled = compare(&request(Stop::Pairs(MOST)), &mut noisy).unwrap().ratio;
    asked.stop = Stop::Until(settled);
    let found = compare(&asked, &mut noisy).unwrap();
    assert_eq!((found.pairs, found.side), (MOST, Some("undecided")));
}

#[test]
fn mismatches_zeroes_and_unknown_names_are_errors() {
    let mut bad = |case: &str, name: &str| Sample::new(case, name, "ns", Err("lost one".into()));
    let error = compare(&request(Stop::Pairs(2)), &mut bad).unwrap_err();
    assert!(error.contains("lost one"), "{error}");
    let mut zero = |case: &str, name: &str| sampled(case, name, 0.0);
    assert!(compare(&request(Stop::Pairs(2)), &mut zero).unwrap_err().contains("no ratio"));
    let mut asked = request(Stop::Pairs(2));
    asked.a = "nobody".to_owned();
    assert!(compare(&asked, &mut zero).unwrap_err().contains("no contender nobody"));
    let mut asked = request(Stop::Pairs(2));
    asked.b = "raw-epoll".to_owned();
    assert!(compare(&asked, &mut zero).unwrap_err().contains("takes no part"));
    let mut asked = request(Stop::Pairs(2));
    asked.figure = Some("nothing".to_owned());
    assert!(compare(&asked, &mut steady(&mut Vec::new())).unwrap_err().contains("requests_per_s"));
}

#[test]
fn b_may_run_another_case() {
    let asked = Request {
        b: "smol".to_owned(),
        b_case: Some("yield_in_hot_loop".to_owned()),
        ..request(Stop::Pairs(10))
    };
    let mut sampler = |case: &str, name: &str| {
        sampled(case, name, if case == "yield_many" { 30.0 } else { 10.0 })
    };
    let found = compare(&asked, &mut sampler).unwrap();
    assert!((found.ratio - 3.0).abs() < 0.01, "{found:?}");
    let asked = Request { b_case: Some("no_such_case".to_owned()), ..asked };
    assert!(compare(&asked, &mut sampler).is_err());
}

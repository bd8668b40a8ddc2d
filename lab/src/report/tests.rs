//! Tables and pages from made-up results.

use super::*;

fn row(contender: &str, median: f64, check: &str) -> Row {
    Row {
        contender: contender.to_owned(),
        median,
        min: median * 0.9,
        max: median * 1.2,
        samples: 5,
        check: check.to_owned(),
        figures: Default::default(),
    }
}

fn results() -> Results {
    let machine = Machine {
        cpu: "a <fast> CPU".to_owned(),
        cores: 2,
        kernel: "6.18".to_owned(),
        rustc: "rustc 1.95.0".to_owned(),
        commit: "0123456789ab".to_owned(),
        load: "0.00 0.00 0.00".to_owned(),
    };
    let rows = vec![row("tokio-current", 40.0, "ok"), row("raddle", 8.0, "ok")];
    let ok = Section {
        case: "yield_many".to_owned(),
        unit: "ns".to_owned(),
        about: "yields".to_owned(),
        rows,
    };
    let rows = vec![row("may", 0.0, "spawn: got 1, expected 2")];
    let failed = Section { case: "spawn_batch".to_owned(), rows, ..ok.clone() };
    Results { machine, smoke: false, sections: vec![ok, failed] }
}

#[test]
fn the_table_relates_everyone_to_raddle_and_shows_failures() {
    let text = table(&results());
    assert!(text.contains("5.000 × raddle"), "{text}");
    assert!(text.contains("FAILED: spawn: got 1, expected 2"), "{text}");
    assert_eq!(results().failures(), 1);
}

#[test]
fn the_page_is_self_contained_and_escaped() {
    let page = page(&results()).unwrap();
    assert!(page.contains("<svg"), "plots are inline");
    assert!(page.contains("a &lt;fast&gt; CPU"), "text is escaped");
    assert!(page.contains("0123456789ab") && page.contains("6.18"));
    for outside in ["src=", "href=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside} would load something");
    }
}

#[test]
fn numbers_are_short() {
    for (value, text) in
        [(0.0, "0.00"), (7.126, "7.13"), (42.34, "42.3"), (640.2, "640"), (12_345.0, "12.3k")]
    {
        assert_eq!(number(value), text);
    }
    assert_eq!(number(64_123_456.0), "64.12M");
}

//! The command line from outside: what is printed where, and the shape of the JSON.

use serde_json::{Map, Value};
use std::process::{Command, Output};

fn lab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_raddle-lab")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn only_object(output: &Output) -> Map<String, Value> {
    let text = text(&output.stdout);
    assert_eq!(text.lines().count(), 1, "one line and nothing else: {text}");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn one_prints_a_line_with_the_agreed_keys() {
    let output = lab(&["one", "yield_many", "tokio-current", "--smoke"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let sample = only_object(&output);
    let mut keys: Vec<&str> = sample.keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["case", "check", "contender", "figures", "n", "unit", "value"]);
    assert_eq!(sample["case"], "yield_many");
    assert_eq!(sample["contender"], "tokio-current");
    assert_eq!((&sample["unit"], &sample["check"]), (&Value::from("ns"), &Value::from("ok")));
    assert_eq!(sample["n"], 50, "10 tasks of 5 yields");
    assert!(sample["value"].as_f64().unwrap() > 0.0);
    assert!(sample["figures"]["rounds"].is_number());
}

/// As `raddle-lab list | head` does once it has seen enough.
#[test]
fn a_list_nobody_reads_to_its_end_is_no_failure() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let lab = Command::new(env!("CARGO_BIN_EXE_raddle-lab")).arg("list").stdout(writer).output();
    let output = lab.unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn one_serves_a_load_and_counts_it() {
    let output = lab(&["one", "echo_64", "raw-epoll", "--smoke"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let sample = only_object(&output);
    for figure in ["requests_per_s", "p50", "p99"] {
        assert!(sample["figures"][figure].as_f64().unwrap() > 0.0, "{figure}");
    }
}

#[test]
fn one_asks_the_probe_for_memory() {
    let output = lab(&["one", "mem_task", "tokio-current", "--smoke"]);
    assert!(output.status.success(), "{}", text(&output.stdout));
    let sample = only_object(&output);
    assert_eq!(sample["unit"], "bytes");
    assert!(sample["figures"]["allocations"].as_f64().unwrap() >= 1.0);
    assert!(sample["value"].as_f64().unwrap() >= 32.0, "a future of 32 bytes is in it");
}

#[test]
fn timer_lateness_has_its_figures() {
    let output = lab(&["one", "timer_lateness", "smol", "--smoke"]);
    let sample = only_object(&output);
    for length in ["100us", "1ms", "10ms"] {
        for figure in ["p50", "p90", "p99", "max", "n"] {
            let name = format!("late_{length}_{figure}");
            assert!(sample["figures"][&name].is_number(), "{name}");
        }
    }
}

#[test]
fn service_has_its_figures() {
    for contender in ["raddle", "tokio-current"] {
        let output = lab(&["one", "service", contender, "--smoke"]);
        let sample = only_object(&output);
        assert_eq!(sample["check"], "ok", "{contender}: {}", text(&output.stderr));
        for kind in ["io", "remote", "timer"] {
            for figure in ["p50", "p99", "max", "n"] {
                let name = format!("{kind}_{figure}");
                assert!(sample["figures"][&name].is_number(), "{contender} {name}");
            }
        }
        assert_eq!(sample["figures"]["io_p99"], sample["value"]);
        assert_eq!((&sample["n"], &sample["figures"]["timer_n"]), (&3.into(), &3.0.into()));
    }
}

#[test]
fn unknown_names_are_misuse() {
    for arguments in [
        ["one", "no_such_case", "smol"],
        ["one", "yield_many", "nobody"],
        ["one", "yield_many", "raw-epoll"],
    ] {
        let output = lab(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    }
}

#[test]
fn compare_prints_the_object_and_nothing_else() {
    let arguments = ["compare", "yield_many", "smol", "tokio-current", "--smoke"];
    let output = lab(&[&arguments[..], &["--pairs", "3", "--json", "-"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let found = only_object(&output);
    assert_eq!((&found["a"], &found["b"]), (&Value::from("smol"), &Value::from("tokio-current")));
    assert_eq!((&found["case"], &found["pairs"]), (&Value::from("yield_many"), &Value::from(4)));
    let number = |key: &str| found[key].as_f64().unwrap();
    assert!(number("ci_low") <= number("ratio") && number("ratio") <= number("ci_high"));
}

#[test]
fn compare_until_prints_every_look_to_standard_error() {
    let arguments = ["compare", "yield_many", "std", "tokio-current", "--smoke", "--json", "-"];
    let output = lab(&[&arguments[..], &["--until", "0.001"]].concat());
    let found = only_object(&output);
    assert_eq!((&found["side"], &found["pairs"]), (&Value::from("above"), &Value::from(30)));
    assert!(text(&output.stderr).contains("look at 30 pairs"));
}

#[test]
fn run_writes_a_table_json_and_a_page() {
    let folder = std::env::temp_dir().join(format!("raddle-lab-cli-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (json, html) = (folder.join("run.json"), folder.join("run.html"));
    let output = lab(&[
        "run",
        "--smoke",
        "--case",
        "spawn_b*",
        "--json",
        json.to_str().unwrap(),
        "--html",
        html.to_str().unwrap(),
    ]);
    assert!(output.status.success(), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("tokio-current"));
    let results: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    assert_eq!(results["sections"][0]["case"], "spawn_batch");
    assert!(results["machine"]["kernel"].is_string());
    assert!(std::fs::read_to_string(&html).unwrap().contains("<svg"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn list_names_everything() {
    let text = text(&lab(&["list"]).stdout);
    for name in ["yield_many", "mem_connection", "tokio-current", "raw-epoll"] {
        assert!(text.contains(name), "{name}");
    }
}

#[test]
fn no_wait_of_raddle_allocates() {
    let probe = Command::new(env!("CARGO_BIN_EXE_alloc_probe")).arg("--raddle").output().unwrap();
    assert!(probe.status.success(), "{}{}", text(&probe.stdout), text(&probe.stderr));
    assert!(text(&probe.stdout).contains("| RwLock::write | 0 | 0 | yes |"));
}

//! Defaults as documented, and misuse refused by the parser.

use super::*;
use clap::Parser;

#[derive(Parser, Debug)]
struct Line {
    #[command(flatten)]
    options: Options,
}

fn parse(arguments: &[&str]) -> Result<Options, clap::Error> {
    Line::try_parse_from(std::iter::once(&"serve").chain(arguments)).map(|line| line.options)
}

#[test]
fn defaults_are_the_documented_ones() {
    let options = parse(&[]).expect("nothing is required");
    assert_eq!(options.dir, PathBuf::from("."));
    assert_eq!(options.addr.to_string(), "127.0.0.1:8080");
    assert_eq!((options.workers, options.io), (None, None));
    assert!(!options.quiet && !options.hidden);
    assert_eq!(options.limits.header, Duration::from_secs(10));
    assert_eq!(options.limits.idle, Duration::from_secs(60));
    assert_eq!(options.limits.drain, Duration::from_secs(3));
    assert_eq!(options.limits.connections, 1024);
}

#[test]
fn all_options_together() {
    let options =
        parse(&["--addr=[::1]:0", "--workers=2", "--io=epoll", "--quiet", "--hidden", "some/dir"])
            .expect("all legal");
    assert_eq!(options.dir, PathBuf::from("some/dir"));
    assert_eq!(options.addr.resolve().expect("numeric"), ["[::1]:0".parse().expect("legal")]);
    assert_eq!(options.workers, Some(2));
    assert_eq!(options.io, Some(Way::Epoll));
    assert!(options.quiet && options.hidden);
    let long = parse(&["--io", "io_uring"]).expect("the long name");
    assert_eq!(long.io, Some(Way::Uring));
}

#[test]
fn misuse_is_refused() {
    for line in [
        &["--workers", "0"][..],
        &["--workers", "many"],
        &["--io", "kqueue"],
        &["--addr", "127.0.0.1"],
        &["--addr", "127.0.0.1:65536"],
        &["--addr", ":80"],
        &["--addr", "::1:80:x"],
        &["--addr", "a b:80"],
        &["--addr", "http://x:80"],
        &["--bogus"],
        &["one", "two"],
        &["--max-connections", "0"],
    ] {
        let error = parse(line).expect_err("misuse");
        assert_eq!(error.exit_code(), 2, "{line:?}");
    }
}

#[test]
fn names_are_addresses_too() {
    for text in ["localhost:8080", "files.example-1.org:0", "127.0.0.1:1", "[::]:80"] {
        assert_eq!(text.parse::<Address>().expect("legal").to_string(), text);
    }
}

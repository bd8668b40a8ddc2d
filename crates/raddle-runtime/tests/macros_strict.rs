//! The macros in a crate that forbids `unsafe` and denies every warning.

#![forbid(unsafe_code)]
#![deny(warnings, unused, clippy::all)]

use std::future::{pending, ready};

use raddle_runtime::park::ThreadDrivers;
use raddle_runtime::{Config, Runtime, join, select, try_join};

#[test]
fn they_expand_without_a_warning() {
    let config = Config { workers: 1, ..Config::default() };
    Runtime::new(config, Box::new(ThreadDrivers)).unwrap().run(async {
        let both = join!(ready(1), async { "two" });
        assert_eq!(both, (1, "two"));
        let sum: Result<(u8, u8), ()> = try_join!(ready(Ok(1)), ready(Ok(2)));
        assert_eq!(sum, Ok((1, 2)));
        let chosen = select! {
            biased;
            Some(mut n) = ready(Some(1)), if both.0 == 1 => { n += 1; n }
            m = pending::<i32>() => m,
            else => 0,
        };
        assert_eq!(chosen, 2);
        select! {
            () = ready(()) => {}
            _ = pending::<()>() => {}
        }
    });
}

//! The first program of the README.

use std::time::Duration;

use raddle::time::{sleep, timeout};

#[raddle::main]
async fn main() {
    // Runs by itself; the handle gives its output.
    let answer = raddle::spawn(async {
        sleep(Duration::from_millis(10)).await;
        6 * 7
    });
    assert_eq!(answer.await.expect("neither panicked nor aborted"), 42);

    // A limit for something that never ends.
    let never = std::future::pending::<()>();
    assert!(timeout(Duration::from_millis(10), never).await.is_err());

    // Code that blocks, on a thread that may.
    let size = raddle::spawn_blocking(|| std::fs::metadata("/proc/self/exe").map(|m| m.len()));
    assert!(size.await.expect("the job ran").expect("the file is there") > 0);
}

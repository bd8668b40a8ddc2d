//! A child that is forked before any runtime may make one of its own.
//!
//! One test only, because a fork copies whatever else the process is doing.

use raddle::Builder;
use raddle_tests::forked;

#[test]
fn a_forked_runtime_works_in_the_child_that_made_it() {
    let status = forked(|| {
        let runtime = Builder::new().workers(1).build().unwrap();
        let fine = runtime.run(async { raddle::spawn(async { 1 }).await.unwrap() }) == 1;
        i32::from(!fine)
    });
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "{status:#x}");
}

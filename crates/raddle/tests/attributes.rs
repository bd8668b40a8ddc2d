//! `#[raddle::main]`, `#[raddle::test]` and the macros, by the names that users write.

use std::cell::Cell;
use std::time::Duration;

use raddle::time::sleep;

mod program {
    #[raddle::main(workers = 2)]
    pub(crate) async fn main() -> Result<u32, std::num::ParseIntError> {
        let parsed = raddle::spawn(async { "17".parse::<u32>() });
        let number = parsed.await.expect("neither panics nor is aborted")?;
        Ok(number + 1)
    }
}

mod elsewhere {
    pub(crate) use raddle as face;

    #[face::main(crate = crate::elsewhere::face, workers = 1)]
    pub(crate) async fn on_this_thread() -> std::thread::ThreadId {
        std::thread::current().id()
    }
}

#[test]
fn main_gives_the_output_of_the_function() {
    assert_eq!(program::main(), Ok(18));
    assert_eq!(elsewhere::on_this_thread(), std::thread::current().id());
}

#[raddle::test]
async fn a_test_runs_on_a_runtime() -> Result<(), std::num::ParseIntError> {
    // Neither `Send` nor `'static` is asked for.
    let here = Cell::new("1".parse::<u32>()?);
    raddle::task::yield_now().await;
    here.set(here.get() + 1);
    assert_eq!(here.get(), 2);
    Ok(())
}

#[raddle::test(workers = 2, timeout = 60)]
async fn a_test_with_workers_and_a_limit() {
    let (one, two) = raddle::join!(raddle::spawn(async { 1 }), raddle::spawn(async { 2 }));
    assert_eq!(one.unwrap() + two.unwrap(), 3);
    let first = raddle::select! {
        () = sleep(Duration::from_secs(3600)) => "late",
        () = sleep(Duration::from_micros(200)) => "early",
    };
    assert_eq!(first, "early");
    let both: Result<_, ()> = raddle::try_join!(async { Ok(1) }, async { Ok("two") });
    assert_eq!(both, Ok((1, "two")));
}

#[raddle::test(timeout = 1)]
#[should_panic(expected = "still waits after 1s")]
async fn a_test_that_waits_for_ever_ends_with_its_limit() {
    std::future::pending::<()>().await;
}

#[raddle::test]
#[should_panic(expected = "on purpose")]
async fn a_panic_fails_the_test() {
    panic!("on purpose");
}

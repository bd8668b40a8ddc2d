//! A runtime that ends within its limit, whatever its tasks do, and says what it left.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

static STOP: AtomicBool = AtomicBool::new(false);

fn main() -> std::io::Result<()> {
    let runtime = raddle::Runtime::builder().workers(1).build()?;
    let (begun, wait) = mpsc::channel();
    runtime.spawn(std::future::pending::<()>()).detach();
    let stuck = raddle::task::Builder::new().name("spinner");
    let _entered = runtime.handle().enter();
    stuck
        .spawn(async move {
            begun.send(()).expect("the main thread waits");
            while !STOP.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        })
        .detach();
    wait.recv().expect("the spinner runs");
    drop(_entered);

    let report = runtime.shutdown_timeout(Duration::from_secs(2));
    assert_eq!(report.tasks.len(), 1, "the sleeper was dropped, the spinner cannot be");
    assert_eq!(report.tasks[0].name.as_deref(), Some("spinner"));
    STOP.store(true, Ordering::Relaxed);
    println!("left behind: spinner");
    Ok(())
}

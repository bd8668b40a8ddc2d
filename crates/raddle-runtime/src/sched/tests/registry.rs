//! Every runtime is found while it exists, and with it its tasks.

use super::*;
use crate::Handle;
use crate::park::ThreadDrivers;
use crate::{Config, Runtime};

/// The runtimes with a live task of this name.
fn with_task(name: &str) -> usize {
    let has = |shared: &Arc<Shared>| {
        let tasks = shared.live.snapshot();
        tasks.iter().any(|task| task.raw().header().name.as_deref().is_some_and(|n| &**n == name))
    };
    all().iter().filter(|shared| has(shared)).count()
}

#[test]
fn live_tasks_are_found_from_one_root() {
    let names = ["registry-1", "registry-2"];
    let runtimes = names.map(|name| {
        let config = Config { workers: 1, ..Config::default() };
        let runtime = Runtime::new(config, Box::new(ThreadDrivers)).unwrap();
        let entered = Handle::enter(runtime.handle());
        crate::Builder::new().name(name).spawn(std::future::pending::<()>()).detach();
        drop(entered);
        runtime
    });
    assert_eq!(names.map(with_task), [1, 1]);
    drop(runtimes);
    assert_eq!(names.map(with_task), [0, 0]);
}

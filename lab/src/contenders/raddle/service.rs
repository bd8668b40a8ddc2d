//! raddle as the service cases use it: a runtime beside the calling thread, and an eventfd on its
//! driver.

use super::tasks::{LOCALLY, Raddle};
use crate::hosted::{Service, take_count};
use crate::outcome::Figures;
use raddle::{Io, Runtime};
use raddle_driver::{Direction, Source, SourceKind};
use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

impl<const WORKERS: usize, const ON_EPOLL: bool> Service for Raddle<WORKERS, ON_EPOLL> {
    const WORKERS: usize = WORKERS;
    type Host = Runtime;
    type Source = Source;

    fn host() -> Runtime {
        const { assert!(WORKERS != LOCALLY, "a local runtime has its own thread") };
        let io = if ON_EPOLL { Io::Epoll } else { Io::Auto };
        let built = Runtime::builder().workers(WORKERS).io(io).build();
        let runtime = built.expect("raddle starts");
        // The first use starts the thread of worker 0, now and here.
        runtime.spawn(async {}).detach();
        runtime
    }

    fn submit<F>(host: &Runtime, task: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        host.spawn(task).detach();
    }

    fn adopt(event: OwnedFd) -> io::Result<Source> {
        Ok(Source::from_fd(event, SourceKind::Other)?)
    }

    fn take(source: &Source) -> impl Future<Output = io::Result<u64>> + Send {
        source.io(Direction::Read, take_count)
    }

    fn counters(host: &Runtime) -> Figures {
        let workers = host.metrics().workers;
        let sum = |count: fn(&raddle::runtime::WorkerMetrics) -> u64| {
            workers.iter().map(count).sum::<u64>() as f64
        };
        let figures = [
            ("dispatches", sum(|worker| worker.dispatches)),
            ("looks", sum(|worker| worker.looks)),
            ("clock_reads", sum(|worker| worker.clock_reads)),
            ("served", sum(|worker| worker.served)),
            ("parks", sum(|worker| worker.parks)),
            ("steals", sum(|worker| worker.steals)),
        ];
        figures.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
    }

    fn stop(host: Runtime) -> Result<(), String> {
        let report = host.shutdown_timeout(Duration::from_secs(2));
        if report.is_clean() { Ok(()) } else { Err(format!("the shutdown left {report:?}")) }
    }
}

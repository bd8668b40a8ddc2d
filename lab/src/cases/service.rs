//! The service cases: how long does an event wait while the workers have something else to do?
//!
//! A trial is a fresh runtime, a task that waits for an eventfd, one that waits to be called by
//! another thread, and a backlog that keeps the workers busy. A thread beside the runtime
//! triggers both and stamps the clock; the tasks stamp it again as the first thing in the poll that
//! finds the event. The task that was called sleeps for 10 ms, and stamps the end of that. Figures
//! in µs: p50, p99 and max of `io_`, `remote_` and `timer_`; the value is `io_p99`.
//!
//! One loop (`trial`) serves all cases: a [`Shape`] says what keeps the workers busy and how many
//! events there are. A contender offers [`Service`].

mod board;
mod parts;
mod shape;
mod summary;
mod trial;
mod window;

use crate::hosted::Service;
use crate::outcome::Verdict;
use crate::plan::Plan;
use shape::{Backlog, Shape};
use std::time::Duration;

#[cfg(test)]
mod tests;

const fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

/// One event a trial, beside tasks that yield.
fn yielders(plan: Plan, tasks: usize, body: Duration) -> Shape {
    let (trials, length) = plan.size((200, us(20_000)), (3, us(5_000)));
    Shape { trials, backlog: Backlog::Yielders(tasks, body), events: 1, length }
}

/// An event every millisecond, while workers are inside a loop of 500 ms.
fn stuck(plan: Plan, but: usize) -> Shape {
    let (trials, length, events) = plan.size((4, us(500_000), 480), (1, us(40_000), 20));
    Shape { trials, backlog: Backlog::Stuck { but }, events, length }
}

/// `service`
pub(crate) fn service<S: Service>(plan: Plan) -> Verdict {
    trial::all::<S>(yielders(plan, 1, Duration::ZERO))
}

/// `service_idle`
pub(crate) fn idle<S: Service>(plan: Plan) -> Verdict {
    trial::all::<S>(Shape { events: 0, ..yielders(plan, 1, Duration::ZERO) })
}

/// `service_multi`
pub(crate) fn multi<S: Service>(plan: Plan) -> Verdict {
    trial::all::<S>(yielders(plan, 64, Duration::ZERO))
}

/// `service_body_1us`
pub(crate) fn body_1us<S: Service>(plan: Plan) -> Verdict {
    trial::all::<S>(yielders(plan, 1, us(1)))
}

/// `service_body_10us`
pub(crate) fn body_10us<S: Service>(plan: Plan) -> Verdict {
    trial::all::<S>(yielders(plan, 1, us(10)))
}

/// `service_body_100us`
pub(crate) fn body_100us<S: Service>(plan: Plan) -> Verdict {
    trial::all::<S>(yielders(plan, 1, us(100)))
}

/// `service_64_body_100us`
pub(crate) fn many_100us<S: Service>(plan: Plan) -> Verdict {
    trial::all::<S>(yielders(plan, 64, us(100)))
}

/// `busy_sibling`
pub(crate) fn busy_sibling<S: Service>(plan: Plan) -> Verdict {
    trial::all::<S>(yielders(plan, 1, us(1_000)))
}

/// `stuck_worker`
pub(crate) fn stuck_worker<S: Service>(plan: Plan) -> Verdict {
    trial::all::<S>(stuck(plan, 0))
}

/// `stuck_worker_but_one`
pub(crate) fn stuck_but_one<S: Service>(plan: Plan) -> Verdict {
    trial::all::<S>(stuck(plan, 1))
}

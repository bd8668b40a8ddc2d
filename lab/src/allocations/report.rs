//! What the tables of `alloc_probe` are made with: the probe that polls and counts, and the report.

use crate::counting::count;
use crate::hand::Hand;
use std::future::Future;
use std::pin::pin;

/// How often each operation is repeated; all of them are counted.
const TIMES: u64 = 100;

/// Polls and counts.
pub(super) struct Probe {
    hand: Hand,
    calls: u64,
}

impl Probe {
    /// Does something whose allocations count.
    pub(super) fn during<T>(&mut self, act: impl FnOnce(&Hand) -> T) -> T {
        let before = count().calls;
        let out = act(&self.hand);
        self.calls += count().calls - before;
        out
    }

    /// Does something whose allocations do not count: polls what is to be held meanwhile.
    pub(super) fn get<F: Future>(&self, future: F) -> F::Output {
        self.hand.ready(future)
    }

    /// A wait that is ready at once, from its making to the drop of what it gave.
    pub(super) fn ready<F: Future>(&mut self, make: impl FnOnce() -> F) {
        self.during(|hand| drop(hand.ready(make())));
    }

    /// A wait that waits until it is released, from its making to the drop of what it gave.
    pub(super) fn suspended<F: Future>(
        &mut self,
        make: impl FnOnce() -> F,
        release: impl FnOnce(),
    ) {
        self.during(|hand| {
            let mut wait = pin!(make());
            hand.park(wait.as_mut());
            release();
            drop(hand.finish(wait));
        });
    }
}

/// The tables, and whether all is as documented.
#[derive(Default)]
pub(super) struct Report {
    pub(super) text: String,
    pub(super) wrong: usize,
}

impl Report {
    /// A wait, ready and suspended: neither allocates.
    pub(super) fn wait(
        &mut self,
        what: &str,
        ready: impl FnMut(&mut Probe),
        suspended: impl FnMut(&mut Probe),
    ) {
        let (ready, suspended) = (repeated(ready), repeated(suspended));
        let met = self.judge(ready == 0.0 && suspended == 0.0);
        self.text += &format!("| {what} | {ready} | {suspended} | {met} |\n");
    }

    /// A wait that is never ready at once.
    pub(super) fn only_suspended(&mut self, what: &str, suspended: impl FnMut(&mut Probe)) {
        let suspended = repeated(suspended);
        let met = self.judge(suspended == 0.0);
        self.text += &format!("| {what} | | {suspended} | {met} |\n");
    }

    /// An operation that allocates as often as its documentation says.
    pub(super) fn exactly(&mut self, what: &str, documented: f64, act: impl FnMut(&mut Probe)) {
        let found = repeated(act);
        let met = self.judge(found == documented);
        self.text += &format!("| {what} | {found} | {documented} | {met} |\n");
    }

    pub(super) fn judge(&mut self, met: bool) -> &'static str {
        self.wrong += usize::from(!met);
        if met { "yes" } else { "**no**" }
    }

    pub(super) fn table(&mut self, head: &str) {
        let columns = head.matches('|').count() - 1;
        self.text += &format!("\n{head}\n|{}\n", "---|".repeat(columns));
    }
}

/// Allocations an operation, over all repetitions, the first among them.
fn repeated(mut act: impl FnMut(&mut Probe)) -> f64 {
    let mut probe = Probe { hand: Hand::new(0), calls: 0 };
    for _ in 0..TIMES {
        act(&mut probe);
    }
    probe.calls as f64 / TIMES as f64
}

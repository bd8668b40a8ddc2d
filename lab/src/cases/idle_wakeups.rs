//! `idle_wakeups`: how often does an idle runtime wake up?
//!
//! The body does something of everything (spawns, joins, yields, a short sleep), arms a sleep of an
//! hour, then waits for what never comes. After 1 s of settling the voluntary context switches of
//! all threads but the observer's are counted over 5 s (`/proc/self/task/*/status`). Checked: the
//! body got as far as waiting, and the runtime is still there.

use crate::outcome::{Outcome, Verdict};
use crate::plan::Plan;
use crate::rt::{Stacks, Tasks};
use std::collections::HashMap;
use std::fs;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);
const SHORT: Duration = Duration::from_millis(2);

/// On tasks.
pub(crate) fn tasks<R: Tasks>(plan: Plan) -> Verdict {
    observe(plan, |waiting| {
        R::run(async move {
            for _ in 0..100 {
                R::spawn(R::yield_now()).await;
            }
            R::sleep(SHORT).await;
            R::detach(R::spawn(R::sleep(HOUR)));
            R::yield_now().await;
            // The observer hung up only if it failed, and then nobody listens.
            let _ = waiting.send(());
            std::future::pending::<()>().await;
        })
    })
}

/// On stacks.
pub(crate) fn stacks<S: Stacks>(plan: Plan) -> Verdict {
    observe(plan, |waiting| {
        S::run(1, move || {
            for _ in 0..100 {
                S::join(S::spawn(S::yield_now));
            }
            S::sleep(SHORT);
            drop(S::spawn(|| S::sleep(HOUR)));
            // The observer hung up only if it failed, and then nobody listens.
            let _ = waiting.send(());
            S::sleep(HOUR);
        })
    })
}

/// Starts the idler on a thread of its own, which is abandoned, and counts.
fn observe(plan: Plan, idler: fn(mpsc::Sender<()>)) -> Verdict {
    let (tx, rx) = mpsc::channel();
    let thread = thread::spawn(move || idler(tx));
    rx.recv_timeout(Duration::from_secs(10)).map_err(|_| "the body never came to wait")?;
    let (settle, window) = plan.size((1_000, 5_000), (20, 50));
    thread::sleep(Duration::from_millis(settle));
    let before = switches()?;
    thread::sleep(Duration::from_millis(window));
    let after = switches()?;
    if thread.is_finished() {
        return Err("the runtime ended while it should idle".to_owned());
    }
    let (voluntary, other) = growth(&before, &after);
    let threads = after.len() as f64;
    Ok(Outcome { value: voluntary as f64, n: window, ..Outcome::default() }
        .with("nonvoluntary", other as f64)
        .with("threads", threads)
        .with("window_ms", window as f64))
}

/// Voluntary and other switches of each thread but this one.
type Switches = HashMap<u64, (u64, u64)>;

fn switches() -> Result<Switches, String> {
    // SAFETY: gettid takes nothing and cannot fail.
    let this = unsafe { libc::gettid() } as u64;
    let entries = fs::read_dir("/proc/self/task").map_err(|error| error.to_string())?;
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let ids: Vec<u64> = ids.filter(|id| *id != this).collect();
    Ok(ids.into_iter().filter_map(|id| Some((id, switches_of(id)?))).collect())
}

/// `None` for a thread that has just ended.
fn switches_of(id: u64) -> Option<(u64, u64)> {
    let status = fs::read_to_string(format!("/proc/self/task/{id}/status")).ok()?;
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.rsplit(char::is_whitespace).next()?.parse().ok()
    };
    Some((field("voluntary_ctxt_switches:")?, field("nonvoluntary_ctxt_switches:")?))
}

/// Threads born in between count from zero.
fn growth(before: &Switches, after: &Switches) -> (u64, u64) {
    after.iter().fold((0, 0), |(voluntary, other), (id, now)| {
        let then = before.get(id).copied().unwrap_or_default();
        (voluntary + now.0 - then.0, other + now.1 - then.1)
    })
}

//! No poll without a look before it, whichever way the task came: spawned, woken, stolen, pinned,
//! completed in a batch, run by a stand-in, or dropped at the end.

use std::sync::mpsc;
use std::time::Duration;

use raddle::net::UnixStream;
use raddle::task::{block_in_place, yield_now};
use raddle::time::sleep;
use raddle::{Builder, Io};
use raddle_base::hooks;
use raddle_tests::watched;

use super::rig::backends;

/// Everything that makes a worker poll.
async fn all_kinds_of_work() {
    let mut tasks = Vec::new();
    let mut pairs = Vec::new();
    for n in 0..100u8 {
        let (near, far) = UnixStream::pair().unwrap();
        tasks.push(raddle::spawn(async move {
            for _ in 0..3 {
                far.read_exact(&mut [0]).await.unwrap();
            }
        }));
        pairs.push(near);
        tasks.push(raddle::spawn(async move {
            sleep(Duration::from_micros(u64::from(n))).await;
            yield_now().await;
        }));
        tasks.push(raddle::spawn_local(yield_now()));
    }
    for _ in 0..3 {
        // Completions in batches.
        for near in &pairs {
            near.write_all(&[1]).await.unwrap();
        }
        sleep(Duration::from_micros(300)).await;
    }
    let (done, wait) = mpsc::channel();
    raddle::spawn(async move { done.send(()).unwrap() }).detach();
    // A sibling or a stand-in has to run it.
    block_in_place(|| wait.recv().unwrap());
    for task in tasks {
        task.await.unwrap();
    }
}

/// Workers and stand-ins of a runtime of two.
const THREADS: usize = 2 + 4;

fn check(io: Io, workers: usize) {
    let builder = Builder::new().workers(workers).name("traced").io(io).monitor(false);
    let recordings: Vec<_> = (0..THREADS).map(|n| hooks::record(&format!("traced-{n}"))).collect();
    let runtime = builder.build().unwrap();
    let work: Vec<_> = (0..2).map(|_| runtime.spawn(all_kinds_of_work())).collect();
    for work in work {
        runtime.block_on(work).unwrap();
    }
    runtime.spawn(std::future::pending::<()>()).detach();
    drop(runtime);
    let mut polls = 0;
    for recording in &recordings {
        let mut looked = false;
        for point in recording.take() {
            match point {
                hooks::LOOKED => looked = true,
                // A look before a sleep does not count.
                hooks::PARK => looked = false,
                hooks::POLL => {
                    assert!(looked, "a poll without a look");
                    looked = false;
                    polls += 1;
                }
                _ => {}
            }
        }
    }
    assert!(polls > 2 * 300, "{polls} polls");
}

#[test]
fn each_poll_has_a_look_of_its_own() {
    watched(|| {
        for io in backends() {
            for workers in [1, 2] {
                check(io, workers);
            }
        }
    });
}

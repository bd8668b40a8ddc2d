//! Dumps lose and delay nothing, however many tasks there are and whatever they do meanwhile.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use raddle::dump::{Dump, TaskState, WaitKind};
use raddle::sync::{Notify, mpsc};
use raddle::task::{Id, JoinHandle, yield_now};
use raddle::{Handle, Runtime, spawn};
use raddle_tests::watched;

use super::{runtime, until};

/// So many tasks that wait for one event, all of them waiting.
fn waiters(runtime: &Runtime, count: usize, event: &Arc<Notify>) -> Vec<JoinHandle<()>> {
    let task = |_| {
        let event = event.clone();
        runtime.spawn(async move { event.notified().await })
    };
    let tasks: Vec<_> = (0..count).map(task).collect();
    let last = tasks.last().map(JoinHandle::id);
    until(runtime, |dump| {
        let waits = |told: &&raddle::dump::TaskDump| matches!(told.state, TaskState::Waiting(_));
        (dump.tasks.iter().filter(waits).count() == count).then_some(last)
    });
    tasks
}

fn numbers(dump: &Dump) -> Vec<Id> {
    dump.tasks.iter().map(|task| task.id).collect()
}

#[test]
fn each_of_100_000_tasks_is_told_once() {
    watched(|| {
        let runtime = runtime(2);
        let event = Arc::new(Notify::new());
        let tasks = waiters(&runtime, 100_000, &event);
        let dump = runtime.dump();
        let mut expected: Vec<_> = tasks.iter().map(JoinHandle::id).collect();
        expected.sort();
        assert_eq!(numbers(&dump), expected);
        let right = |task: &raddle::dump::TaskDump| match task.state {
            TaskState::Waiting(wait) => wait.kind == Some(WaitKind::Notification),
            _ => false,
        };
        assert!(dump.tasks.iter().all(right));
        event.notify_waiters();
        runtime.block_on(async {
            for task in tasks {
                task.await.unwrap();
            }
        });
        assert!(runtime.dump().tasks.is_empty());
    });
}

/// A thread that takes dumps until it is dropped; each has to have these tasks, once.
fn dumping(
    handle: &Handle,
    always: HashSet<Id>,
) -> (Arc<AtomicBool>, Arc<AtomicUsize>, thread::JoinHandle<()>) {
    let (stop, count) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let (handle, seen, counted) = (handle.clone(), stop.clone(), count.clone());
    let thread = thread::spawn(move || {
        while !seen.load(Ordering::Relaxed) {
            let numbers = numbers(&handle.dump());
            let distinct: HashSet<_> = numbers.iter().copied().collect();
            assert_eq!(distinct.len(), numbers.len(), "a task was told twice");
            assert!(always.is_subset(&distinct), "a task was left out");
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    (stop, count, thread)
}

#[test]
fn dumps_during_a_storm_of_spawns_have_everybody_who_stays() {
    watched(|| {
        let runtime = runtime(2);
        let event = Arc::new(Notify::new());
        let stay = waiters(&runtime, 1_000, &event);
        let always: HashSet<_> = stay.iter().map(JoinHandle::id).collect();
        let dumpers: Vec<_> = (0..2).map(|_| dumping(runtime.handle(), always.clone())).collect();
        let ended = Arc::new(AtomicUsize::new(0));
        let mut spawned = 0;
        while dumpers.iter().any(|(_, count, _)| count.load(Ordering::Relaxed) < 50) {
            let ended = ended.clone();
            spawned += 200;
            let storm = runtime.spawn(async move {
                let tasks: Vec<_> = (0..200)
                    .map(|n| {
                        let ended = ended.clone();
                        spawn(async move {
                            if n % 2 == 0 {
                                yield_now().await;
                            }
                            ended.fetch_add(1, Ordering::Relaxed);
                        })
                    })
                    .collect();
                for task in tasks {
                    task.await.unwrap();
                }
            });
            runtime.block_on(storm).unwrap();
        }
        assert_eq!(ended.load(Ordering::Relaxed), spawned);
        for (stop, _, thread) in dumpers {
            stop.store(true, Ordering::Relaxed);
            thread.join().unwrap();
        }
        event.notify_waiters();
        runtime.block_on(async {
            for task in stay {
                task.await.unwrap();
            }
        });
    });
}

#[test]
fn messages_arrive_in_order_and_number_while_dumps_are_taken() {
    watched(|| {
        const PAIRS: u64 = 8;
        const MESSAGES: u64 = 5_000;
        let runtime = runtime(2);
        let (stop, count, thread) = dumping(runtime.handle(), HashSet::new());
        let pairs: Vec<_> = (0..PAIRS)
            .map(|_| {
                let (sender, mut receiver) = mpsc::channel(4);
                runtime
                    .spawn(async move {
                        for n in 0..MESSAGES {
                            sender.send(n).await.unwrap();
                        }
                    })
                    .detach();
                runtime.spawn(async move {
                    let mut next = 0;
                    while let Some(n) = receiver.recv().await {
                        assert_eq!(n, next);
                        next += 1;
                    }
                    next
                })
            })
            .collect();
        runtime.block_on(async {
            for pair in pairs {
                assert_eq!(pair.await.unwrap(), MESSAGES);
            }
        });
        while count.load(Ordering::Relaxed) == 0 {
            thread::yield_now();
        }
        stop.store(true, Ordering::Relaxed);
        thread.join().unwrap();
    });
}

#[test]
fn a_task_may_take_dumps_of_its_own_runtime() {
    watched(|| {
        runtime(2).run(async {
            let tasks: Vec<_> = (0..20)
                .map(|_| {
                    spawn(async {
                        for _ in 0..20 {
                            let dump = Handle::current().dump();
                            assert!(dump.tasks.iter().any(|task| task.id == raddle::task::id()));
                            yield_now().await;
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
        });
    });
}

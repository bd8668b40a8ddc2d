//! Tasks that settle on a worker in the middle of their life: where they are polled, and dropped.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};
use std::thread::{self, ThreadId};

use raddle_runtime::park::ThreadDrivers;
use raddle_runtime::task::{self, yield_now};
use raddle_runtime::{Config, PanicPolicy, Runtime, spawn, spawn_blocking};

use crate::runtime;

/// Holds something of the thread's from its first poll on, and asserts that it never leaves it.
struct Settled<F> {
    inner: F,
    thread: Cell<Option<ThreadId>>,
    dropped: Arc<AtomicUsize>,
}

impl<F> Settled<F> {
    fn new(inner: F, dropped: &Arc<AtomicUsize>) -> Self {
        Settled { inner, thread: Cell::new(None), dropped: dropped.clone() }
    }

    fn check(&self) {
        if let Some(thread) = self.thread.get() {
            assert_eq!(thread, thread::current().id(), "a settled task has left its thread");
        }
    }
}

impl<F: Future + Unpin> Future for Settled<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.check();
        if self.thread.get().is_none() {
            assert!(task::settle());
            self.thread.set(Some(thread::current().id()));
        }
        Pin::new(&mut self.inner).poll(cx)
    }
}

impl<F> Drop for Settled<F> {
    fn drop(&mut self) {
        self.check();
        self.dropped.fetch_add(1, SeqCst);
    }
}

/// Pending once, and woken by a thread of the blocking pool.
fn woken_elsewhere() -> impl Future<Output = ()> + Unpin + Send {
    let mut asked = false;
    poll_fn(move |cx: &mut Context<'_>| {
        if asked {
            return Poll::Ready(());
        }
        asked = true;
        let waker: Waker = cx.waker().clone();
        spawn_blocking(move || waker.wake()).detach();
        Poll::Pending
    })
}

#[test]
fn a_task_that_settles_stays_on_its_thread() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let dropped_in = dropped.clone();
    runtime(2).run(async move {
        let tasks: Vec<_> = (0..64)
            .map(|n| {
                let work = Box::pin(async move {
                    for turn in 0..300 {
                        if n % 2 == 0 || turn % 50 != 0 {
                            yield_now().await;
                        } else {
                            woken_elsewhere().await;
                        }
                    }
                });
                spawn(Settled::new(work, &dropped_in))
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    assert_eq!(dropped.load(SeqCst), 64);
}

#[test]
fn a_task_that_yields_in_the_poll_that_settles_it_is_not_stolen() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let dropped_in = dropped.clone();
    // A free task spawns, so that its worker has nothing pinned but those that settle.
    runtime(2).run(async move {
        let spawner = spawn(async move {
            for _ in 0..200 {
                let tasks: Vec<_> = (0..100)
                    .map(|_| spawn(Settled::new(Box::pin(yield_now()), &dropped_in)))
                    .collect();
                for task in tasks {
                    task.await.unwrap();
                }
            }
        });
        spawner.await.unwrap();
    });
    assert_eq!(dropped.load(SeqCst), 20_000);
}

#[test]
fn a_task_that_is_released_runs_anywhere_again() {
    runtime(2).run(async {
        for _ in 0..50 {
            let mut turn = 0;
            let task = spawn(poll_fn(move |cx: &mut Context<'_>| {
                turn += 1;
                match turn {
                    1 => assert!(task::settle()),
                    // SAFETY: the closure holds a number.
                    2 => assert!(unsafe { task::release() }),
                    40 => return Poll::Ready(()),
                    _ => {}
                }
                cx.waker().wake_by_ref();
                Poll::Pending
            }));
            task.await.unwrap();
        }
    });
}

#[test]
fn a_settled_task_that_is_aborted_or_left_ends_at_home() {
    let dropped = Arc::new(AtomicUsize::new(0));
    for round in 0..200usize {
        let dropped = dropped.clone();
        runtime(2).run(async move {
            let never = || {
                Box::pin(async {
                    yield_now().await;
                    std::future::pending::<()>().await;
                })
            };
            let tasks: Vec<_> = (0..8).map(|_| spawn(Settled::new(never(), &dropped))).collect();
            // Some have begun by now, some not; the end of the runtime meets them anywhere.
            for _ in 0..round % 8 {
                yield_now().await;
            }
            for task in tasks {
                if round % 3 == 0 {
                    task.abort();
                }
                task.detach();
            }
        });
    }
    assert_eq!(dropped.load(SeqCst), 200 * 8);
}

/// Settles and is released in turn, poll by poll.
struct Restless(Cell<Option<ThreadId>>);

impl Restless {
    fn check(&self) {
        if let Some(thread) = self.0.get() {
            assert_eq!(thread, thread::current().id(), "a settled task has left its thread");
        }
    }
}

impl Future for Restless {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.check();
        if self.0.get().is_none() {
            assert!(task::settle());
            self.0.set(Some(thread::current().id()));
        } else {
            // SAFETY: what it held of the thread's is forgotten below.
            assert!(unsafe { task::release() });
            self.0.set(None);
        }
        let waker = cx.waker().clone();
        // Idle for a moment, which is when it may be claimed.
        spawn(async move { waker.wake() }).detach();
        Poll::Pending
    }
}

impl Drop for Restless {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.check();
        }
    }
}

#[test]
fn the_end_of_the_runtime_meets_tasks_that_settle_and_move_on() {
    let wrong = Arc::new(AtomicUsize::new(0));
    for round in 0..300 {
        let count = wrong.clone();
        let config = Config {
            workers: 2,
            panic_policy: PanicPolicy::Call(Arc::new(move |_| {
                count.fetch_add(1, SeqCst);
            })),
            ..Config::default()
        };
        Runtime::new(config, Box::new(ThreadDrivers)).unwrap().run(async move {
            for _ in 0..16 {
                spawn(Restless(Cell::new(None))).detach();
            }
            for _ in 0..round % 40 {
                yield_now().await;
            }
        });
    }
    assert_eq!(wrong.load(SeqCst), 0, "tasks were dropped on a thread that was not theirs");
}

#[test]
fn only_a_task_in_its_own_poll_settles() {
    assert!(!task::settle());
    runtime(1).run(async {
        // A closure that a foreign thread runs is nobody's poll.
        assert!(!spawn_blocking(task::settle).await.unwrap());
    });
}

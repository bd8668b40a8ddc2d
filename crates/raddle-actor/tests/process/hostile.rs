//! Code that does with its stack and its context what it should not.

use std::cell::RefCell;
use std::future::{poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use super::{Dropped, runtime};
use raddle_actor::{self as actor, Actor, Cx, ExitReason};
use raddle_fiber::{Fiber, Reason, Stack, Step, foreign, on_parent_stack};
use raddle_runtime::{block_in_place, task};
use raddle_sync::{Wait, oneshot};

const LONG: Duration = Duration::from_secs(3600);

fn is_refused(f: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(f)).is_err()
}

#[test]
fn waits_are_refused_in_async_code_on_a_stack() {
    runtime(1).run(async {
        let process = actor::spawn(|cx: &mut Cx<u8>| {
            let address = cx.address();
            address.try_send(1).unwrap();
            let refused = catch_unwind(AssertUnwindSafe(|| {
                cx.receive_where(|_| {
                    ready(()).wait();
                    true
                })
            }));
            assert!(refused.is_err());
            // Nothing was lost by it.
            cx.receive().unwrap()
        });
        assert_eq!(process.join().await.unwrap(), 1);
    });
}

#[test]
fn a_context_in_async_code_waits_for_nothing() {
    runtime(1).run(async {
        let process = actor::spawn(|cx: &mut Cx<u8>| {
            let refused = poll_fn(|_| {
                let refused = [
                    is_refused(|| cx.yield_now()),
                    is_refused(|| cx.sleep(Duration::from_millis(1))),
                    is_refused(|| _ = cx.receive()),
                    is_refused(|| _ = cx.receive_timeout(Duration::ZERO)),
                    is_refused(|| _ = cx.receive_where(|_| true)),
                    is_refused(|| _ = cx.receive_any()),
                    is_refused(|| _ = cx.receive_event_timeout(Duration::ZERO)),
                    is_refused(|| cx.exit(ExitReason::Normal)),
                    is_refused(|| actor::exit(ExitReason::Normal)),
                    is_refused(|| actor::blocking(|| ())),
                ];
                Poll::Ready(refused)
            })
            .wait();
            assert_eq!(refused, [true; 10]);
            // Nothing of it is left.
            cx.yield_now();
            cx.receive().unwrap()
        });
        process.address().send(7).await.unwrap();
        assert_eq!(process.join().await.unwrap(), 7);
    });
}

#[test]
fn a_context_in_a_blocking_section_blocks_the_thread() {
    runtime(1).run(async {
        let (tx, begun) = oneshot::channel();
        let process = actor::spawn(move |cx: &mut Cx<u8>| {
            let in_section = block_in_place(|| {
                cx.yield_now();
                cx.sleep(Duration::from_millis(1));
                tx.send(()).unwrap();
                assert!(is_refused(|| cx.exit(ExitReason::Shutdown)));
                cx.receive().unwrap()
            });
            cx.yield_now();
            cx.sleep(Duration::from_millis(1));
            in_section + cx.receive().unwrap()
        });
        let address = process.address().clone();
        let sender = thread::spawn(move || {
            begun.wait().unwrap();
            address.send(3).wait().unwrap();
            address.send(4).wait().unwrap();
        });
        assert_eq!(process.join().await.unwrap(), 7);
        sender.join().unwrap();
    });
}

#[test]
fn a_refused_exit_leaves_no_reason_behind() {
    runtime(1).run(async {
        let process = actor::spawn(|cx: &mut Cx<()>| {
            assert!(is_refused(|| on_parent_stack(|| actor::exit(ExitReason::Shutdown))));
            cx.sleep(Duration::from_millis(1));
            5
        });
        assert_eq!(process.join().await.unwrap(), 5);
    });
}

#[test]
fn a_fiber_is_not_left_within_a_poll() {
    thread_local!(static KEPT: RefCell<Option<Fiber>> = const { RefCell::new(None) });
    runtime(1).run(async {
        let process = actor::spawn(|cx: &mut Cx<()>| {
            let mut fiber = Fiber::<(), (), ()>::new(Stack::new().unwrap(), |s, ()| {
                // The waker that the future gets is that of this poll.
                let reason = poll_fn(|_| Poll::Ready(s.try_suspend(()).unwrap_err().reason)).wait();
                assert_eq!(reason, Reason::Held);
                // A wait leaves the process' stack and this one with it.
                actor::sleep(Duration::from_millis(1));
                actor::yield_now();
                s.suspend(());
                actor::sleep(Duration::from_millis(1));
            });
            assert!(matches!(fiber.resume(()), Step::Suspended(())));
            cx.yield_now();
            KEPT.with(|kept| kept.replace(Some(fiber)));
        });
        process.join().await.unwrap();
        // One process begins it, another goes on with it, on the same thread.
        let process = actor::spawn(|_: &mut Cx<()>| {
            let mut fiber = KEPT.with(RefCell::take).unwrap();
            assert!(matches!(fiber.resume(()), Step::Finished(())));
        });
        process.join().await.unwrap();
    });
}

/// Swallows kills until its stack is given up.
fn swallow(cx: &mut Cx<u8>) {
    loop {
        let _ = catch_unwind(AssertUnwindSafe(|| cx.sleep(LONG)));
    }
}

struct Lender {
    data: Vec<u8>,
    seen: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
    go: Arc<AtomicBool>,
    begun: Option<oneshot::Sender<()>>,
    _dropped: Dropped,
    stopped: Arc<AtomicUsize>,
}

impl Actor for Lender {
    type Message = u8;

    fn handle(&mut self, how: u8, cx: &mut Cx<u8>) {
        let (data, go) = (&self.data, &self.go);
        let (seen, over) = (self.seen.clone(), self.over.clone());
        thread::scope(|scope| {
            scope.spawn(move || {
                while !go.load(SeqCst) {
                    thread::yield_now();
                }
                seen.fetch_add(data.iter().map(|&n| usize::from(n)).sum(), SeqCst);
                over.store(true, SeqCst);
            });
            self.begun.take().unwrap().send(()).unwrap();
            if how == 0 { foreign(|| cx.sleep(LONG)) } else { swallow(cx) }
        });
    }

    fn stopped(&mut self, _: &ExitReason, _: &mut Cx<u8>) {
        self.stopped.fetch_add(1, SeqCst);
        self.data.clear();
    }
}

/// What an actor lent to a thread stays, if the loan cannot be ended.
fn lends_for_ever(how: u8, ends: impl AsyncFnOnce(actor::ProcessRef)) {
    let (seen, go) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let over = Arc::new(AtomicBool::new(false));
    let (stopped, dropped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    runtime(1).run(async {
        let (tx, begun) = oneshot::channel();
        let process = actor::Builder::new().spawn_actor(Lender {
            data: vec![1; 1000],
            seen: seen.clone(),
            over: over.clone(),
            go: go.clone(),
            begun: Some(tx),
            _dropped: Dropped(dropped.clone()),
            stopped: stopped.clone(),
        });
        process.address().send(how).await.unwrap();
        begun.await.unwrap();
        ends(process.process().clone()).await;
    });
    go.store(true, SeqCst);
    let begun = Instant::now();
    while !over.load(SeqCst) {
        assert!(begun.elapsed() < Duration::from_secs(60), "the thread reads what is gone");
        thread::yield_now();
    }
    assert_eq!(seen.load(SeqCst), 1000);
    assert_eq!((dropped.load(SeqCst), stopped.load(SeqCst)), (0, 0));
}

#[test]
fn what_an_abandoned_handler_lent_stays() {
    for how in [0, 1] {
        lends_for_ever(how, async |process| {
            process.exit(ExitReason::Shutdown);
            assert_eq!(process.join().await, ExitReason::Shutdown);
        });
        // By the end of the runtime.
        lends_for_ever(how, async |_| task::yield_now().await);
    }
}

/// Waits in its destructor for somebody who runs on the same worker.
struct Lingers(Option<oneshot::Receiver<()>>, Arc<AtomicUsize>);

impl Drop for Lingers {
    fn drop(&mut self) {
        self.0.take().unwrap().wait().unwrap();
        self.1.fetch_add(1, SeqCst);
    }
}

impl Actor for Lingers {
    type Message = Lingers;

    fn handle(&mut self, _: Lingers, cx: &mut Cx<Lingers>) {
        cx.sleep(LONG);
    }
}

#[test]
fn state_that_waits_in_its_destructor_comes_to_its_end() {
    runtime(1).run(async {
        let dropped = Arc::new(AtomicUsize::new(0));
        let lingers = || {
            let (tx, rx) = oneshot::channel();
            (tx, Lingers(Some(rx), dropped.clone()))
        };
        let ((first, actor), (second, message)) = (lingers(), lingers());
        let process = actor::Builder::new().spawn_actor(actor);
        process.address().send(message).await.unwrap();
        task::yield_now().await;
        process.process().kill();
        let helper = raddle_runtime::spawn(async move {
            task::yield_now().await;
            second.send(()).unwrap();
            task::yield_now().await;
            first.send(()).unwrap();
        });
        let reason = process.join().await.map(drop).unwrap_err();
        assert_eq!((reason, dropped.load(SeqCst)), (ExitReason::Killed, 2));
        helper.await.unwrap();
    });
}

#[test]
fn a_runtime_within_a_process_leaves_it_as_it_was() {
    runtime(1).run(async {
        let process = actor::spawn(|cx: &mut Cx<()>| {
            for in_section in [false, true] {
                let inner = || {
                    runtime(1).run(async {
                        let process = actor::spawn(|cx: &mut Cx<()>| {
                            cx.sleep(Duration::from_millis(1));
                            actor::current().unwrap()
                        });
                        process.join().await.unwrap()
                    })
                };
                let other = if in_section {
                    block_in_place(inner)
                } else {
                    // Refused or not: this process is still who it was.
                    let Ok(other) = catch_unwind(inner) else { continue };
                    other
                };
                assert_ne!(other, cx.pid());
                assert_eq!(actor::current(), Some(cx.pid()));
                actor::sleep(Duration::from_millis(1));
                ready(()).wait();
                cx.yield_now();
            }
            actor::current() == Some(cx.pid())
        });
        assert!(process.join().await.unwrap());
    });
}

#[test]
fn a_runtime_within_a_task_takes_no_yield_away() {
    runtime(1).run(async {
        let task = raddle_runtime::spawn(async {
            let mut yields = pin!(task::yield_now());
            let mut polls = 0;
            poll_fn(|cx| {
                let polled = yields.as_mut().poll(cx);
                polls += 1;
                block_in_place(|| runtime(1).run(async { raddle_runtime::spawn(ready(())).await }))
                    .unwrap();
                polled
            })
            .await;
            polls
        });
        for _ in 0..100 {
            task::yield_now().await;
        }
        assert!(task.is_finished(), "nobody puts the task back");
        assert_eq!(task.await.unwrap(), 2);
    });
}

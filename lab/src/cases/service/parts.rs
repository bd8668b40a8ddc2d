//! The tasks of a trial: those that wait for events, and those that keep the workers busy.

use super::board::Board;
use crate::hosted::Service;
use std::future::poll_fn;
use std::hint::spin_loop;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

/// How long what was called sleeps.
const SLEEP: Duration = Duration::from_millis(10);

/// Awaits, and tells when the poll began that found the end. The first wait counts as armed.
async fn stamped<F: Future>(board: &Board, future: F) -> (u64, F::Output) {
    let mut future = pin!(future);
    let mut armed = false;
    poll_fn(|cx| {
        let at = board.now();
        match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready((at, output)),
            Poll::Pending => {
                if !armed {
                    board.armed.add(1);
                }
                armed = true;
                Poll::Pending
            }
        }
    })
    .await
}

/// Waits for the eventfd until it has seen all `events`. Those that happened before one poll were
/// all seen by it.
pub(super) async fn reader<S: Service>(board: Arc<Board>, event: OwnedFd, events: usize) {
    let source = S::adopt(event).expect("the runtime takes an eventfd");
    let mut seen = 0;
    while seen < events {
        let (at, count) = stamped(&board, S::take(&source)).await;
        let count = count.expect("the eventfd is read") as usize;
        (seen..seen + count).for_each(|event| board.io.seen(event, at));
        seen += count;
        board.done.add(count);
    }
    // What comes next is not to wait for its end.
    board.keep(Box::new(source));
}

/// Waits to be called, then sleeps.
pub(super) async fn called<S: Service>(board: Arc<Board>, event: usize, rx: S::OneRx) {
    let (at, value) = stamped(&board, S::recv_one(rx)).await;
    assert_eq!(value, event as u64, "what was sent");
    board.remote.seen(event, at);
    asleep::<S>(&board, event).await;
}

/// Is spawned as the event, then sleeps.
pub(super) async fn submitted<S: Service>(board: Arc<Board>, event: usize) {
    board.remote.seen(event, board.now());
    asleep::<S>(&board, event).await;
}

async fn asleep<S: Service>(board: &Board, event: usize) {
    board.done.add(1);
    board.timer.due(event, board.now() + SLEEP.as_nanos() as u64);
    let (at, ()) = stamped(board, S::sleep(SLEEP)).await;
    board.timer.seen(event, at);
    board.done.add(1);
}

/// Computes for `body` and yields, until the trial is over.
pub(super) async fn yielder<S: Service>(board: Arc<Board>, task: usize, body: Duration) {
    board.running.add(1);
    let mut count = 0;
    while !board.is_over() {
        compute(body);
        count += 1;
        board.note_yield(task, count);
        S::yield_now().await;
    }
    board.done.add(1);
}

/// Does not return to its worker for `length`, once `workers` of its kind are running.
pub(super) async fn stuck(board: Arc<Board>, workers: usize, length: Duration) {
    board.running.add(1);
    let began = Instant::now();
    while board.running.get() < workers && began.elapsed() < Duration::from_secs(2) {
        spin_loop();
    }
    compute(length);
    board.done.add(1);
}

fn compute(time: Duration) {
    if time.is_zero() {
        return;
    }
    let began = Instant::now();
    while began.elapsed() < time {
        spin_loop();
    }
}

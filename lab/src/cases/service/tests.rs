//! What a trial's figures are made of.

use super::board::Board;
use super::summary::Summary;
use super::window::Counted;
use crate::outcome::Figures;
use std::time::Duration;

fn counted(yields: u64) -> Counted {
    Counted { yields, time: Duration::from_millis(20), counters: Figures::new() }
}

#[test]
fn waits_are_from_event_to_poll_and_split_by_how_the_thread_reached_the_task() {
    let (mut summary, board) = (Summary::default(), Board::new(2, 1));
    for event in 0..2 {
        for (kind, wait) in [(&board.io, 3_000), (&board.remote, 5_000), (&board.timer, 7_000)] {
            kind.due(event, 1_000);
            kind.seen(event, 1_000 + wait * (event as u64 + 1));
        }
    }
    summary.note(&board, |event| event == 0).unwrap();
    summary.note_yields(counted(500));
    let outcome = summary.outcome(true).unwrap();
    assert_eq!((outcome.value, outcome.n), (6.0, 2));
    let figure = |name: &str| outcome.figures[name];
    assert_eq!((figure("io_p50"), figure("remote_p50"), figure("timer_max")), (3.0, 5.0, 14.0));
    assert_eq!((figure("wake_n"), figure("wake_p99"), figure("spawn_p99")), (1.0, 5.0, 10.0));
    assert_eq!((figure("yields"), figure("yields_per_s")), (500.0, 25_000.0));
}

#[test]
fn an_early_timer_is_a_mismatch_and_an_event_within_its_poll_has_not_waited() {
    let board = Board::new(1, 1);
    board.io.due(0, 10);
    board.io.seen(0, 9);
    assert_eq!(board.io.waits(), [0.0]);
    board.timer.due(0, 10);
    board.timer.seen(0, 9);
    assert!(Summary::default().note(&board, |_| true).is_err());
}

#[test]
fn without_events_the_value_is_the_time_of_a_yield() {
    let mut summary = Summary::default();
    summary.note(&Board::new(0, 1), |_| true).unwrap();
    summary.note_yields(counted(1_000));
    let outcome = summary.outcome(false).unwrap();
    assert_eq!((outcome.value, outcome.n), (20_000.0, 1_000));
    assert!(!outcome.figures.contains_key("io_p50"));
}

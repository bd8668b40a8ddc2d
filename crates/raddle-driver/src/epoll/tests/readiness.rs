//! The readiness word: ticks, clearing, and the races between them.

use super::*;
use raddle_base::shim::{Arc, model, thread};

fn readable() -> Bits {
    Bits::from_epoll(libc::EPOLLIN as u32)
}

#[test]
fn a_new_source_may_be_tried() {
    let word = Readiness::new();
    assert!(word.snapshot().allows(Direction::Read) && word.snapshot().allows(Direction::Write));
}

#[test]
fn clearing_one_direction_keeps_the_other() {
    let word = Readiness::new();
    word.clear(word.snapshot(), Direction::Read);
    assert!(!word.snapshot().allows(Direction::Read));
    assert!(word.snapshot().allows(Direction::Write));
}

#[test]
fn a_stale_clear_keeps_readiness_whatever_the_number_of_events() {
    for bits in [1, 8, 15, 16] {
        let word = Readiness::new();
        let stale = word.snapshot();
        for _ in 0..1u64 << bits {
            let _ = word.set(readable());
        }
        word.clear(stale, Direction::Read);
        assert!(word.snapshot().allows(Direction::Read), "2^{bits} events");
    }
}

#[test]
fn the_tick_does_not_come_round_after_2_pow_32_events() {
    let word = Readiness::new();
    let stale = word.snapshot();
    // As if so many events had come.
    word.0.fetch_add(TICK << 32, Ordering::Relaxed);
    word.clear(stale, Direction::Read);
    assert!(word.snapshot().allows(Direction::Read));
}

#[test]
fn the_end_of_input_outlasts_a_short_read() {
    let word = Readiness::new();
    let _ = word.set(Bits::from_epoll((libc::EPOLLIN | libc::EPOLLRDHUP) as u32));
    word.clear_drained(word.snapshot(), Direction::Read);
    assert!(word.snapshot().allows(Direction::Read), "the end was reported once, by that event");
    word.clear(word.snapshot(), Direction::Read);
    assert!(!word.snapshot().allows(Direction::Read), "would block: there is no end");
}

#[test]
fn hang_up_and_error_end_both_directions() {
    for events in [libc::EPOLLHUP, libc::EPOLLERR] {
        let word = Readiness::new();
        word.clear(word.snapshot(), Direction::Read);
        word.clear(word.snapshot(), Direction::Write);
        let _ = word.set(Bits::from_epoll(events as u32));
        assert!(word.snapshot().allows(Direction::Read));
        assert!(word.snapshot().allows(Direction::Write));
    }
}

#[test]
fn the_next_event_takes_the_mark_of_the_queue() {
    let word = Readiness::new();
    word.announce_waiter();
    assert!(word.set(readable()));
    assert!(!word.set(readable()));
    word.announce_waiter();
    assert!(word.set_gone());
    assert!(word.snapshot().is_gone());
}

/// A reader finds "would block" and clears while data and its event come: unless the reader got
/// the data, the event is not wiped. The reader is the spawned one: loom would not try the event
/// before a look of the main thread.
#[test]
fn model_clear_keeps_a_later_event() {
    model::check(|| {
        let word = Arc::new(Readiness::new());
        let data = Arc::new(AtomicU64::new(0));
        let reader = thread::spawn({
            let (word, data) = (Arc::clone(&word), Arc::clone(&data));
            move || {
                let seen = word.snapshot();
                let blocked = data.load(Ordering::Relaxed) == 0;
                if blocked {
                    word.clear(seen, Direction::Read);
                }
                blocked
            }
        });
        // Relaxed: the word has to publish it.
        data.store(1, Ordering::Relaxed);
        let _ = word.set(readable());
        let blocked = reader.join().unwrap();
        assert!(!blocked || word.snapshot().allows(Direction::Read), "the event is lost");
    });
}

/// A waiter joins the queue while an event comes: it sees the event, or the event sees it.
#[test]
fn model_queue_is_released_or_sees_the_event() {
    model::check(|| {
        let word = Arc::new(Readiness::new());
        word.clear(word.snapshot(), Direction::Read);
        let event = thread::spawn({
            let word = Arc::clone(&word);
            move || word.set(readable())
        });
        let now = word.announce_waiter();
        let released = event.join().unwrap();
        assert!(released || now.allows(Direction::Read));
    });
}

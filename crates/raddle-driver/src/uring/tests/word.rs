//! The word of a source under io_uring.

use super::*;
use raddle_base::shim::{Arc, model, thread};

#[test]
fn news_takes_the_mark_of_the_queue() {
    let word = Word::new();
    word.set(Bits::READ.with(Bits::MORE));
    let before = word.news(Bits::DATA, Bits::READ);
    assert!(before.any(Bits::MORE));
    assert!(word.load().any(Bits::DATA));
    assert!(!word.load().any(Bits::READ.with(Bits::MORE)));
}

#[test]
fn bits_of_the_directions_are_apart() {
    let all = [
        Bits::DATA,
        Bits::READ,
        Bits::WRITE,
        Bits::READ_OK,
        Bits::WRITE_OK,
        Bits::DRAINED,
        Bits::MORE,
        Bits::GONE,
        Bits::SENDING,
        Bits::FAILED,
    ];
    for (n, a) in all.iter().enumerate() {
        assert!(all[n + 1..].iter().all(|b| !a.any(*b)));
    }
}

/// A waiter joins the queue while news comes: it sees the news, or the news sees it.
#[test]
fn model_news_against_wait() {
    model::check(|| {
        let word = Arc::new(Word::new());
        word.set(Bits::READ);
        let news = thread::spawn({
            let word = Arc::clone(&word);
            move || word.news(Bits::DATA, Bits::READ).any(Bits::MORE)
        });
        let seen = word.set(Bits::MORE);
        let released = news.join().unwrap();
        assert!(released || seen.any(Bits::DATA));
    });
}

/// Two tasks arm at once: exactly one of them submits.
#[test]
fn model_one_of_two_arms() {
    model::check(|| {
        let word = Arc::new(Word::new());
        let other = thread::spawn({
            let word = Arc::clone(&word);
            move || word.set(Bits::READ).any(Bits::READ)
        });
        let mine = word.set(Bits::READ).any(Bits::READ);
        assert!(mine != other.join().unwrap());
    });
}

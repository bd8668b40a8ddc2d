//! Order, "was empty", and real threads.

use std::thread;

use super::{Item, taken};
use crate::inbox::Inbox;
use crate::testing::Watchdog;

#[test]
fn things_are_taken_in_the_order_of_pushing() {
    let inbox = Inbox::new();
    assert!(inbox.is_empty() && taken(&inbox).is_empty());
    assert!(inbox.push(Item::new(0)), "the first finds it empty");
    assert!(!inbox.push(Item::new(1)), "the second does not");
    assert!(!inbox.push(Item::new(2)));
    assert!(!inbox.is_empty());
    assert_eq!(taken(&inbox), [0, 1, 2]);
    assert!(inbox.push(Item::new(3)), "empty again");
    assert_eq!(taken(&inbox), [3]);
}

#[test]
fn dropping_the_inbox_drops_its_things() {
    let alive = std::sync::Arc::new(());
    let inbox = Inbox::default();
    for value in 0..100 {
        inbox.push(Item::counted(value, alive.clone()));
    }
    assert_eq!(std::sync::Arc::strong_count(&alive), 101);
    drop(inbox);
    assert_eq!(std::sync::Arc::strong_count(&alive), 1);
}

/// Each pusher's things arrive in its order, none twice, none lost; and there are exactly as many
/// "was empty" answers as non-empty takes.
#[test]
fn pushers_keep_their_order_under_load() {
    const PUSHERS: u32 = 3;
    const EACH: u32 = 20_000;
    let inbox = Inbox::new();
    let (mut next, mut takes, watchdog) = ([0; PUSHERS as usize], 0, Watchdog::start());
    let wakes: u32 = thread::scope(|scope| {
        let push = |who| {
            let inbox = &inbox;
            move || (0..EACH).map(|n| inbox.push(Item::new(who * EACH + n)) as u32).sum::<u32>()
        };
        let pushers: Vec<_> = (0..PUSHERS).map(|who| scope.spawn(push(who))).collect();
        while next.iter().sum::<u32>() < PUSHERS * EACH {
            watchdog.check();
            let values = taken(&inbox);
            takes += !values.is_empty() as u32;
            for value in values {
                let expected = &mut next[(value / EACH) as usize];
                assert_eq!(value % EACH, *expected);
                *expected += 1;
            }
            thread::yield_now();
        }
        pushers.into_iter().map(|pusher| pusher.join().unwrap()).sum()
    });
    assert!(inbox.is_empty());
    assert_eq!(wakes, takes);
}

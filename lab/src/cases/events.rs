//! Events by hand: asking, a wait that finds the signal, a wait that is registered and released.
//!
//! `event_fanout_1000` registers a thousand waits and releases them with one `set`.

use crate::hand::{Hand, by_hand, with_wakes};
use crate::kinds::{AutoEvent, Event};
use crate::outcome::{Verdict, expect_equal};
use crate::plan::Plan;
use crate::rounds::{Judge, repeat_blocking};
use std::hint::black_box;
use std::pin::pin;

/// Waits of `event_fanout_1000`.
const CROWD: u64 = 1_000;

/// `event_is_set`.
pub(crate) fn is_set<E: Event>(plan: Plan) -> Verdict {
    let event = E::new();
    event.set();
    let mut seen = 0;
    let outcome = by_hand(plan, 5_000_000, |n, _| {
        seen = 0;
        for _ in 0..n {
            seen += u64::from(black_box(black_box(&event).is_set()));
        }
        assert_eq!(seen, n, "a set event said that it was not");
    });
    event.reset();
    expect_equal("set after a reset", u64::from(event.is_set()), 0)?;
    outcome
}

/// `event_ready_wait`.
pub(crate) fn ready_wait<E: Event>(plan: Plan) -> Verdict {
    let event = E::new();
    event.set();
    by_hand(plan, 5_000_000, |n, hand| {
        for _ in 0..n {
            hand.ready(black_box(&event).wait());
        }
    })
}

/// `event_cycle`: register, set, complete, reset.
pub(crate) fn cycle<E: Event>(plan: Plan) -> Verdict {
    let event = E::new();
    with_wakes(plan, 1_000_000, 1, |n, hand| {
        for _ in 0..n {
            let event = black_box(&event);
            let mut wait = pin!(event.wait());
            hand.park(wait.as_mut());
            event.set();
            hand.finish(wait);
            event.reset();
        }
    })
}

/// `auto_event_ready`: set, and a wait that takes it.
pub(crate) fn auto_ready<E: AutoEvent>(plan: Plan) -> Verdict {
    let event = E::new();
    by_hand(plan, 2_000_000, |n, hand| {
        for _ in 0..n {
            let event = black_box(&event);
            event.set();
            hand.ready(event.wait());
        }
        hand.park(pin!(event.wait()));
    })
}

/// `auto_event_cycle`: register, set, complete.
pub(crate) fn auto_cycle<E: AutoEvent>(plan: Plan) -> Verdict {
    let event = E::new();
    with_wakes(plan, 1_000_000, 1, |n, hand| {
        for _ in 0..n {
            let event = black_box(&event);
            let mut wait = pin!(event.wait());
            hand.park(wait.as_mut());
            event.set();
            hand.finish(wait);
        }
    })
}

/// `event_fanout_1000`: a thousand waits, one set, a thousand completions, reset.
pub(crate) fn fanout<E: Event>(plan: Plan) -> Verdict {
    let event = E::new();
    let crowd = plan.size(CROWD, 50);
    let times = plan.units(200, 2);
    let hand = Hand::new(0);
    let mut waits: Vec<_> = (0..crowd).map(|_| Box::pin(None)).collect();
    repeat_blocking(plan, Judge::Wall, || {
        let before = hand.wakes();
        for _ in 0..times {
            let event = black_box(&event);
            for wait in &mut waits {
                wait.set(Some(event.wait()));
                hand.park(wait.as_mut().as_pin_mut().expect("just set"));
            }
            event.set();
            for wait in &mut waits {
                hand.finish(wait.as_mut().as_pin_mut().expect("set above"));
                wait.set(None);
            }
            event.reset();
        }
        expect_equal("wakes", hand.wakes() - before, times * crowd)?;
        Ok(times * crowd)
    })
}

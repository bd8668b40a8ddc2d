//! One item sent and then received, by hand: `oneshot`, `mpsc_bounded`, `mpsc_unbounded`, `mpmc`,
//! `broadcast` and `watch`.
//!
//! A oneshot is a fresh channel each time; the others are one channel of capacity 64 for the whole
//! sample, with one sender and one receiver. Checked: the sum of what was received.

use crate::hand::by_hand;
use crate::kinds::{Got, Line, Single};
use crate::outcome::{Verdict, expect_equal};
use crate::plan::Plan;
use std::hint::black_box;

/// Capacity of what is bounded.
pub(crate) const CAPACITY: usize = 64;

/// `oneshot`.
pub(crate) fn single<S: Single>(plan: Plan) -> Verdict {
    checked(plan, |value, receive| {
        let (tx, rx) = black_box(S::channel());
        S::send(tx, value);
        receive.ready(S::recv(rx)).value()
    })
}

/// The others.
pub(crate) fn line<L: Line>(plan: Plan) -> Verdict {
    let (mut tx, mut rx) = L::channel();
    checked(plan, |value, hand| {
        hand.ready(L::send(black_box(&mut tx), value));
        hand.ready(L::recv(black_box(&mut rx))).value()
    })
}

/// Passes numbers on, one by one, and adds up what comes out.
fn checked(plan: Plan, mut pass: impl FnMut(usize, &crate::hand::Hand) -> usize) -> Verdict {
    let (mut sent, mut received) = (0u64, 0u64);
    let outcome = by_hand(plan, 1_000_000, |n, hand| {
        for value in 0..n {
            sent += value;
            received += black_box(pass(black_box(value as usize), hand)) as u64;
        }
    })?;
    expect_equal("sum", received, sent)?;
    Ok(outcome)
}

//! Cells that are initialised once: a hit, and eight that wait for the value.
//!
//! `once_cell_8_waiters` polls only what was woken, the last that queued first, round by round; the
//! figure `hops` is the number of rounds until all eight have the value. A cell whose waiters wake
//! one another takes eight.

use crate::hand::{Hand, by_hand};
use crate::kinds::Cell;
use crate::outcome::{Verdict, expect_equal};
use crate::plan::Plan;
use crate::rounds::{Judge, repeat_blocking};
use std::future::{Future, poll_fn, ready};
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::Poll;

const WAITERS: usize = 8;

/// `once_hit`: the cell has its value.
pub(crate) fn hit<C: Cell>(plan: Plan) -> Verdict {
    let cell = C::new();
    Hand::new(0).ready(cell.get_or_init(|| ready(7)));
    let mut sum = 0;
    let mut hits = 0;
    let outcome = by_hand(plan, 5_000_000, |n, hand| {
        for _ in 0..n {
            let value = hand.ready(black_box(&cell).get_or_init(|| ready(8)));
            sum += *black_box(value) as u64;
        }
        hits += n;
    })?;
    expect_equal("sum", sum, 7 * hits)?;
    Ok(outcome)
}

/// `once_cell_8_waiters`: a fresh cell, an initialiser that is pending once, eight that wait.
pub(crate) fn waiters<C: Cell>(plan: Plan) -> Verdict {
    let units = plan.units(50_000, 20);
    let leader = Hand::new(0);
    let hands: Vec<Hand> = (1..=WAITERS).map(Hand::new).collect();
    let mut hops = 0;
    let outcome = repeat_blocking(plan, Judge::Wall, || {
        for _ in 0..units {
            let cell = C::new();
            hops = hops.max(one_cell(black_box(&cell), &leader, &hands)?);
        }
        Ok(units)
    })?;
    Ok(outcome.with("hops", hops as f64))
}

/// One cell from empty to eight readers; gives the rounds it took.
fn one_cell<C: Cell>(cell: &C, leader: &Hand, hands: &[Hand]) -> Result<u64, String> {
    let mut started = false;
    let value = || {
        poll_fn(move |_| {
            let first = !std::mem::replace(&mut started, true);
            if first { Poll::Pending } else { Poll::Ready(7) }
        })
    };
    let mut first = pin!(cell.get_or_init(value));
    leader.park(first.as_mut());
    let mut waits: [_; WAITERS] = std::array::from_fn(|_| Box::pin(cell.get_or_init(|| ready(8))));
    for (wait, hand) in waits.iter_mut().zip(hands) {
        hand.park(wait.as_mut());
    }
    let mut seen: [u64; WAITERS] = std::array::from_fn(|at| hands[at].wakes());
    expect_equal("value", *leader.finish(first) as u64, 7)?;
    let (mut hops, mut left, mut done) = (0, WAITERS, [false; WAITERS]);
    while left > 0 {
        hops += 1;
        let woken: [bool; WAITERS] = std::array::from_fn(|at| {
            let wakes = hands[at].wakes();
            std::mem::replace(&mut seen[at], wakes) != wakes && !done[at]
        });
        if !woken.contains(&true) {
            return Err(format!("{left} waiters were never woken"));
        }
        for at in (0..WAITERS).rev().filter(|at| woken[*at]) {
            if let Some(value) = polled(&hands[at], waits[at].as_mut()) {
                expect_equal("value", value, 7)?;
                done[at] = true;
                left -= 1;
            }
        }
    }
    Ok(hops)
}

fn polled<'a, F: Future<Output = &'a usize>>(hand: &Hand, wait: Pin<&mut F>) -> Option<u64> {
    match hand.poll(wait) {
        Poll::Ready(value) => Some(*value as u64),
        Poll::Pending => None,
    }
}

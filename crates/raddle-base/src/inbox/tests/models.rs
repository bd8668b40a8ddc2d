//! Every interleaving of pushes and takes. Links and contents are checked cells: a push that is
//! not published, or a link read by a taker before it was written, fails the model.
//!
//! The taker runs on a spawned thread, because a take that finds nothing is a single load: see
//! `model_push_against_take_all`.

use std::sync::Arc;

use super::{Item, taken};
use crate::inbox::Inbox;
use crate::shim::{model, thread};

/// The checker looks for orders to try from the last access to each word. The load of a thread
/// that does nothing else would be forgotten behind the load and exchange of a later push, so that
/// thread has to come last in the checker's first run: be spawned.
#[test]
fn model_push_against_take_all() {
    model::check(|| {
        let inbox = Arc::new(Inbox::new());
        let taker = inbox.clone();
        let taking = thread::spawn(move || taken(&taker));
        let wakes = [inbox.push(Item::new(0)), inbox.push(Item::new(1))].map(u32::from);
        let mut all = taking.join().unwrap();
        let rest = taken(&inbox);
        // Whoever finds it empty wakes the taker: as many as there are takes with content.
        let takes = [&all, &rest].map(|taken| u32::from(!taken.is_empty()));
        assert_eq!(wakes.iter().sum::<u32>(), takes.iter().sum());
        all.extend(rest);
        assert_eq!(all, [0, 1]);
    });
}

#[test]
fn model_two_pushers() {
    model::check(|| {
        let inbox = Arc::new(Inbox::new());
        let (other, taker) = (inbox.clone(), inbox.clone());
        let pushing = thread::spawn(move || {
            other.push(Item::new(10));
            other.push(Item::new(11));
        });
        let taking = thread::spawn(move || taken(&taker));
        inbox.push(Item::new(0));
        inbox.push(Item::new(1));
        pushing.join().unwrap();
        let mut all = taking.join().unwrap();
        all.extend(taken(&inbox));
        let of = |base: u32| all.iter().copied().filter(move |value| value / 10 == base / 10);
        assert!(of(0).eq([0, 1]) && of(10).eq([10, 11]), "{all:?}");
    });
}

/// Two takers: each thing goes to exactly one.
#[test]
fn model_two_takers() {
    model::check(|| {
        let inbox = Arc::new(Inbox::new());
        let takers = [inbox.clone(), inbox.clone()];
        let taking = takers.map(|inbox| thread::spawn(move || taken(&inbox)));
        inbox.push(Item::new(0));
        inbox.push(Item::new(1));
        let mut all = taken(&inbox);
        for taker in taking {
            all.extend(taker.join().unwrap());
        }
        all.sort_unstable();
        assert_eq!(all, [0, 1]);
    });
}

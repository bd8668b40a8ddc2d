//! Every interleaving of pushes and takes. Links and contents are checked cells: a push that is
//! not published, or a link read by a taker before it was written, fails the model.

use std::sync::Arc;

use super::{Item, taken};
use crate::inbox::Inbox;
use crate::shim::{model, thread};

#[test]
fn model_push_against_take_all() {
    model::check(|| {
        let inbox = Arc::new(Inbox::new());
        let pusher = inbox.clone();
        let pushing = thread::spawn(move || [pusher.push(Item::new(0)), pusher.push(Item::new(1))]);
        let mut all = taken(&inbox);
        let takes = !all.is_empty() as u32;
        let wakes = pushing.join().unwrap();
        let rest = taken(&inbox);
        // Whoever finds it empty wakes the taker: as many as there are takes with content.
        assert_eq!(wakes.map(u32::from).iter().sum::<u32>(), takes + !rest.is_empty() as u32);
        all.extend(rest);
        assert_eq!(all, [0, 1]);
    });
}

#[test]
fn model_two_pushers() {
    model::check(|| {
        let inbox = Arc::new(Inbox::new());
        let pushing = [0, 10].map(|base| {
            let inbox = inbox.clone();
            thread::spawn(move || {
                inbox.push(Item::new(base));
                inbox.push(Item::new(base + 1));
            })
        });
        let mut all = taken(&inbox);
        for pusher in pushing {
            pusher.join().unwrap();
        }
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
        inbox.push(Item::new(0));
        let other = inbox.clone();
        let taking = thread::spawn(move || taken(&other));
        inbox.push(Item::new(1));
        let mut all = taken(&inbox);
        all.extend(taking.join().unwrap());
        all.sort_unstable();
        assert_eq!(all, [0, 1]);
    });
}

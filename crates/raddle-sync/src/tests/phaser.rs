//! The phaser: phases, parties that come and go, closing, and its model.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::phaser::{OwnedPhaserWait, Participant};
use crate::tests::crowds::{Case, check};
use crate::tests::sequences::every_sequence;
use crate::tests::support::{Polled, now, refusing, watchdog};
use crate::{Phaser, PhaserError};

type Party = Participant<Arc<Phaser>>;

/// A phaser with one party; waits are for the end of phase 0.
struct One(Arc<Phaser>, Mutex<Option<Party>>);

static CASE: Case<One, bool, OwnedPhaserWait> = Case {
    make: || {
        let phaser = Arc::new(Phaser::new());
        let party = phaser.clone().register_one_owned().unwrap();
        (Arc::new(One(phaser, Mutex::new(Some(party)))), false)
    },
    wait: |one| one.0.clone().wait_owned(0),
    end: |one| {
        let party = one.1.lock().unwrap().take();
        drop(party);
    },
    is_over: |ended| *ended,
    operations: &[
        |one, ended| {
            let party = one.1.lock().unwrap().take();
            let Some(mut party) = party else { return false };
            let arrived = party.arrive();
            *one.1.lock().unwrap() = Some(party);
            arrived.is_ok() && !std::mem::replace(ended, true)
        },
        |one, ended| {
            one.0.close();
            !std::mem::replace(ended, true)
        },
        |one, _| {
            drop(one.0.register(2));
            false
        },
    ],
    compare: |one, ended| assert_eq!(one.0.phase() > 0 || one.0.is_closed(), *ended),
};

#[test]
fn a_phaser_lets_all_go() {
    check(&CASE);
}

#[test]
fn a_phase_ends_when_all_have_arrived() {
    let phaser = Phaser::new();
    let mut parties: Vec<_> = phaser.register(2).unwrap().collect();
    assert_eq!((phaser.registered_parties(), phaser.unarrived_parties()), (2, 2));
    let (one, two) = parties.split_at_mut(1);
    let mut first = Polled::pending(one[0].wait());
    assert_eq!((phaser.arrived_parties(), phaser.phase()), (1, 0));
    let mut second = Polled::new(two[0].wait());
    assert_eq!(second.ready(), Ok(1));
    assert_eq!((first.wakes(), first.ready()), (1, Ok(1)));
    drop((first, second));
    assert_eq!((phaser.phase(), phaser.unarrived_parties()), (1, 2));
}

#[test]
fn an_arrival_counts_once_and_stays_when_its_wait_is_dropped() {
    let phaser = Phaser::new();
    let mut one = phaser.register_one().unwrap();
    let mut two = phaser.register_one().unwrap();
    drop(one.wait());
    assert_eq!(phaser.arrived_parties(), 0, "never polled, never arrived");
    drop(Polled::pending(one.wait()));
    assert_eq!((one.arrive(), one.arrive()), (Ok(0), Ok(0)));
    assert_eq!(phaser.arrived_parties(), 1);
    assert_eq!(two.arrive(), Ok(0));
    assert_eq!(now(one.wait()), Ok(1), "the end of the phase it had arrived in");
    assert_eq!(phaser.arrived_parties(), 0, "and no arrival in the next one");
    assert_eq!(two.arrive(), Ok(1), "the first one has ended");
    drop(Polled::pending(two.wait()));
}

#[test]
fn a_party_that_goes_counts_no_longer() {
    let phaser = Phaser::new();
    let mut one = phaser.register_one().unwrap();
    let two = phaser.register_one().unwrap();
    one.arrive().unwrap();
    two.deregister();
    assert_eq!((phaser.phase(), phaser.registered_parties()), (1, 1), "it was the missing one");
    let mut three = phaser.register_one().unwrap();
    three.arrive().unwrap();
    drop(three);
    assert_eq!((phaser.phase(), phaser.unarrived_parties()), (1, 1), "it had arrived");
    drop(one);
    assert_eq!((phaser.phase(), phaser.registered_parties()), (2, 0), "the last one, once");
    assert!(!phaser.is_closed());
    let mut again = phaser.register_one().unwrap();
    assert_eq!(now(again.wait()), Ok(3));
}

#[test]
fn a_batch_is_of_one_phase_and_the_rest_of_it_withdraws() {
    let phaser = Phaser::new();
    let mut batch = phaser.register(4).unwrap();
    let mut one = batch.next().unwrap();
    let mut two = batch.next().unwrap();
    assert_eq!(batch.len(), 2);
    one.arrive().unwrap();
    two.arrive().unwrap();
    assert_eq!(phaser.phase(), 0, "two are missing");
    drop(batch);
    assert_eq!((phaser.phase(), phaser.registered_parties()), (1, 2));
    drop(phaser.register(0).unwrap());
    assert_eq!(phaser.phase(), 1);
}

#[test]
fn too_many_parties_are_refused_and_change_nothing() {
    let phaser = Phaser::new();
    let batch = phaser.register(Phaser::MAX_PARTIES).unwrap();
    assert_eq!(phaser.register_one().unwrap_err(), PhaserError::TooManyParties);
    assert_eq!(phaser.register(usize::MAX).unwrap_err(), PhaserError::TooManyParties);
    assert_eq!(phaser.unarrived_parties(), Phaser::MAX_PARTIES);
    drop(batch);
    assert_eq!((phaser.registered_parties(), phaser.phase()), (0, 1));
}

#[test]
fn closing_ends_the_present_phase_with_an_error_only() {
    let phaser = Arc::new(Phaser::new());
    let mut parties: Vec<_> = phaser.clone().register_owned(2).unwrap().collect();
    let mut earlier = Polled::pending(phaser.wait(0));
    parties[0].arrive().unwrap();
    parties[1].arrive().unwrap();
    let mut present = Polled::pending(phaser.wait(1));
    let mut party = Polled::new(parties[0].wait());
    assert_eq!(party.ready(), Ok(1), "the phase in which it had arrived");
    drop(party);
    let mut party = Polled::pending(parties[0].wait());
    assert!(phaser.close());
    assert!(!phaser.close());
    assert_eq!(earlier.ready(), Ok(1));
    assert_eq!(present.ready(), Err(PhaserError::Closed));
    assert_eq!(party.ready(), Err(PhaserError::Closed));
    drop(party);
    assert_eq!(parties[1].arrive(), Err(PhaserError::Closed));
    assert_eq!(phaser.register_one().unwrap_err(), PhaserError::Closed);
    drop(parties);
    assert_eq!((phaser.phase(), phaser.registered_parties()), (1, 0));
}

#[test]
fn a_panicking_waker_strands_nobody() {
    let phaser = Phaser::new();
    let mut party = phaser.register_one().unwrap();
    let mut bad = Polled::new(phaser.wait(0));
    assert!(bad.poll_with(&refusing()).is_pending());
    let mut good = Polled::pending(phaser.wait(0));
    assert!(catch_unwind(AssertUnwindSafe(|| party.arrive())).is_err());
    assert_eq!(good.ready(), Ok(1));
}

/// Parties that register, arrive and go: every sequence against a list of their arrivals.
#[test]
fn as_its_model() {
    every_sequence(6, 6, |sequence| {
        let phaser = Arc::new(Phaser::new());
        let mut parties: [Option<(Party, bool)>; 2] = [None, None];
        let mut phase = 0;
        for step in sequence {
            let slot = &mut parties[step % 2];
            match step / 2 {
                0 if slot.is_none() => {
                    *slot = Some((phaser.clone().register_one_owned().unwrap(), false));
                }
                1 => {
                    if let Some((party, arrived)) = slot {
                        assert_eq!(party.arrive(), Ok(phase));
                        *arrived = true;
                    }
                }
                2 => *slot = slot.take().and(None),
                _ => continue,
            }
            // A phase ends when somebody arrives or goes and nobody is missing then.
            let changed = *step >= 2;
            let missing = parties.iter().flatten().filter(|party| !party.1).count();
            let ended = phaser.phase() != phase;
            assert!(!ended || changed && missing == 0, "{sequence:?}");
            if ended {
                phase += 1;
                parties.iter_mut().flatten().for_each(|party| party.1 = false);
            }
            let registered = parties.iter().flatten().count();
            let missing = parties.iter().flatten().filter(|party| !party.1).count();
            assert!(registered == 0 || missing > 0, "nobody is missing: {sequence:?}");
            assert_eq!(phaser.registered_parties(), registered, "{sequence:?}");
            assert_eq!(phaser.unarrived_parties(), missing, "{sequence:?}");
        }
    });
}

#[test]
fn threads_go_through_phases_together() {
    const THREADS: usize = 3;
    const ROUNDS: usize = 300;
    watchdog(|| {
        let phaser = Arc::new(Phaser::new());
        let count = Arc::new(AtomicUsize::new(0));
        let parties = phaser.clone().register_owned(THREADS).unwrap();
        let threads: Vec<_> = parties
            .map(|mut party| {
                let count = count.clone();
                std::thread::spawn(move || {
                    for round in 1..=ROUNDS {
                        count.fetch_add(1, SeqCst);
                        assert_eq!(party.blocking_wait(), Ok(2 * round as u32 - 1));
                        assert_eq!(count.load(SeqCst), round * THREADS);
                        assert_eq!(party.blocking_wait(), Ok(2 * round as u32));
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let phase = phaser.phase();
        let mut party = phaser.register_one().unwrap();
        let other = phaser.register_one().unwrap();
        assert!(party.blocking_wait_timeout(Duration::from_millis(1)).is_none());
        assert!(phaser.blocking_wait_timeout(phase, Duration::ZERO).is_none());
        drop(other);
        assert_eq!(phaser.blocking_wait(phase), Ok(phase + 1));
    });
}

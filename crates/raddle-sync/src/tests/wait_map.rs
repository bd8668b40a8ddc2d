//! The wait map: the right one is woken, values pass on or come back, closing, hostile company.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use raddle_base::random::Rng;

use crate::tests::sequences::every_sequence;
use crate::tests::support::{Counter, Polled, hostile, refusing, watchdog};
use crate::wait_map::OwnedWaitMapWait;
use crate::{CancelExt, CancellationToken, WaitMap};

type Wait = OwnedWaitMapWait<u32, u32, crate::wait_map::DefaultBuildHasher>;

#[test]
fn a_value_reaches_the_first_with_its_key() {
    let map = WaitMap::new();
    let mut waits = [1, 2, 1].map(|key| Polled::pending(map.wait(key)));
    assert_eq!(map.wake(&3, 'x'), Err('x'));
    assert_eq!(map.wake(&1, 'a'), Ok(()));
    assert_eq!(map.wake(&1, 'b'), Ok(()));
    assert_eq!(map.wake(&1, 'c'), Err('c'));
    assert_eq!(map.wake(&2, 'd'), Ok(()));
    let [first, second, third] = &mut waits;
    assert_eq!((third.ready(), second.ready(), first.ready()), (Ok('b'), Ok('d'), Ok('a')));
    assert!(first.poll().is_pending(), "for another value");
    assert_eq!(map.wake(&1, 'e'), Ok(()));
    assert_eq!(first.ready(), Ok('e'));
}

#[test]
fn who_is_enabled_misses_nothing() {
    let map = Arc::new(WaitMap::new());
    let mut wait = Polled::new(map.wait(1));
    assert_eq!(map.wake(&1, 1), Err(1), "not yet");
    wait.future.as_mut().enable();
    wait.future.as_mut().enable();
    assert_eq!(map.wake(&1, 1), Ok(()));
    assert_eq!(wait.ready(), Ok(1));
    let mut owned = Polled::new(map.clone().wait_owned(2));
    owned.future.as_mut().enable();
    assert!(owned.poll().is_pending());
    map.close();
    assert_eq!(owned.wakes(), 1);
    assert!(owned.ready().is_err());
}

#[test]
fn a_value_that_was_not_seen_passes_on_or_is_dropped() {
    let map = WaitMap::new();
    let value = Arc::new(());
    let [first, other, mut second] = [1, 2, 1].map(|key| Polled::pending(map.wait(key)));
    assert!(map.wake(&1, value.clone()).is_ok());
    drop(first);
    assert_eq!((other.wakes(), second.wakes()), (0, 1));
    drop(second.ready());
    let last = Polled::pending(map.wait(1));
    assert!(map.wake(&1, value.clone()).is_ok());
    drop(last);
    assert_eq!(Arc::strong_count(&value), 1, "nobody was there");
    assert!(map.wake(&1, value).is_err());
}

#[test]
fn dropped_at_every_stage() {
    for stage in 0..4 {
        let map = Arc::new(WaitMap::<u32, u32>::new());
        let mut wait = Polled::new(map.clone().wait_owned(1));
        let old = wait.counter.clone();
        if stage >= 1 {
            assert!(wait.poll().is_pending());
        }
        if stage >= 2 {
            wait.counter = Counter::new();
            assert!(wait.poll().is_pending());
            assert_eq!(Arc::strong_count(&old), 1);
        }
        if stage >= 3 {
            assert_eq!(map.wake(&1, 7), Ok(()));
        }
        let new = wait.counter.clone();
        drop((wait, old));
        assert_eq!(Arc::strong_count(&new), 1);
        assert_eq!((map.wake(&1, 8), Arc::strong_count(&map)), (Err(8), 1));
    }
    let (map, token) = (WaitMap::<u32, u32>::new(), CancellationToken::new());
    let mut wait = Polled::pending(map.wait(1).cancel_on(&token));
    token.cancel();
    assert!(wait.ready().is_err());
    drop(wait);
    assert_eq!(map.wake(&1, 1), Err(1));
}

#[test]
fn closing_ends_all_waits_also_when_a_waker_panics() {
    let map = WaitMap::<u32, u32>::new();
    let mut waits: Vec<_> = (0..10_000).map(|key| Polled::pending(map.wait(key))).collect();
    let mut bad: Vec<_> = (0..100).map(|key| Polled::new(map.wait(key))).collect();
    bad.iter_mut().for_each(|wait| assert!(wait.poll_with(&refusing()).is_pending()));
    assert!(!map.is_closed());
    assert!(catch_unwind(AssertUnwindSafe(|| map.close())).is_err());
    assert!(map.is_closed());
    for wait in &mut waits {
        assert_eq!(wait.wakes(), 1);
        assert!(wait.ready().is_err());
    }
    assert!(Polled::new(map.wait(1)).ready().is_err());
    assert_eq!(map.wake(&1, 1), Err(1));
}

#[test]
fn hostile_wakers_may_do_anything() {
    watchdog(|| {
        let map = Arc::new(WaitMap::new());
        let make = || {
            let map = Arc::downgrade(&map);
            hostile(move |_| {
                let Some(map) = map.upgrade() else { return };
                let _ = map.wake(&1, 0);
                let mut wait = Polled::new(map.wait(1));
                let _ = wait.poll();
            })
        };
        for round in 0..4 {
            let mut waits: Vec<_> =
                (0..3).map(|_| Polled::new(map.clone().wait_owned(1))).collect();
            for wait in &mut waits {
                let _ = wait.poll_with(&make());
                let _ = wait.poll_with(&make());
            }
            if round % 2 == 0 {
                let _ = map.wake(&1, 1);
            }
        }
        let mut last = Polled::new(map.wait(1));
        let _ = last.poll_with(&make());
        map.close();
    });
}

/// Two waits for one key and one for another, wakes and drops: every sequence against a list.
#[test]
fn as_its_model() {
    const KEYS: [u32; 3] = [1, 1, 2];
    every_sequence(8, 5, |sequence| {
        let map = Arc::new(WaitMap::new());
        let mut waits: [Option<(Polled<Wait>, Option<u32>)>; 3] = [None, None, None];
        let mut line: VecDeque<usize> = VecDeque::new();
        for (number, step) in sequence.iter().enumerate() {
            let value = number as u32;
            let mut give = |waits: &mut [Option<(Polled<Wait>, Option<u32>)>; 3], key, value| {
                let place = line.iter().position(|slot| KEYS[*slot] == key)?;
                let slot = line.remove(place)?;
                waits[slot].as_mut()?.1 = Some(value);
                Some(())
            };
            match step {
                0..3 => match waits[*step].take() {
                    None => {
                        let wait = Polled::pending(map.clone().wait_owned(KEYS[*step]));
                        waits[*step] = Some((wait, None));
                        line.push_back(*step);
                    }
                    Some((mut wait, Some(value))) => assert_eq!(wait.ready(), Ok(value)),
                    Some((mut wait, None)) => {
                        assert!(wait.poll().is_pending());
                        waits[*step] = Some((wait, None));
                    }
                },
                3..6 => match waits[step - 3].take() {
                    Some((_, Some(value))) => {
                        give(&mut waits, KEYS[step - 3], value);
                    }
                    _ => line.retain(|slot| *slot != step - 3),
                },
                _ => {
                    let key = *step as u32 - 5;
                    let given = give(&mut waits, key, value).is_some();
                    assert_eq!(map.wake(&key, value).is_ok(), given, "{sequence:?}");
                }
            }
            for (wait, value) in waits.iter().flatten() {
                assert_eq!(wait.wakes(), usize::from(value.is_some()), "{sequence:?}");
            }
        }
    });
}

#[test]
fn threads_get_their_own_answers() {
    watchdog(|| {
        let map = Arc::new(WaitMap::new());
        let threads: Vec<_> = (0..4_u32)
            .map(|thread| {
                let map = map.clone();
                std::thread::spawn(move || {
                    for round in 0..500 {
                        let key = round * 4 + thread;
                        assert_eq!(map.blocking_wait(key), Ok(key + 1));
                    }
                })
            })
            .collect();
        let mut rng = Rng::new(1);
        let mut open: Vec<u32> = (0..2_000).collect();
        while !open.is_empty() {
            let place = rng.below(open.len() as u32) as usize;
            match map.wake(&open[place], open[place] + 1) {
                Ok(()) => {
                    open.swap_remove(place);
                }
                Err(_) => std::thread::yield_now(),
            }
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(map.blocking_wait_timeout(1, Duration::from_millis(1)).is_none());
    });
}

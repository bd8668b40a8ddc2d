//! The wheel alone: against an ordered map, and around every boundary.

use std::collections::{BTreeMap, HashMap};
use std::ptr::NonNull;

use raddle_base::random::Rng;

use crate::time::entry::{Entry, Phase};
use crate::time::level::{LEVELS, TICK_BITS, digit, level_of, slot_start};
use crate::time::wheel::Wheel;

const TICK: u64 = 1 << TICK_BITS;
const SECOND: u64 = 1_000_000_000;

/// A wheel that owns its entries, with the ordered map that it is compared with.
struct Tested {
    wheel: Wheel,
    entries: HashMap<usize, Box<Entry>>,
    oracle: BTreeMap<(u64, usize), ()>,
    now: u64,
}

impl Tested {
    fn new(now: u64) -> Self {
        let mut wheel = Wheel::new();
        wheel.advance(now);
        Tested { wheel, entries: HashMap::new(), oracle: BTreeMap::new(), now }
    }

    fn insert(&mut self, deadline: u64) -> usize {
        let entry = Box::new(Entry::new(deadline, Phase::Idle));
        let address = std::ptr::from_ref(&*entry).addr();
        // SAFETY: the box keeps the entry in place until it is popped or removed below.
        unsafe { self.wheel.insert(NonNull::from(&*entry)) };
        self.entries.insert(address, entry);
        self.oracle.insert((deadline, address), ());
        address
    }

    fn remove(&mut self, address: usize) {
        let entry = self.entries.remove(&address).unwrap();
        // SAFETY: entries in the map are linked.
        unsafe { self.wheel.remove(NonNull::from(&*entry)) };
        self.oracle.remove(&(entry.deadline(), address)).unwrap();
    }

    /// Advances and compares what fires with what should.
    fn advance(&mut self, now: u64) -> usize {
        let before = self.now;
        let mut last = before;
        self.now = self.now.max(now);
        self.wheel.advance(now);
        let mut fired = 0;
        while let Some(entry) = self.wheel.pop_due() {
            let address = entry.as_ptr().addr();
            let entry = self.entries.remove(&address).expect("fired once");
            assert!(entry.deadline() <= self.now, "early: {} at {}", entry.deadline(), self.now);
            self.oracle.remove(&(entry.deadline(), address)).expect("known to the oracle");
            // In the order of ticks; what was due when it was inserted comes first.
            let known = entry.deadline().max(before);
            assert!(known >> TICK_BITS >= last >> TICK_BITS, "out of order");
            last = known;
            fired += 1;
        }
        let late = self.oracle.range(..(self.now.saturating_add(1), 0)).next();
        assert_eq!(late, None, "overdue at {}", self.now);
        self.check_next();
        fired
    }

    /// `next` is never after the earliest deadline.
    fn check_next(&self) {
        let earliest = self.oracle.first_key_value().map(|((deadline, _), ())| *deadline);
        match (self.wheel.next(), earliest) {
            (None, None) => {}
            (Some(next), Some(earliest)) => assert!(next <= earliest.max(self.wheel.elapsed())),
            (next, earliest) => panic!("next {next:?}, earliest {earliest:?}"),
        }
        assert_eq!(self.wheel.is_empty(), self.oracle.is_empty());
    }

    fn next_exactly(&self) -> u64 {
        let ((earliest, _), ()) = self.oracle.first_key_value().unwrap();
        assert_eq!(self.wheel.next(), Some(*earliest));
        *earliest
    }
}

/// The first nanosecond of each level's second slot: where digits carry.
fn boundaries() -> impl Iterator<Item = u64> {
    (0..LEVELS).map(|level| slot_start(0, level, 1))
}

#[test]
fn digits_cover_all_of_time() {
    assert_eq!(LEVELS, 8);
    assert_eq!(level_of(0, u64::MAX), 7);
    assert_eq!(digit(u64::MAX, 7), 15);
    assert_eq!(level_of(5, 6), 0);
    assert_eq!(level_of(0, TICK * 1023), 0);
    assert_eq!(digit(TICK * 1023, 0), 1023);
    assert_eq!(level_of(0, TICK * 1024), 1);
    assert_eq!(digit(TICK * 1024, 1), 1);
    assert_eq!(level_of(0, TICK * 1024 * 64), 2);
    // The digits together are the time, in ticks.
    let time = 0xfedc_ba98_7654_3210_u64;
    let whole = |sum, level| sum | slot_start(0, level, digit(time, level));
    assert_eq!((0..LEVELS).fold(0, whole) >> TICK_BITS, time >> TICK_BITS);
}

#[test]
fn the_next_deadline_is_exact() {
    let mut tested = Tested::new(7 * SECOND + 13);
    for ahead in [100 * SECOND, 3 * SECOND, 10_000_001, 100_003, 100_001, 1, 400] {
        tested.insert(tested.now + ahead);
        tested.next_exactly();
    }
    // One advance to each deadline, exactly: never early, and the rest stays exact.
    while !tested.oracle.is_empty() {
        let next = tested.next_exactly();
        assert_eq!(tested.advance(next - 1), 0);
        assert_eq!(tested.advance(next), 1);
    }
}

/// Around each boundary, from two seconds before to two after, with a timer parked far away: an
/// interval of 333 ms and a short sleep fire on time.
#[test]
fn every_level_boundary_is_crossed_on_time() {
    let starts = boundaries().chain([
        boundaries().last().unwrap() * 2,
        boundaries().last().unwrap() * 3,
        1_071_356_000_000_000, // 12.4 days: where a wheel of six levels of milliseconds wraps.
    ]);
    for boundary in starts {
        let mut tested = Tested::new(boundary.saturating_sub(2 * SECOND));
        let end = boundary + 2 * SECOND;
        tested.insert(u64::MAX - 1);
        tested.insert(end + 40 * 86_400 * SECOND);
        let mut tick = tested.now;
        while tick < end {
            tick += 333_000_000;
            tested.insert(tick);
            tested.insert(tick - 1_000_000);
            assert_eq!(tested.next_exactly(), tick - 1_000_000);
            assert_eq!(tested.advance(tick - 1_000_001), 0);
            assert_eq!(tested.advance(tick - 1_000_000), 1);
            assert_eq!(tested.next_exactly(), tick);
            assert_eq!(tested.advance(tick - 1), 0);
            assert_eq!(tested.advance(tick), 1);
        }
    }
}

#[test]
fn deadlines_a_nanosecond_around_every_boundary() {
    for boundary in boundaries() {
        let mut tested = Tested::new(boundary - 3);
        for delta in 0..8 {
            tested.insert(boundary - 3 + delta);
        }
        assert_eq!(tested.advance(boundary - 3), 1, "due when it was inserted");
        for delta in 1..8 {
            assert_eq!(tested.advance(boundary - 3 + delta), 1);
        }
    }
}

#[test]
fn the_end_of_time_is_reached() {
    let mut tested = Tested::new(u64::MAX - 5 * SECOND);
    tested.insert(u64::MAX);
    tested.insert(u64::MAX - 1);
    tested.insert(u64::MAX - SECOND);
    assert_eq!(tested.next_exactly(), u64::MAX - SECOND);
    assert_eq!(tested.advance(u64::MAX - SECOND - 1), 0);
    assert_eq!(tested.advance(u64::MAX - SECOND), 1);
    assert_eq!(tested.advance(u64::MAX - 1), 1);
    assert_eq!(tested.next_exactly(), u64::MAX);
    assert_eq!(tested.advance(u64::MAX), 1);
    assert!(tested.wheel.is_empty());
}

#[test]
fn one_long_jump_fires_everything() {
    let mut tested = Tested::new(0);
    let mut rng = Rng::new(3);
    for _ in 0..1000 {
        tested.insert(rng.next_u64() >> rng.below(50));
    }
    assert_eq!(tested.advance(u64::MAX), 1000 - tested.oracle.len());
    assert!(tested.oracle.is_empty());
}

#[test]
fn time_does_not_run_backwards() {
    let mut tested = Tested::new(50 * SECOND);
    tested.insert(51 * SECOND);
    assert_eq!(tested.advance(SECOND), 0);
    assert_eq!(tested.wheel.elapsed(), 50 * SECOND);
    assert_eq!(tested.advance(51 * SECOND), 1);
}

/// Cancelling the earliest may leave a bound behind, but it is cleaned up by looking.
#[test]
fn a_cancelled_bound_is_early_and_heals() {
    let mut tested = Tested::new(10 * SECOND);
    let early = tested.insert(20 * SECOND);
    tested.insert(20 * SECOND + 500_000_000);
    tested.remove(early);
    tested.check_next();
    assert_eq!(tested.advance(20 * SECOND), 0);
    tested.next_exactly();
}

/// Random insert, remove and advance against an ordered map.
fn compare(seed: u64, start: u64, steps: usize) {
    let mut rng = Rng::new(seed);
    let mut tested = Tested::new(start);
    for _ in 0..steps {
        match rng.below(10) {
            0..5 => {
                let span = rng.next_u64() >> rng.below(64);
                tested.insert(tested.now.saturating_add(span));
            }
            5..7 => {
                let live: Vec<usize> = tested.oracle.keys().map(|(_, address)| *address).collect();
                if !live.is_empty() {
                    tested.remove(live[rng.below(live.len() as u32) as usize]);
                    tested.check_next();
                }
            }
            7..9 => {
                let span = rng.next_u64() >> (20 + rng.below(44));
                tested.advance(tested.now.saturating_add(span));
            }
            _ => {
                if let Some(next) = tested.wheel.next() {
                    tested.advance(next);
                }
            }
        }
    }
    tested.advance(u64::MAX);
    assert!(tested.wheel.is_empty());
}

#[test]
fn agrees_with_an_ordered_map() {
    for seed in 0..60 {
        compare(seed, 0, 1_000);
        compare(1000 + seed, seed * 86_400 * SECOND, 1_000);
        compare(2000 + seed, u64::MAX - (1 << (14 + seed % 50)), 1_000);
    }
}

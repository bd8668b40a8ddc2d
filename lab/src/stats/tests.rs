//! The statistics against simple oracles.

use super::*;

fn noise(random: &mut Random) -> f64 {
    // Sum of twelve uniforms: mean 0, standard deviation 1.
    (0..12).map(|_| random.next() as f64 / u64::MAX as f64).sum::<f64>() - 6.0
}

fn synthetic(ratio: f64, sd: f64, order_effect: f64, pairs: usize, seed: u64) -> Vec<Pair> {
    let mut random = Random::new(seed);
    (0..pairs)
        .map(|i| {
            let first = if i % 2 == 0 { First::A } else { First::B };
            let shift = if first == First::A { order_effect } else { -order_effect };
            Pair { log_ratio: ratio.ln() + shift + sd * noise(&mut random), first }
        })
        .collect()
}

#[test]
fn percentile_is_the_smallest_value_with_enough_at_or_below_it() {
    for n in 1..200usize {
        let sorted: Vec<usize> = (1..=n).collect();
        for percent in 1..=100usize {
            // Oracle in whole numbers: the smallest rank r with 100·r ≥ percent·n.
            let oracle = (1..=n).find(|rank| rank * 100 >= percent * n).unwrap();
            assert_eq!(percentile(&sorted, percent as f64 / 100.0), Some(oracle), "{n} {percent}");
        }
    }
}

#[test]
fn percentile_at_the_edges() {
    assert_eq!(percentile::<u32>(&[], 0.5), None);
    assert_eq!(percentile(&[7], 0.0), Some(7));
    assert_eq!(percentile(&[7, 8], 0.0), Some(7));
    assert_eq!(percentile(&[7, 8], 1.0), Some(8));
}

#[test]
fn median_of_unsorted_values() {
    assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(&[]), None);
}

#[test]
fn equal_pairs_give_their_ratio_and_an_empty_interval() {
    let pairs = synthetic(0.5, 0.0, 0.0, 30, 1);
    let found = estimate(&pairs, 1000, 2).unwrap();
    for value in [found.ratio, found.low, found.high] {
        assert!((value - 0.5).abs() < 1e-12, "{found:?}");
    }
}

#[test]
fn order_effects_cancel() {
    let pairs = synthetic(0.8, 0.0, 0.3, 30, 1);
    let found = estimate(&pairs, 1000, 2).unwrap();
    assert!((found.ratio - 0.8).abs() < 1e-12, "{found:?}");
    assert!((found.high - found.low).abs() < 1e-12, "within an order nothing varies: {found:?}");
}

#[test]
fn interval_width_is_that_of_the_normal_approximation() {
    let (sd, n) = (0.1, 120);
    let found = estimate(&synthetic(1.0, sd, 0.2, n, 3), RESAMPLES, 4).unwrap();
    let expected = 2.0 * 1.96 * sd / (n as f64).sqrt();
    let width = found.high.ln() - found.low.ln();
    assert!((width / expected - 1.0).abs() < 0.25, "width {width}, expected {expected}");
}

#[test]
fn interval_covers_the_known_ratio_about_as_often_as_it_says() {
    let covered = (0..300u64)
        .filter(|&seed| {
            let found = estimate(&synthetic(0.9, 0.08, 0.05, 60, seed), 2000, seed ^ 77).unwrap();
            found.low <= 0.9 && 0.9 <= found.high
        })
        .count();
    // 95 % of 300 is 285; the standard deviation is 3.8, percentile intervals cover a bit less.
    assert!((265..=298).contains(&covered), "{covered} of 300");
}

#[test]
fn side_of_a_limit() {
    let found = Estimate { ratio: 0.9, low: 0.85, high: 0.95 };
    assert_eq!(found.side(0.95), Some(Ordering::Less));
    assert_eq!(found.side(0.90), None);
    assert_eq!(found.side(0.84), Some(Ordering::Greater));
}

#[test]
fn one_order_alone_is_estimated_too() {
    let pairs = [Pair { log_ratio: 2f64.ln(), first: First::A }];
    assert!((estimate(&pairs, 10, 1).unwrap().ratio - 2.0).abs() < 1e-12);
    assert!(estimate(&[], 10, 1).is_none());
}

#[test]
fn below_is_uniform_enough() {
    let mut random = Random::new(9);
    let mut seen = [0u32; 7];
    for _ in 0..70_000 {
        seen[random.below(7)] += 1;
    }
    assert!(seen.iter().all(|&count| (9_500..10_500).contains(&count)), "{seen:?}");
}

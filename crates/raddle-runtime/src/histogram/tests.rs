//! Buckets cover all lengths without gap or overlap, percentiles are those of a sorted list up to
//! the width of a bucket, and merging is counting together.

use super::*;

use raddle_base::random::Rng;

fn of(nanos: impl IntoIterator<Item = u64>) -> Histogram {
    let recorder = Recorder::new();
    nanos.into_iter().for_each(|nanos| recorder.record(Duration::from_nanos(nanos), 1));
    recorder.snapshot()
}

#[test]
fn buckets_follow_each_other_without_gap() {
    assert_eq!(lower_end(0), 0);
    for bucket in 0..BUCKETS - 1 {
        assert_eq!(upper_end(bucket) + 1, lower_end(bucket + 1));
        assert!(lower_end(bucket) <= upper_end(bucket), "bucket {bucket}");
    }
    assert_eq!(upper_end(BUCKETS - 1), u64::MAX);
}

#[test]
fn each_length_lies_in_its_bucket() {
    let mut rng = Rng::new(1);
    let near = |bit: u32| [(1u64 << bit) - 1, 1 << bit, (1 << bit) + 1];
    let random = (0..100_000).map(|n| rng.next_u64() >> (n % 64));
    for nanos in (0..64).flat_map(near).chain([0, u64::MAX]).chain(random) {
        let bucket = bucket_of(nanos);
        assert!(bucket < BUCKETS);
        assert!((lower_end(bucket)..=upper_end(bucket)).contains(&nanos), "{nanos}");
    }
}

#[test]
fn buckets_are_a_quarter_wide_at_most() {
    for bucket in 0..BUCKETS - 1 {
        let (low, high) = (lower_end(bucket), upper_end(bucket));
        assert!(low < 8 && low == high || 4 * (high + 1 - low) <= low, "{low}..={high}");
    }
}

#[test]
fn percentiles_are_those_of_the_sorted_list_up_to_a_bucket() {
    let mut rng = Rng::new(2);
    let mut lengths: Vec<u64> = (0..10_000).map(|n| rng.next_u64() >> (20 + n % 40)).collect();
    let histogram = of(lengths.iter().copied());
    lengths.sort_unstable();
    assert_eq!(histogram.count(), 10_000);
    assert_eq!(histogram.max(), Duration::from_nanos(lengths[9_999]));
    for q in [0.0f64, 0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0] {
        let place = ((q * 10_000.0).ceil() as usize).max(1);
        let exact = lengths[place - 1];
        let told = histogram.percentile(q).as_nanos() as u64;
        assert_eq!(bucket_of(told), bucket_of(exact), "{q}: {told} for {exact}");
        assert!(told >= exact, "{q}: {told} for {exact}");
    }
    assert_eq!(histogram.percentile(1.0), histogram.max());
}

#[test]
fn one_length_is_all_percentiles() {
    let histogram = of([1_000_003]);
    for q in [0.0, 0.5, 1.0] {
        assert_eq!(histogram.percentile(q), Duration::from_nanos(1_000_003));
    }
}

#[test]
fn nothing_counted_is_zero_everywhere() {
    let histogram = Recorder::new().snapshot();
    assert!(histogram.is_empty());
    assert_eq!(histogram, Histogram::new());
    assert_eq!((histogram.count(), histogram.max()), (0, Duration::ZERO));
    assert_eq!(histogram.percentile(0.99), Duration::ZERO);
    assert_eq!(histogram.buckets().count(), 0);
    assert_eq!(histogram.to_string(), "none");
}

#[test]
fn merging_is_counting_together() {
    let (a, b) = (vec![1, 5, 900, 77_777], vec![3, 900, u64::MAX]);
    let mut merged = of(a.iter().copied());
    merged.merge(&of(b.iter().copied()));
    assert_eq!(merged, of(a.iter().chain(&b).copied()));
    let mut empty = Histogram::new();
    empty.merge(&merged);
    assert_eq!(empty, merged);
    merged.merge(&Histogram::new());
    assert_eq!(empty, merged);
}

#[test]
fn a_length_may_be_counted_many_times_at_once() {
    let recorder = Recorder::new();
    recorder.record(Duration::from_nanos(100), 63);
    recorder.record(Duration::from_micros(9), 1);
    let histogram = recorder.snapshot();
    assert_eq!(histogram.count(), 64);
    let expected = [(Duration::from_nanos(96)..=Duration::from_nanos(111), 63), {
        let bucket = bucket_of(9_000);
        let from = Duration::from_nanos(lower_end(bucket));
        (from..=Duration::from_nanos(upper_end(bucket)), 1)
    }];
    assert_eq!(histogram.buckets().collect::<Vec<_>>(), expected);
    assert_eq!(histogram.to_string(), "p50 111.0ns, p90 111.0ns, p99 9.0µs, max 9.0µs of 64");
}

#[test]
#[should_panic(expected = "a share is from 0 to 1, not 99")]
fn a_percentile_is_a_share() {
    let _ = Histogram::new().percentile(99.0);
}

//! Time-outs and intervals on a clock wound by hand.

use std::future::{pending, poll_fn, ready};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use crate::time::current::install;
use crate::time::tests::support::{Count, hand, poll, timers, wind};
use crate::time::{
    Instant, Interval, MissedTickBehavior, interval, interval_at, timeout, timeout_at,
};

const MS: u64 = 1_000_000;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[test]
fn timeout_prefers_what_is_ready() {
    let (timers, _) = timers();
    let _installed = install(&timers);
    let (_, waker) = Count::new();
    let done = poll(pin!(timeout(Duration::ZERO, ready(7))), &waker);
    assert_eq!(done, Poll::Ready(Ok(7)));
    let over = poll(pin!(timeout_at(hand(), pending::<()>())), &waker);
    assert!(matches!(over, Poll::Ready(Err(_))));
    assert_eq!(timers.next(), None);
}

#[test]
fn timeout_gives_up_at_the_deadline() {
    let (timers, _) = timers();
    let _installed = install(&timers);
    let (count, waker) = Count::new();
    let mut limited = pin!(timeout(ms(3), pending::<()>()));
    let deadline = limited.deadline();
    assert!(poll(limited.as_mut(), &waker).is_pending());
    assert_eq!(timers.fire(deadline, 32), 1);
    assert_eq!(count.get(), 1);
    let Poll::Ready(Err(elapsed)) = poll(limited, &waker) else { panic!("still pending") };
    assert_eq!(elapsed.to_string(), "deadline has elapsed");
    assert_eq!(std::io::Error::from(elapsed).kind(), std::io::ErrorKind::TimedOut);
}

/// A future that takes the whole budget in every poll is given up all the same.
#[test]
fn timeout_beats_a_future_that_spends_every_budget() {
    let (timers, _) = timers();
    let _installed = install(&timers);
    let (_, waker) = Count::new();
    let mut limited = pin!(timeout(
        ms(3),
        poll_fn(|cx| {
            while raddle_base::context::check_budget(cx).is_ready() {
                raddle_base::context::spend();
            }
            Poll::<()>::Pending
        })
    ));
    let mut poll_as_task = || {
        raddle_base::context::begin_poll(waker.data());
        let polled = poll(limited.as_mut(), &waker);
        raddle_base::context::end_poll();
        polled
    };
    assert!(poll_as_task().is_pending());
    timers.fire(hand() + ms(3), 32);
    assert!(matches!(poll_as_task(), Poll::Ready(Err(_))));
}

/// When each of the first ticks is due, with the consumer away between 10 and 32 ms.
fn ticks(behavior: MissedTickBehavior) -> Vec<u64> {
    wind(1_000 * MS);
    let (timers, _) = timers();
    let _installed = install(&timers);
    let (_, waker) = Count::new();
    let mut interval = interval(ms(10));
    interval.set_missed_tick_behavior(behavior);
    let mut seen = Vec::new();
    for now in [0, 10, 32, 32, 32, 40, 42, 50, 52] {
        wind((1_000 + now) * MS);
        timers.fire(hand(), usize::MAX);
        if tick(&mut interval, &waker).is_some() {
            seen.push(now);
        }
    }
    seen
}

fn tick(interval: &mut Interval, waker: &std::task::Waker) -> Option<Instant> {
    match interval.poll_tick(&mut std::task::Context::from_waker(waker)) {
        Poll::Ready(due) => Some(due),
        Poll::Pending => None,
    }
}

#[test]
fn missed_ticks() {
    assert_eq!(ticks(MissedTickBehavior::Burst), [0, 10, 32, 32, 40, 50]);
    assert_eq!(ticks(MissedTickBehavior::Delay), [0, 10, 32, 42, 52]);
    assert_eq!(ticks(MissedTickBehavior::Skip), [0, 10, 32, 40, 50]);
}

/// With a far-off timer parked, an interval keeps time for a virtual hour.
#[test]
fn an_interval_keeps_time_for_an_hour() {
    wind(1_071_355_999 * MS);
    let (timers, _) = timers();
    let _installed = install(&timers);
    let (_, waker) = Count::new();
    let mut far = pin!(timeout(ms(400 * 86_400_000), pending::<()>()));
    assert!(poll(far.as_mut(), &waker).is_pending());
    let start = hand();
    let mut interval = interval_at(start, ms(333));
    for n in 0..10_810 {
        let due = start + ms(333) * n;
        if n > 0 {
            assert_eq!(tick(&mut interval, &waker), None);
            assert_eq!(timers.next(), Some(due));
            wind(due.as_nanos());
            assert_eq!(timers.fire(due, 32), 1);
        }
        assert_eq!(tick(&mut interval, &waker), Some(due));
    }
}

#[test]
fn an_interval_is_reset() {
    wind(1_000 * MS);
    let (timers, _) = timers();
    let _installed = install(&timers);
    let (_, waker) = Count::new();
    let mut interval = interval(ms(10));
    assert!(tick(&mut interval, &waker).is_some());
    interval.reset_after(ms(4));
    assert_eq!(tick(&mut interval, &waker), None);
    assert_eq!(timers.next(), Some(hand() + ms(4)));
    interval.reset_immediately();
    assert_eq!(timers.fire(hand(), 32), 1);
    assert_eq!(tick(&mut interval, &waker), Some(hand()));
    assert_eq!(tick(&mut interval, &waker), None);
    assert_eq!(timers.next(), Some(hand() + ms(10)));
    interval.reset();
    assert_eq!(interval.period(), ms(10));
}

#[test]
#[should_panic(expected = "must not be zero")]
fn a_period_of_zero_is_refused() {
    drop(interval(Duration::ZERO));
}

#[test]
fn futures_are_send_and_small() {
    fn send<T: Send>(_: &T) {}
    let sleep = crate::time::sleep(ms(1));
    send(&sleep);
    send(&timeout(ms(1), ready(())));
    send(&interval(ms(1)));
    assert!(size_of_val(&sleep) <= 64, "{}", size_of_val(&sleep));
}

#[test]
fn a_sleep_knows_where_it_was_written() {
    let line = line!() + 1;
    let sleep = crate::time::sleep(ms(1));
    assert_eq!(sleep.wait_site().location.line(), line);
    assert!(sleep.wait_site().to_string().starts_with("a point in time at "));
}

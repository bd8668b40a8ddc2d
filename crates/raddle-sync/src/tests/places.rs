//! Places that are reserved, several at once, in each channel whose senders wait: as a model of a
//! few lines under every sequence of operations, in a crowd, with wakers that bite, as a sink.

use std::collections::{HashSet, VecDeque};

use super::sequences::every_sequence;

const CAPACITY: usize = 3;
const OPERATIONS: usize = 10;

/// Places in use, and a line of those who want some.
#[derive(Default)]
struct Model {
    values: usize,
    held: usize,
    line: VecDeque<(usize, usize)>,
    granted: HashSet<usize>,
}

impl Model {
    fn free(&self) -> usize {
        CAPACITY - self.values - self.held
    }

    fn takes(&self, want: usize) -> bool {
        self.line.is_empty() && want <= self.free()
    }

    /// Serves the line.
    fn settle(&mut self) {
        while let Some((number, want)) = self.line.front().copied()
            && want <= self.free()
        {
            self.line.pop_front();
            self.held += want;
            self.granted.insert(number);
        }
    }

    /// One that waits gives up.
    fn leave(&mut self, number: usize, want: usize) {
        if self.granted.remove(&number) {
            self.held -= want;
        }
        self.line.retain(|(other, _)| *other != number);
        self.settle();
    }
}

macro_rules! places_of {
    ($channel:ident: $sender:ty, $receiver:ty, $make:ident) => {
        mod $channel {
            use std::panic::{AssertUnwindSafe, catch_unwind};
            use std::pin::pin;
            use std::sync::Arc;

            use futures_sink::Sink;
            use raddle_base::random::Rng;

            use super::*;
            use crate::tests::support::{Polled, hostile, now, refusing, watchdog};
            use crate::$channel::*;

            struct World<'a> {
                tx: &'a $sender,
                rx: &'a mut $receiver,
                waits: VecDeque<(usize, usize, Polled<ReserveMany<'a, u32>>)>,
                permits: VecDeque<PermitIterator<'a, u32>>,
                model: Model,
                next: usize,
            }

            impl World<'_> {
                fn step(&mut self, operation: usize) {
                    self.next += 1;
                    match operation {
                        0 => {
                            let takes = self.model.takes(1);
                            assert_eq!(self.tx.try_send(1).is_ok(), takes);
                            self.model.values += usize::from(takes);
                        }
                        1 => {
                            assert_eq!(self.rx.try_recv().is_ok(), self.model.values > 0);
                            self.model.values = self.model.values.saturating_sub(1);
                        }
                        2..=4 => self.wait(operation - 1),
                        5 | 6 => {
                            let ends = &mut self.waits;
                            let gone =
                                if operation == 5 { ends.pop_front() } else { ends.pop_back() };
                            if let Some((number, want, wait)) = gone {
                                drop(wait);
                                self.model.leave(number, want);
                            }
                        }
                        7 => self.poll_oldest(),
                        _ => self.use_oldest(operation == 9),
                    }
                    self.model.settle();
                    self.compare();
                }

                fn wait(&mut self, want: usize) {
                    let mut wait = Polled::new(self.tx.reserve_many(want));
                    if self.model.takes(want) {
                        self.model.held += want;
                        return self.permits.push_back(wait.ready().unwrap());
                    }
                    assert!(wait.poll().is_pending());
                    self.model.line.push_back((self.next, want));
                    self.waits.push_back((self.next, want, wait));
                }

                fn poll_oldest(&mut self) {
                    let Some((number, want, mut wait)) = self.waits.pop_front() else { return };
                    if self.model.granted.remove(&number) {
                        assert_eq!(wait.wakes(), 1);
                        return self.permits.push_back(wait.ready().unwrap());
                    }
                    assert!(wait.poll().is_pending());
                    self.waits.push_front((number, want, wait));
                }

                /// Gives the oldest places back, after one value is sent, if `sends`.
                fn use_oldest(&mut self, sends: bool) {
                    let Some(mut permits) = self.permits.pop_front() else { return };
                    let count = permits.len();
                    if sends {
                        let _ = permits.next().unwrap().send(2);
                        self.model.values += 1;
                    }
                    assert_eq!(permits.len(), count - usize::from(sends));
                    drop(permits);
                    self.model.held -= count;
                }

                fn compare(&self) {
                    for want in 1..=CAPACITY {
                        let takes = self.tx.try_reserve_many(want).is_ok();
                        assert_eq!(takes, self.model.takes(want), "{want}");
                    }
                    for (number, _, wait) in &self.waits {
                        let granted = self.model.granted.contains(number);
                        assert_eq!(wait.wakes(), usize::from(granted));
                    }
                }
            }

            fn take(rx: &mut $receiver) -> Option<u32> {
                rx.try_recv().ok()
            }

            fn as_its_model(all: &[usize]) {
                let (tx, mut rx) = $make::<u32>(CAPACITY);
                let (waits, permits) = (VecDeque::new(), VecDeque::new());
                let model = Model::default();
                let mut world = World { tx: &tx, rx: &mut rx, waits, permits, model, next: 0 };
                all.iter().for_each(|operation| world.step(*operation));
            }

            #[test]
            fn every_sequence_as_the_model() {
                watchdog(|| {
                    every_sequence(OPERATIONS, 4, as_its_model);
                    for seed in 0..300 {
                        let mut rng = Rng::new(seed);
                        let all = (0..60).map(|_| rng.below(OPERATIONS as _) as usize);
                        as_its_model(&all.collect::<Vec<_>>());
                    }
                });
            }

            #[test]
            fn ten_thousand_want_one_or_several() {
                let (tx, _rx) = $make::<u32>(CAPACITY);
                let held = tx.try_reserve_many(CAPACITY).unwrap();
                let want = |i: usize| 1 + i % CAPACITY;
                let mut waits: Vec<_> =
                    (0..10_000).map(|i| (i, Polled::pending(tx.reserve_many(want(i))))).collect();
                waits.retain(|(i, _)| i % 7 != 3);
                drop(held);
                for (i, wait) in &mut waits {
                    assert_eq!((wait.wakes(), wait.ready().unwrap().len()), (1, want(*i)));
                }
                assert_eq!(tx.try_reserve_many(CAPACITY).unwrap().len(), CAPACITY);
            }

            #[test]
            fn wakers_that_come_back() {
                watchdog(|| {
                    let (tx, mut rx) = $make::<u32>(CAPACITY);
                    let weak = tx.downgrade();
                    let act = Arc::new(move || {
                        let Some(tx) = weak.upgrade() else { return };
                        let _ = (tx.try_send(1), tx.try_reserve_many(2).map(drop));
                        let _ = Polled::new(tx.reserve_many(3)).poll().map(drop);
                        let _ = Polled::new(tx.reserve()).poll().map(drop);
                    });
                    for _ in 0..3 {
                        let held = tx.try_reserve();
                        let mut waits: Vec<_> =
                            (0..9).map(|i| Polled::new(tx.reserve_many(1 + i % 3))).collect();
                        for _ in 0..3 {
                            let waker = || {
                                let act = act.clone();
                                hostile(move |_| act())
                            };
                            waits.retain_mut(|wait| wait.poll_with(&waker()).is_pending());
                            let _ = (take(&mut rx), waits.pop());
                        }
                        drop((held, waits));
                        while take(&mut rx).is_some() {}
                    }
                    assert!(tx.try_reserve_many(CAPACITY).is_ok());
                });
            }

            #[test]
            fn a_waker_that_panics_strands_nobody() {
                let (tx, _rx) = $make::<u32>(CAPACITY);
                let mut held = tx.try_reserve_many(CAPACITY).unwrap();
                // Two are gathered for the one that goes; the next in line gets one of them.
                let goes = Polled::pending(tx.reserve_many(3));
                let mut bad = Polled::new(tx.reserve());
                assert!(bad.poll_with(&refusing()).is_pending());
                let mut behind = Polled::pending(tx.reserve());
                let mut last = Polled::pending(tx.reserve_many(2));
                drop((held.next(), held.next()));
                assert_eq!((goes.wakes(), behind.wakes()), (0, 0), "nobody overtakes");
                assert!(catch_unwind(AssertUnwindSafe(|| drop(goes))).is_err());
                assert_eq!((behind.wakes(), last.wakes()), (1, 0));
                drop((bad.ready().unwrap(), behind.ready().unwrap()));
                assert_eq!((last.wakes(), last.ready().unwrap().len()), (1, 2));
                drop(held);
                assert!(tx.try_reserve_many(CAPACITY).is_ok());
            }

            #[test]
            fn what_was_gathered_is_free_when_nobody_waits() {
                let (tx, rx) = $make::<u32>(CAPACITY);
                let mut held = tx.try_reserve_many(CAPACITY).unwrap();
                let goes = Polled::pending(tx.reserve_many(3));
                drop(held.next());
                assert!(tx.try_send(1).is_err() && tx.try_reserve().is_err());
                drop(goes);
                assert!(tx.try_reserve_many(2).is_err());
                let mut one = tx.try_reserve().unwrap();
                // Dropped by the last receiver, with something gathered.
                let mut refused = Polled::pending(tx.reserve_many(2));
                drop(std::mem::replace(&mut one, held.next().unwrap()));
                assert!(refused.poll().is_pending());
                drop(rx);
                assert_eq!(refused.wakes(), 1);
                assert!(refused.ready().is_err());
                drop((one, held));
                assert!(now(tx.reserve_many(1)).is_err() && tx.try_reserve_many(1).is_err());
            }

            #[test]
            fn a_sink_waits_for_room_and_lets_go() {
                let (tx, mut rx) = $make::<u32>(1);
                let mut sink = pin!(SenderSink::new(tx.clone()));
                assert!(sink.as_mut().start_send(0).is_err(), "not asked for room");
                for _ in 0..2 {
                    now(std::future::poll_fn(|cx| sink.as_mut().poll_ready(cx))).unwrap();
                }
                sink.as_mut().start_send(7).unwrap();
                let mut waits =
                    Polled::pending(std::future::poll_fn(|cx| sink.as_mut().poll_ready(cx)));
                assert_eq!(take(&mut rx), Some(7));
                assert_eq!(waits.wakes(), 1);
                waits.ready().unwrap();
                drop(waits);
                assert!(tx.try_reserve().is_err(), "the sink has the room");
                now(std::future::poll_fn(|cx| sink.as_mut().poll_flush(cx))).unwrap();
                assert!(sink.sender().is_some_and(|own| own.same_channel(&tx)));
                now(std::future::poll_fn(|cx| sink.as_mut().poll_close(cx))).unwrap();
                assert!(sink.sender().is_none() && tx.try_reserve().is_ok());
                assert!(now(std::future::poll_fn(|cx| sink.as_mut().poll_ready(cx))).is_err());
                assert_eq!(tx.strong_count(), 1);
                // A place that was reserved is good for one value and no more, also at the end.
                let mut sink = Box::pin(SenderSink::new(tx.clone()));
                now(std::future::poll_fn(|cx| sink.as_mut().poll_ready(cx))).unwrap();
                drop(rx);
                let _ = sink.as_mut().start_send(1);
                assert!(sink.as_mut().start_send(2).is_err());
                assert!(now(std::future::poll_fn(|cx| sink.as_mut().poll_ready(cx))).is_err());
                assert_eq!(tx.strong_count(), 2);
                drop(sink);
                assert_eq!(tx.strong_count(), 1);
            }

            #[test]
            fn threads_wait_for_places_for_a_while() {
                let (tx, rx) = $make::<u32>(1);
                let moment = std::time::Duration::from_millis(1);
                let place = tx.blocking_reserve().unwrap();
                assert!(tx.blocking_reserve_timeout(moment).is_none());
                drop(place);
                assert!(tx.blocking_reserve_timeout(moment).unwrap().is_ok());
                assert!(!tx.blocking_closed_timeout(moment));
                drop(rx);
                assert!(tx.blocking_closed_timeout(moment));
                tx.blocking_closed();
                assert!(tx.blocking_reserve().is_err());
            }

            #[test]
            fn several_are_received_in_time_or_none() {
                let (tx, mut rx) = $make::<u32>(3);
                let moment = std::time::Duration::from_millis(1);
                let mut all = Vec::new();
                assert!(batch(&mut rx, &mut all, moment).is_err());
                (0..3).for_each(|i| assert!(tx.try_send(i).is_ok()));
                assert_eq!(batch(&mut rx, &mut all, std::time::Duration::ZERO), Ok(2));
                assert_eq!(all, [0, 1]);
            }

            fn batch(
                rx: &mut $receiver,
                all: &mut Vec<u32>,
                time: std::time::Duration,
            ) -> Result<usize, RecvTimeoutError> {
                rx.blocking_recv_many_timeout(all, 2, time)
            }

            #[test]
            fn weak_senders_are_counted() {
                let (tx, _rx) = $make::<u32>(1);
                let (weak, second) = (tx.downgrade(), tx.clone());
                let other = weak.clone();
                assert_eq!((tx.strong_count(), tx.weak_count()), (2, 2));
                drop((other, second));
                assert_eq!((weak.strong_count(), weak.weak_count()), (1, 1));
                assert!(weak.upgrade().unwrap().same_channel(&tx));
                drop(tx);
                assert!(weak.upgrade().is_none());
                assert_eq!((weak.strong_count(), weak.weak_count()), (0, 1));
            }
        }
    };
}

places_of!(mpsc: Sender<u32>, Receiver<u32>, channel);
places_of!(mpmc: Sender<u32>, Receiver<u32>, bounded);
places_of!(broadcast: Sender<u32, Lossless>, Receiver<u32, Lossless>, lossless_channel);

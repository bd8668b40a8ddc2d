//! Channels of many receivers: what is made allocates, what waits does not.

use std::pin::pin;

use raddle_sync::mpmc;

use super::{BYTES, allocations, poll, ready};

#[test]
fn a_bounded_channel_is_two_allocations_for_ever() {
    let count = allocations(|| {
        let (tx, rx) = mpmc::bounded(40);
        for i in 0..1000_usize {
            (0..40).for_each(|j| tx.try_send(i + j).unwrap());
            (0..40).for_each(|j| assert_eq!(rx.try_recv(), Ok(i + j)));
        }
        let mut recv = pin!(rx.recv());
        assert!(poll(recv.as_mut()).is_pending());
        ready(tx.send(1)).unwrap();
        assert_eq!(ready(recv), Ok(1));
        assert!(poll(pin!(rx.recv())).is_pending());
        let places: [_; 40] = std::array::from_fn(|_| tx.try_reserve().unwrap());
        let (mut send, mut reserve) = (pin!(tx.send(2)), pin!(tx.reserve()));
        assert!(poll(send.as_mut()).is_pending() && poll(reserve.as_mut()).is_pending());
        drop(places);
        ready(send).unwrap();
        drop(ready(reserve));
        tx.close();
    });
    assert_eq!(count, 2);
    let (tx, rx) = mpmc::bounded(1);
    let mut waits: Vec<_> = (0..100).map(|_| Box::pin(rx.recv())).collect();
    let count = allocations(|| {
        assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
        (0..100).for_each(|i| assert_eq!(tx.try_send(i).is_ok(), i == 0));
        assert_eq!(ready(waits.remove(0).as_mut()), Ok(0));
        tx.close();
        assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_ready()));
    });
    assert_eq!(count, 0);
}

#[test]
fn an_unbounded_channel_in_balance_and_a_rendezvous_allocate_nothing() {
    let ((tx, rx), (rtx, rrx)) = (mpmc::unbounded(), mpmc::rendezvous());
    let before = BYTES.get();
    (0..100_000_u64).for_each(|i| tx.send(i).unwrap());
    let full = BYTES.get() - before;
    assert!((800_000..1_000_000).contains(&full), "blocks cost little beside values: {full}");
    (0..100_000).for_each(|i| assert_eq!(rx.try_recv(), Ok(i)));
    let left = BYTES.get() - before;
    assert!(left < 1_024, "{left}");
    let count = allocations(|| {
        for i in 0..10_000 {
            (0..40).for_each(|j| tx.send(i + j).unwrap());
            (0..40).for_each(|j| assert_eq!(rx.try_recv(), Ok(i + j)));
            let mut send = pin!(rtx.send(i));
            assert!(poll(send.as_mut()).is_pending());
            assert_eq!(ready(rrx.recv()), Ok(i));
            ready(send).unwrap();
        }
    });
    assert_eq!(count, 0);
}

#[test]
fn places_and_sinks_of_every_channel_allocate_nothing() {
    use futures_sink::Sink;
    use raddle_sync::{broadcast, mpsc};

    macro_rules! check {
        ($channel:ident: $ends:expr) => {
            let (tx, rx) = $ends;
            let count = allocations(|| {
                let held = tx.try_reserve_many(3).unwrap();
                let mut several = pin!(tx.reserve_many(2));
                let mut sink = pin!($channel::SenderSink::<u8>::new(tx.clone()));
                let owned = pin!(tx.clone().reserve_owned());
                assert!(poll(several.as_mut()).is_pending());
                let mut room = pin!(std::future::poll_fn(|cx| sink.as_mut().poll_ready(cx)));
                assert!(poll(room.as_mut()).is_pending() && poll(owned).is_pending());
                drop(held);
                assert_eq!(ready(several).unwrap().len(), 2);
                ready(room).unwrap();
                let weak = tx.downgrade();
                assert!(weak.upgrade().is_some());
            });
            assert_eq!(count, 0);
            drop(rx);
        };
    }
    check!(mpsc: mpsc::channel(3));
    check!(mpmc: mpmc::bounded(3));
    check!(broadcast: broadcast::lossless_channel(3));
}

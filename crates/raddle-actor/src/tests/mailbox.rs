//! The mailbox, step by step: order, bounds, policies, search, restarts and ends.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crate::address::Address;
use crate::call::{CallError, Reply};
use crate::mailbox::{Mailbox, Policy, SendError, Shared, TryRecvError};
use crate::tests::support::{self, Polled, hostile, now, refusing};

pub(super) fn bounded<M>(bound: usize, policy: Policy) -> (Address<M>, Mailbox<M>) {
    let mailbox = Mailbox::new(NonZeroUsize::new(bound), policy);
    (mailbox.address(), mailbox)
}

fn unbounded<M>() -> (Address<M>, Mailbox<M>) {
    bounded(0, Policy::Wait)
}

fn drain<M>(mailbox: &mut Mailbox<M>) -> Vec<M> {
    std::iter::from_fn(|| mailbox.try_recv().ok()).collect()
}

#[test]
fn messages_come_in_their_order() {
    for bound in [0, 10] {
        let (address, mut mailbox) = bounded(bound, Policy::Wait);
        (0..10).for_each(|i| address.try_send(i).unwrap());
        assert_eq!((address.len(), mailbox.len()), (10, 10));
        assert_eq!(mailbox.try_recv(), Ok(0));
        assert_eq!(address.len(), 9);
        assert_eq!(drain(&mut mailbox), (1..10).collect::<Vec<_>>());
        assert_eq!(mailbox.try_recv(), Err(TryRecvError::Empty));
        assert!(address.is_empty());
    }
}

#[test]
fn a_message_wakes_the_receiver_once() {
    let (address, mut mailbox) = unbounded();
    let mut recv = Polled::pending(mailbox.recv());
    now(address.send(1)).unwrap();
    now(address.send(2)).unwrap();
    assert_eq!((recv.wakes(), recv.ready()), (1, Some(1)));
    drop(recv);
    assert_eq!(now(mailbox.recv()), Some(2));
}

#[test]
fn the_last_waker_is_called() {
    let (address, mut mailbox) = unbounded();
    let mut recv = Polled::pending(mailbox.recv());
    let other = support::Counter::new();
    assert!(recv.poll_with(&other.clone().into()).is_pending());
    address.try_send(1).unwrap();
    assert_eq!((recv.wakes(), other.count()), (0, 1));
    assert_eq!(recv.ready(), Some(1));
}

#[test]
fn senders_wait_in_line_for_room() {
    let (address, mut mailbox) = bounded(1, Policy::Wait);
    address.try_send(1).unwrap();
    let mut second = Polled::pending(address.send(2));
    let mut third = Polled::pending(address.send(3));
    assert_eq!(address.try_send(4), Err(SendError::Full(4)));
    assert_eq!(mailbox.try_recv(), Ok(1));
    assert_eq!((second.wakes(), third.wakes()), (1, 0));
    // The place is the second's: nobody comes in between.
    assert_eq!(address.try_send(4), Err(SendError::Full(4)));
    second.ready().unwrap();
    assert_eq!(drain(&mut mailbox), [2, 3]);
    third.ready().unwrap();
}

#[test]
fn a_sender_that_gives_up_takes_its_message_along() {
    let (address, mut mailbox) = bounded(1, Policy::Wait);
    address.try_send(1).unwrap();
    let second = Polled::pending(address.send(2));
    let mut third = Polled::pending(address.send(3));
    let mut fourth = Polled::pending(address.send(4));
    drop(second);
    assert_eq!(third.future.as_mut().take_back(), Some(3));
    assert_eq!(mailbox.try_recv(), Ok(1));
    fourth.ready().unwrap();
    assert_eq!(fourth.future.as_mut().take_back(), None, "it was accepted");
    assert_eq!(drain(&mut mailbox), [4]);
    let mut never = Box::pin(address.send(5));
    assert_eq!(never.as_mut().take_back(), Some(5));
}

#[test]
fn each_policy_does_what_it_says() {
    let (address, mut mailbox) = bounded(2, Policy::Reject);
    (0..2).for_each(|i| address.try_send(i).unwrap());
    assert_eq!(address.try_send(2), Err(SendError::Full(2)));
    assert_eq!(now(address.send(2)), Err(SendError::Full(2)));
    assert_eq!(drain(&mut mailbox), [0, 1]);

    let (address, mut mailbox) = bounded(2, Policy::DropOldest);
    (0..5).for_each(|i| now(address.send(i)).unwrap());
    assert_eq!((address.len(), address.dropped()), (2, 3));
    assert_eq!(drain(&mut mailbox), [3, 4]);

    let (address, mut mailbox) = bounded(2, Policy::DropNewest);
    (0..5).for_each(|i| now(address.send(i)).unwrap());
    assert_eq!((address.len(), address.dropped()), (2, 3));
    assert_eq!(drain(&mut mailbox), [0, 1]);
    assert_eq!(address.capacity(), Some(2));
}

#[test]
fn closing_gives_back_what_was_not_accepted() {
    let (address, mut mailbox) = bounded(1, Policy::Wait);
    address.try_send(1).unwrap();
    let mut waiting = Polled::pending(address.send(2));
    let mut closed = Polled::pending(address.closed());
    let gone = Polled::pending(address.closed());
    drop(gone);
    mailbox.close();
    mailbox.close();
    assert_eq!((waiting.wakes(), closed.wakes()), (1, 1));
    assert_eq!(waiting.ready(), Err(SendError::Closed(2)));
    closed.ready();
    now(address.closed());
    assert_eq!(address.try_send(3), Err(SendError::Closed(3)));
    assert_eq!(now(address.send(3)), Err(SendError::Closed(3)));
    // What was accepted is received.
    assert_eq!(now(mailbox.recv()), Some(1));
    assert_eq!(now(mailbox.recv()), None);
    assert_eq!(mailbox.try_recv(), Err(TryRecvError::Disconnected));
}

#[test]
fn the_last_address_wakes_the_receiver() {
    let (address, mut mailbox) = unbounded();
    let (other, weak) = (address.clone(), address.downgrade());
    let mut recv = Polled::pending(mailbox.recv());
    drop(address);
    assert_eq!(recv.wakes(), 0);
    other.try_send(1).unwrap();
    drop(other);
    assert_eq!(recv.ready(), Some(1), "messages come first");
    assert_eq!(recv.ready(), None);
    // Somebody gets an address again.
    let again = weak.upgrade().unwrap();
    assert!(recv.poll().is_pending());
    again.try_send(2).unwrap();
    assert_eq!(recv.ready(), Some(2));
    drop(recv);
    mailbox.close();
    assert!(weak.upgrade().is_none());
    assert!(again.same_mailbox(&mailbox.address()));
}

#[test]
fn a_search_keeps_the_order_and_looks_once() {
    for (bound, policy) in [(0, Policy::Wait), (10, Policy::Wait), (10, Policy::DropOldest)] {
        let (address, mut mailbox) = bounded(bound, policy);
        (0..4).for_each(|i| address.try_send(i).unwrap());
        let looks = Cell::new(0);
        let mut search = Polled::pending(mailbox.recv_where(|message: &i32| {
            looks.set(looks.get() + 1);
            *message >= 10
        }));
        assert_eq!(looks.get(), 4);
        assert!(search.poll().is_pending());
        assert_eq!(looks.get(), 4, "none is looked at again");
        address.try_send(4).unwrap();
        assert_eq!(search.wakes(), 1);
        assert!(search.poll().is_pending());
        (10..12).for_each(|i| address.try_send(i).unwrap());
        assert_eq!(search.ready(), Some(10));
        assert_eq!(looks.get(), 6);
        drop(search);
        assert_eq!(mailbox.len(), 6);
        assert_eq!(mailbox.try_recv(), Ok(0));
        assert_eq!(now(mailbox.recv_where(|m| *m == 3)), Some(3));
        assert_eq!(drain(&mut mailbox), [1, 2, 4, 11]);
        assert!(mailbox.is_empty());
    }
}

#[test]
fn what_a_search_has_passed_over_counts() {
    let (address, mut mailbox) = bounded(2, Policy::Wait);
    (0..2).for_each(|i| address.try_send(i).unwrap());
    let mut sending = Polled::pending(address.send(2));
    assert!(Polled::new(mailbox.recv_where(|m| *m > 5)).poll().is_pending());
    assert!(sending.poll().is_pending());
    assert_eq!(now(mailbox.recv_where(|m| *m == 1)), Some(1));
    sending.ready().unwrap();
    assert_eq!(drain(&mut mailbox), [0, 2]);
}

#[test]
fn the_oldest_is_dropped_from_the_hand_too() {
    let (address, mut mailbox) = bounded(3, Policy::DropOldest);
    (0..3).for_each(|i| address.try_send(i).unwrap());
    let seen = Cell::new(Vec::new());
    let mut search = Box::pin(mailbox.recv_where(|m| {
        let mut all = seen.take();
        all.push(*m);
        seen.set(all);
        *m == 4
    }));
    assert!(Polled::new(search.as_mut()).poll().is_pending());
    (3..6).for_each(|i| address.try_send(i).unwrap());
    assert_eq!(address.len(), 3);
    assert_eq!(Polled::new(search.as_mut()).ready(), Some(4));
    drop(search);
    assert_eq!(seen.take(), [0, 1, 2, 3, 4]);
    assert_eq!(drain(&mut mailbox), [3, 5]);
}

#[test]
fn a_predicate_that_panics_loses_nothing() {
    let (address, mut mailbox) = unbounded();
    (0..3).for_each(|i| address.try_send(i).unwrap());
    let wanted = |m: &i32| if *m < 2 { false } else { panic!("the predicate refuses") };
    assert!(catch_unwind(AssertUnwindSafe(|| now(mailbox.recv_where(wanted)))).is_err());
    assert_eq!(drain(&mut mailbox), [0, 1, 2]);
}

#[test]
fn plain_messages_outlive_a_restart() {
    for bound in [0, 4] {
        let (address, mut mailbox) = bounded(bound, Policy::Wait);
        (0..2).for_each(|i| address.try_send((i, None)).unwrap());
        let mut call = Polled::pending(address.call(|reply: Reply<()>| (100, Some(reply))));
        address.try_send((2, None)).unwrap();
        let mut late = Polled::new(address.send((3, None)));
        assert_eq!(late.poll().is_pending(), bound > 0);
        assert_eq!(mailbox.end_incarnation(), 1);
        assert_eq!(mailbox.incarnation(), 1);
        assert_eq!(call.ready(), Err(CallError::Stopped));
        if bound > 0 {
            late.ready().unwrap();
        }
        let numbers: Vec<i32> = drain(&mut mailbox).into_iter().map(|(i, _)| i).collect();
        assert_eq!(numbers, [0, 1, 2, 3]);
    }
}

#[test]
fn clearing_drops_all_and_makes_room() {
    let (address, mut mailbox) = bounded(2, Policy::Wait);
    (0..2).for_each(|i| address.try_send(i).unwrap());
    let mut waiting = Polled::pending(address.send(2));
    assert_eq!(mailbox.clear(), 2);
    waiting.ready().unwrap();
    assert_eq!(drain(&mut mailbox), [2]);
}

/// Counts its drops.
#[derive(Clone)]
pub(super) struct Dropper(Arc<AtomicUsize>);

impl Dropper {
    fn new() -> Self {
        Dropper(Arc::default())
    }

    fn count(&self) -> usize {
        self.0.load(SeqCst)
    }
}

impl Drop for Dropper {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn every_message_is_dropped_once() {
    for policy in [Policy::Wait, Policy::Reject, Policy::DropOldest, Policy::DropNewest] {
        let drops = Dropper::new();
        let (address, mut mailbox) = bounded(2, policy);
        for _ in 0..4 {
            let mut sending = Polled::new(address.send(drops.clone()));
            let _ = sending.poll();
        }
        let _ = now(mailbox.recv_where(|_| true));
        assert!(Polled::new(mailbox.recv_where(|_| false)).poll().is_pending());
        let _ = address.try_send(drops.clone());
        let _ = address.try_send(drops.clone());
        drop(mailbox);
        drop(address.try_send(drops.clone()));
        assert_eq!(drops.count(), 7, "{policy:?}");
    }
}

#[test]
fn memory_goes_back_after_a_burst() {
    for bound in [0, 200_000] {
        let (address, mut mailbox) = bounded(bound, Policy::Wait);
        (0..100_000_u64).for_each(|i| address.try_send(i).unwrap());
        assert_eq!(drain(&mut mailbox).len(), 100_000);
        assert!(Polled::new(mailbox.recv()).poll().is_pending());
        let queue = mailbox.shared.queue.lock().shared().messages.capacity();
        assert!(queue + mailbox.hand.capacity() <= 64, "{queue} {}", mailbox.hand.capacity());
    }
}

#[test]
fn wakers_and_destructors_may_call_back() {
    for policy in [Policy::Wait, Policy::DropOldest, Policy::DropNewest] {
        let (address, mut mailbox) = bounded(1, policy);
        let back = address.clone();
        let waker = hostile(move |_| {
            let _ = (back.len(), back.pid(), back.try_send(Call::quiet()), back.is_closed());
        });
        let _ = Polled::new(mailbox.recv()).poll_with(&waker);
        let call = Call(Some(address.clone()));
        let _ = address.try_send(call);
        let mut sending = Polled::new(address.send(Call(Some(address.clone()))));
        let _ = sending.poll_with(&waker);
        drop(mailbox.try_recv());
        drop(mailbox.try_recv());
        drop(sending);
        let mut waiting = Polled::new(address.send(Call(Some(address.clone()))));
        let _ = waiting.poll_with(&waker);
        mailbox.end_incarnation();
        drop(mailbox);
    }
}

/// A message whose destructor sends.
struct Call(Option<Address<Call>>);

impl Call {
    fn quiet() -> Self {
        Call(None)
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if let Some(address) = self.0.take() {
            let _ = (address.try_send(Call::quiet()), address.len());
        }
    }
}

#[test]
fn a_waker_that_panics_loses_no_message() {
    let (address, mut mailbox) = bounded(1, Policy::Wait);
    address.try_send(1).unwrap();
    let mut second = Polled::new(address.send(2));
    assert!(second.poll_with(&refusing()).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| mailbox.try_recv())).is_err());
    second.ready().unwrap();
    assert_eq!(drain(&mut mailbox), [1, 2]);
    // And none of those who wait for the end.
    address.try_send(3).unwrap();
    let mut first = Polled::new(address.send(4));
    assert!(first.poll_with(&refusing()).is_pending());
    let mut other = Polled::pending(address.send(5));
    let mut closed = Polled::pending(address.closed());
    assert!(catch_unwind(AssertUnwindSafe(|| mailbox.close())).is_err());
    assert_eq!(other.ready(), Err(SendError::Closed(5)));
    closed.ready();
    assert_eq!(first.ready(), Err(SendError::Closed(4)));
}

#[test]
fn what_it_takes() {
    assert_eq!(size_of::<Address<u64>>(), 8);
    assert_eq!(size_of::<Option<crate::Pid>>(), 8);
    assert_eq!(size_of::<crate::ExitReason>(), 16);
    let mailbox = size_of::<Shared<u64>>() + 16;
    let control = size_of::<crate::control::Control>() + 16;
    assert!(mailbox + control <= 256, "{mailbox} + {control}");
    assert!(size_of::<Mailbox<u64>>() <= 40);
    assert!(size_of::<crate::Life>() <= 24);
}

fn _what_may_cross_threads() {
    fn send<T: Send>() {}
    fn sync<T: Sync>() {}
    send::<Address<Cell<u8>>>();
    sync::<Address<Cell<u8>>>();
    send::<Mailbox<Cell<u8>>>();
    send::<crate::mailbox::Sending<'static, Cell<u8>>>();
    send::<crate::Calling<'static, Cell<u8>, Cell<u8>>>();
    send::<crate::Life>();
    send::<crate::ProcessRef>();
    sync::<crate::ProcessRef>();
    let _: fn(Pin<Box<crate::Joined>>) = |_| send::<crate::Joined>();
}

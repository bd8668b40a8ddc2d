//! Calls: answers, and each way in which there is none.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::address::Address;
use crate::call::{CallError, Reply};
use crate::mailbox::{Mailbox, Policy};
use crate::tests::support::{Polled, now, runtime, watchdog};

type Request = (u32, Reply<u32>);

fn mailbox(bound: usize, policy: Policy) -> (Address<Request>, Mailbox<Request>) {
    let mailbox = Mailbox::new(NonZeroUsize::new(bound), policy);
    (mailbox.address(), mailbox)
}

#[test]
fn an_answer_comes_back() {
    let (address, mut mailbox) = mailbox(0, Policy::Wait);
    let mut call = Polled::pending(address.call(|reply| (1, reply)));
    let (question, reply) = mailbox.try_recv().unwrap();
    assert!(!reply.is_abandoned());
    reply.reply(question + 1).unwrap();
    assert_eq!((call.wakes(), call.ready()), (1, Ok(2)));
}

#[test]
fn an_answer_that_nobody_waits_for_comes_back() {
    let (address, mut mailbox) = mailbox(0, Policy::Wait);
    drop(Polled::pending(address.call(|reply| (1, reply))));
    // The request stays, though its caller has gone.
    let (_, reply) = mailbox.try_recv().unwrap();
    assert!(reply.is_abandoned());
    assert_eq!(reply.reply(2), Err(2));
}

#[test]
fn a_request_that_is_dropped_has_no_answer() {
    let (address, mut mailbox) = mailbox(0, Policy::Wait);
    let mut call = Polled::pending(address.call(|reply| (1, reply)));
    drop(mailbox.try_recv());
    assert_eq!(call.ready(), Err(CallError::Dropped));
}

#[test]
fn calls_are_stopped_by_an_end_and_by_a_restart() {
    let (address, mut mailbox) = mailbox(0, Policy::Wait);
    let mut queued = Polled::pending(address.call(|reply| (1, reply)));
    let mut kept = Polled::pending(address.call(|reply| (2, reply)));
    // One call lies in the queue, the other in the state of the process.
    let state = now(mailbox.recv_where(|(number, _)| *number == 2));
    assert_eq!(mailbox.end_incarnation(), 1);
    drop(state);
    assert_eq!((queued.ready(), kept.ready()), (Err(CallError::Stopped), Err(CallError::Stopped)));
    let mut last = Polled::pending(address.call(|reply| (3, reply)));
    drop(mailbox);
    assert_eq!(last.ready(), Err(CallError::Stopped));
    assert_eq!(now(address.call(|reply| (4, reply))), Err(CallError::Stopped));
}

#[test]
fn a_handler_that_panics_has_stopped() {
    let (address, mut mailbox) = mailbox(0, Policy::Wait);
    let mut call = Polled::pending(address.call(|reply| (1, reply)));
    let handler = AssertUnwindSafe(|| {
        let _request = mailbox.try_recv();
        panic!("the handler fails");
    });
    assert!(catch_unwind(handler).is_err());
    assert_eq!(call.ready(), Err(CallError::Stopped));
}

#[test]
fn policies_concern_calls_too() {
    let (address, mut mailbox) = mailbox(1, Policy::Reject);
    let _first = Polled::pending(address.call(|reply| (1, reply)));
    assert_eq!(now(address.call(|reply| (2, reply))), Err(CallError::Full));
    drop(mailbox.try_recv());
    let (address, _mailbox) = self::mailbox(1, Policy::DropOldest);
    let mut first = Polled::pending(address.call(|reply| (1, reply)));
    let _second = Polled::pending(address.call(|reply| (2, reply)));
    assert_eq!(first.ready(), Err(CallError::Dropped));
    let (address, _mailbox) = self::mailbox(1, Policy::DropNewest);
    let _first = Polled::pending(address.call(|reply| (1, reply)));
    assert_eq!(now(address.call(|reply| (2, reply))), Err(CallError::Dropped));
}

#[test]
fn a_call_waits_for_room_and_may_give_up() {
    let (address, mut mailbox) = mailbox(1, Policy::Wait);
    let _first = Polled::pending(address.call(|reply| (1, reply)));
    let second = Polled::pending(address.call(|reply| (2, reply)));
    let mut third = Polled::pending(address.call(|reply| (3, reply)));
    // What did not get in goes with its caller.
    drop(second);
    assert_eq!(mailbox.try_recv().unwrap().0, 1);
    let (number, reply) = mailbox.try_recv().unwrap();
    assert_eq!(number, 3);
    reply.reply(4).unwrap();
    assert_eq!(third.ready(), Ok(4));
}

#[test]
fn a_call_in_a_task_is_answered_or_timed_out() {
    watchdog(|| {
        let runtime = runtime();
        let (address, mut mailbox) = mailbox(4, Policy::Wait);
        let limit = Duration::from_millis(5);
        let server = runtime.handle().spawn(async move {
            let mut kept = Vec::new();
            while let Some((number, reply)) = mailbox.recv().await {
                match number {
                    0 => kept.push(reply),
                    _ => reply.reply(number * 2).unwrap(),
                }
            }
            kept.len()
        });
        let client = runtime.handle().spawn(async move {
            for i in 1..1_000 {
                assert_eq!(address.call(|reply| (i, reply)).await, Ok(i * 2));
            }
            let long = Duration::from_secs(60);
            assert_eq!(address.call_timeout(|reply| (7, reply), long).await, Ok(14));
            address.call_timeout(|reply| (0, reply), limit).await
        });
        assert_eq!(raddle_sync::block_on(client).unwrap(), Err(CallError::Timeout));
        assert_eq!(raddle_sync::block_on(server).unwrap(), 1);
    });
}

//! The mailbox under the model checker.

use std::num::NonZeroUsize;
use std::pin::pin;

use raddle_base::shim::{model, thread};

use crate::address::Address;
use crate::call::{CallError, Reply};
use crate::mailbox::{Mailbox, Policy, SendError};
use crate::tests::model::{Plain, poll_once, wait};

fn bounded<M>(bound: usize, policy: Policy) -> (Address<M>, Mailbox<M>) {
    let mailbox = Mailbox::new(NonZeroUsize::new(bound), policy);
    (mailbox.address(), mailbox)
}

/// A message, and then the end of the last address, come while the receiver goes to sleep.
#[test]
fn model_push_against_park() {
    model::check(|| {
        let (address, mut mailbox) = bounded(0, Policy::Wait);
        let (data, kept) = (Plain::new(), address.clone());
        let shared = data.clone();
        let other = thread::spawn(move || {
            shared.add(1);
            address.try_send(1).unwrap();
        });
        assert_eq!(wait(mailbox.recv()), Some(1));
        assert_eq!(data.get(), 1);
        // Whichever of the two addresses goes last wakes the receiver.
        drop(kept);
        assert_eq!(wait(mailbox.recv()), None);
        other.join().unwrap();
    });
}

/// A sender waits for room while the receiver makes some.
#[test]
fn model_waiting_sender_against_receive() {
    model::check(|| {
        let (address, mut mailbox) = bounded(1, Policy::Wait);
        address.try_send(1).unwrap();
        let other = thread::spawn(move || wait(address.send(2)).unwrap());
        assert_eq!(wait(mailbox.recv()), Some(1));
        assert_eq!(wait(mailbox.recv()), Some(2));
        other.join().unwrap();
    });
}

/// A sender waits for room while the mailbox is closed: the message comes back.
#[test]
fn model_waiting_sender_against_close() {
    model::check(|| {
        let (address, mut mailbox) = bounded(1, Policy::Wait);
        address.try_send(1).unwrap();
        let other = thread::spawn(move || wait(address.send(2)));
        mailbox.close();
        assert_eq!(other.join().unwrap(), Err(SendError::Closed(2)));
        assert_eq!(mailbox.try_recv(), Ok(1));
        assert!(mailbox.try_recv().is_err());
    });
}

/// Room is made and the mailbox closed while one sends: it is received, or comes back.
#[test]
fn model_send_against_close() {
    model::check(|| {
        let (address, mut mailbox) = bounded(1, Policy::Wait);
        address.try_send(1).unwrap();
        let other = thread::spawn(move || wait(address.send(2)));
        assert_eq!(mailbox.try_recv(), Ok(1));
        mailbox.close();
        let accepted = mailbox.try_recv().is_ok();
        let sent = other.join().unwrap();
        assert_eq!(sent, if accepted { Ok(()) } else { Err(SendError::Closed(2)) });
    });
}

/// A waiting sender gives up while there comes to be room: its message is in one place, and the
/// next in line is not forgotten.
#[test]
fn model_waiting_sender_against_cancel() {
    model::check(|| {
        let (address, mut mailbox) = bounded(1, Policy::Wait);
        address.try_send(1).unwrap();
        let other = thread::spawn(move || {
            let mut sending = pin!(address.send(2));
            if poll_once(sending.as_mut()).is_ready() {
                return None;
            }
            sending.as_mut().take_back()
        });
        assert_eq!(mailbox.try_recv(), Ok(1));
        let back = other.join().unwrap();
        assert_eq!(mailbox.try_recv().ok().or(back), Some(2));
        assert_eq!(mailbox.len(), 0);
    });
}

/// Messages and a call come while an incarnation ends: the message is for the next one, and the
/// call is answered by it or was stopped.
#[test]
fn model_restart_against_send() {
    enum Message {
        Plain,
        Call(Reply<u8>),
    }
    model::check_bounded(2, || {
        let (address, mut mailbox) = bounded(0, Policy::Wait);
        let other = thread::spawn(move || {
            address.try_send(Message::Plain).unwrap();
            wait(address.call(Message::Call))
        });
        let stopped = mailbox.end_incarnation();
        let (mut plain, mut calls) = (0, 0);
        while let Some(message) = wait(mailbox.recv()) {
            match message {
                Message::Plain => plain += 1,
                Message::Call(reply) => {
                    calls += 1;
                    reply.reply(1).unwrap();
                }
            }
        }
        assert_eq!((plain, calls + stopped), (1, 1));
        let expected = if calls == 1 { Ok(1) } else { Err(CallError::Stopped) };
        assert_eq!(other.join().unwrap(), expected);
    });
}

/// The oldest message is dropped for another while a search has it in hand.
#[test]
fn model_drop_oldest_against_search() {
    model::check(|| {
        let (address, mut mailbox) = bounded(1, Policy::DropOldest);
        address.try_send(1).unwrap();
        let other = thread::spawn(move || {
            address.try_send(2).unwrap();
            address.len()
        });
        let found = mailbox.try_recv_where(&mut Default::default(), |message| *message == 1);
        assert!(other.join().unwrap() <= 1);
        assert_eq!(mailbox.try_recv(), Ok(2));
        assert!(mailbox.try_recv().is_err());
        assert!(matches!(found, Some(1) | None));
    });
}

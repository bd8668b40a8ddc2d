//! The mailbox against a plain list: random sequences of operations under every policy, and
//! threads whose results must fit some order of what they did.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use raddle_base::random::Rng;
use raddle_sync::block_on;

use super::tests::bounded;
use crate::address::Address;
use crate::mailbox::{Mailbox, Policy, SendError, Sending};
use crate::tests::support::{Polled, now, watchdog};

const POLICIES: [Policy; 4] =
    [Policy::Wait, Policy::Reject, Policy::DropOldest, Policy::DropNewest];

/// What a mailbox should be: a list, and a line of senders.
struct World {
    bound: usize,
    policy: Policy,
    list: VecDeque<u32>,
    line: VecDeque<u32>,
    closed: bool,
}

#[derive(Debug, PartialEq)]
enum Sent {
    Ok,
    Waits,
    Full,
    Closed,
}

impl World {
    fn send(&mut self, message: u32, waits: bool) -> Sent {
        if self.closed {
            return Sent::Closed;
        }
        if self.list.len() < self.bound && self.line.is_empty() {
            self.list.push_back(message);
            return Sent::Ok;
        }
        match self.policy {
            Policy::Wait if waits => {
                self.line.push_back(message);
                Sent::Waits
            }
            Policy::Wait | Policy::Reject => Sent::Full,
            Policy::DropOldest => {
                self.list.pop_front();
                self.list.push_back(message);
                Sent::Ok
            }
            Policy::DropNewest => Sent::Ok,
        }
    }

    fn receive(&mut self, wanted: impl Fn(&u32) -> bool) -> Option<u32> {
        let at = self.list.iter().position(wanted)?;
        let message = self.list.remove(at);
        self.admit();
        message
    }

    fn admit(&mut self) {
        while self.list.len() < self.bound && !self.closed {
            let Some(next) = self.line.pop_front() else { break };
            self.list.push_back(next);
        }
    }
}

fn outcome(result: &Result<(), SendError<u32>>) -> Sent {
    match result {
        Ok(()) => Sent::Ok,
        Err(SendError::Full(_)) => Sent::Full,
        Err(SendError::Closed(_)) => Sent::Closed,
    }
}

type Waiting<'a> = VecDeque<(u32, Polled<Sending<'a, u32>>)>;

/// One operation, on the mailbox and on the list.
fn step<'a>(
    rng: &mut Rng,
    (address, mailbox): (&'a Address<u32>, &mut Mailbox<u32>),
    world: &mut World,
    waiting: &mut Waiting<'a>,
    message: u32,
) {
    match rng.below(12) {
        0..3 => {
            assert_eq!(outcome(&address.try_send(message)), world.send(message, false));
        }
        3..6 => {
            let mut sending = Polled::new(address.send(message));
            let sent = match sending.poll() {
                std::task::Poll::Ready(result) => outcome(&result),
                std::task::Poll::Pending => Sent::Waits,
            };
            assert_eq!(sent, world.send(message, true));
            if sent == Sent::Waits {
                waiting.push_back((message, sending));
            }
        }
        6..8 => assert_eq!(mailbox.try_recv().ok(), world.receive(|_| true)),
        8 => {
            let rest = rng.below(3);
            let found = mailbox.try_recv_where(&mut Default::default(), |m| m % 3 == rest);
            assert_eq!(found, world.receive(|m| m % 3 == rest));
        }
        9 if !waiting.is_empty() => {
            let at = rng.below(waiting.len() as u32) as usize;
            let (number, mut sending) = waiting.remove(at).expect("it is there");
            let back = sending.future.as_mut().take_back();
            assert_eq!(back.is_some(), world.line.contains(&number));
            world.line.retain(|other| *other != number);
        }
        10 => {
            mailbox.end_incarnation();
        }
        11 if rng.below(40) == 0 => {
            mailbox.close();
            world.closed = true;
        }
        _ => {
            let recv = Polled::new(mailbox.recv_where(|_| false)).poll();
            assert_eq!(recv.is_ready(), world.closed);
        }
    }
}

#[test]
fn the_mailbox_is_a_list() {
    for seed in 0..400 {
        let (bound, policy) = ([0, 1, 2, 5][seed as usize % 4], POLICIES[seed as usize / 4 % 4]);
        let (address, mut mailbox) = bounded(bound, policy);
        let mut rng = Rng::new(seed);
        let bound = if bound == 0 { usize::MAX } else { bound };
        let (list, line) = (VecDeque::new(), VecDeque::new());
        let mut world = World { bound, policy, list, line, closed: false };
        let mut waiting = Waiting::new();
        for message in 0..200 {
            step(&mut rng, (&address, &mut mailbox), &mut world, &mut waiting, message);
            assert_eq!(address.len(), world.list.len(), "seed {seed}");
        }
        for (number, mut sending) in waiting {
            let result = match sending.poll() {
                std::task::Poll::Ready(result) => outcome(&result),
                std::task::Poll::Pending => Sent::Waits,
            };
            let in_line = world.line.contains(&number);
            let expected = match (in_line, world.closed) {
                (false, _) => Sent::Ok,
                (true, true) => Sent::Closed,
                (true, false) => Sent::Waits,
            };
            assert_eq!(result, expected, "seed {seed}");
        }
        let rest: Vec<u32> = std::iter::from_fn(|| mailbox.try_recv().ok()).collect();
        assert!(rest.starts_with(&Vec::from(world.list)), "seed {seed}");
    }
}

/// Some senders on threads, and a receiver that searches and restarts: what was accepted comes
/// once and in the order of its sender; a policy that drops leaves gaps and nothing else.
#[test]
fn threads_keep_the_order_of_each_sender() {
    const EACH: u32 = 2_000;
    watchdog(|| {
        for (bound, policy) in
            [(0, Policy::Wait), (1, Policy::Wait), (7, Policy::Wait), (7, Policy::DropOldest)]
        {
            let (address, mut mailbox) = bounded(bound, policy);
            let senders: Vec<_> = (0..3)
                .map(|sender| {
                    let address = address.clone();
                    std::thread::spawn(move || {
                        for i in 0..EACH {
                            block_on(address.send((sender, i))).unwrap();
                        }
                    })
                })
                .collect();
            drop(address);
            let mut last = [None; 3];
            let mut count = 0;
            for turn in 0_usize.. {
                let message = match turn % 50 {
                    49 => {
                        mailbox.end_incarnation();
                        None
                    }
                    n if n % 10 == 9 => mailbox
                        .try_recv_where(&mut Default::default(), |(sender, _)| {
                            *sender == n / 10 % 3
                        }),
                    _ => match block_on(mailbox.recv()) {
                        Some(message) => Some(message),
                        None => break,
                    },
                };
                if let Some((sender, number)) = message {
                    assert!(last[sender] < Some(number), "{last:?} {sender} {number}");
                    last[sender] = Some(number);
                    count += 1;
                }
            }
            senders.into_iter().for_each(|sender| sender.join().unwrap());
            if policy == Policy::Wait {
                assert_eq!(count, 3 * EACH);
            }
            assert!(last.contains(&Some(EACH - 1)));
        }
    });
}

/// A message that counts the living.
struct Alive(Arc<AtomicUsize>);

impl Alive {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, SeqCst);
        Alive(Arc::clone(count))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// Senders, callers and receives that are given up at each point: nothing is lost or kept.
#[test]
fn futures_may_be_dropped_at_every_await() {
    for polls in 0..3 {
        for receives in 0..3 {
            let alive = Arc::new(AtomicUsize::new(0));
            let (address, mut mailbox) = bounded(1, Policy::Wait);
            address.try_send(Alive::new(&alive)).unwrap();
            let mut sending = Polled::new(address.send(Alive::new(&alive)));
            let mut behind = Polled::new(address.send(Alive::new(&alive)));
            let mut closed = Polled::new(address.closed());
            let mut done = false;
            for _ in 0..polls {
                done = done || sending.poll().is_ready();
                let _ = closed.poll();
            }
            assert!(behind.poll().is_pending());
            for _ in 0..receives {
                drop(now(mailbox.recv()));
            }
            drop((sending, closed));
            // The one behind it gets the room, or has it.
            if mailbox.is_empty() {
                assert!(behind.poll().is_ready());
            } else {
                drop(mailbox.try_recv());
            }
            drop(Polled::new(mailbox.recv()).poll());
            drop(behind);
            drop((mailbox, address));
            assert_eq!(alive.load(SeqCst), 0, "{polls} {receives}");
        }
    }
}

//! A bank: accounts held by a supervised actor, calls that wait for an answer, and a restart.

use std::sync::{Arc, Mutex};

use raddle::actor::supervisor::{Child, Supervisor};
use raddle::actor::{self, Actor, CallError, Cx, Reply};
use raddle::sync::Wait;

enum Order {
    Deposit(u64, Reply<u64>),
    Withdraw(u64, Reply<Result<u64, &'static str>>),
    /// An order that the teller cannot cope with.
    Nonsense,
}

/// Holds the balance, which is written down after each order, for the next teller to begin with.
struct Teller {
    balance: u64,
    book: Arc<Mutex<u64>>,
}

impl Actor for Teller {
    type Message = Order;

    fn handle(&mut self, order: Order, _: &mut Cx<Order>) {
        match order {
            Order::Deposit(amount, reply) => {
                self.balance += amount;
                *self.book.lock().expect("no teller fails while writing") = self.balance;
                // A customer who has left is not missed.
                let _ = reply.reply(self.balance);
            }
            Order::Withdraw(amount, reply) => {
                let answer = match self.balance.checked_sub(amount) {
                    Some(rest) => {
                        self.balance = rest;
                        *self.book.lock().expect("no teller fails while writing") = rest;
                        Ok(rest)
                    }
                    None => Err("not enough"),
                };
                let _ = reply.reply(answer);
            }
            Order::Nonsense => panic!("nobody told me what to do with this"),
        }
    }
}

fn main() {
    // The panic below is part of the story.
    std::panic::set_hook(Box::new(|_| {}));
    let balance = actor::run(|_| {
        let book = Arc::new(Mutex::new(100));
        let teller = Child::actor("teller", move || {
            let balance = *book.lock().expect("no teller fails while writing");
            Teller { balance, book: Arc::clone(&book) }
        });
        let desk = teller.address();
        let bank = Supervisor::new("bank").child(teller).start().wait().expect("it opens");

        assert_eq!(desk.call(|reply| Order::Deposit(50, reply)).wait(), Ok(150));
        assert_eq!(desk.call(|reply| Order::Withdraw(500, reply)).wait(), Ok(Err("not enough")));
        desk.send(Order::Nonsense).wait().expect("the desk takes every order");
        // An order in line behind it is answered "stopped", and so was not carried out: once more.
        // The next teller finds the book, and the same desk.
        let balance = loop {
            match desk.call(|reply| Order::Deposit(7, reply)).wait() {
                Err(CallError::Stopped) => {}
                answer => break answer,
            }
        };
        assert_eq!(bank.which_children()[0].restarts(), 1);
        bank.shutdown().wait();
        balance
    });
    assert_eq!(balance, Ok(Ok(157)));
    println!("157 left");
}

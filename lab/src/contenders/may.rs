//! may: stackful coroutines on one worker (two in `multi_thread_scaling`).
//!
//! Stacks of 256 KiB with a guard page, as std's threads here get; up to 10,000 are kept for reuse.
//! Its mpsc is the channel; a oneshot is its spsc channel used once. It has no blocking pool and no
//! files.

use super::table;
use crate::contender::Contender;
use crate::rt::Stacks;
use crate::served::{Echo, Ready};
use may::coroutine::{self, JoinHandle};
use may::net::{TcpListener, TcpStream};
use may::sync::{mpsc, spsc};
use std::io::{Read, Write};
use std::time::Duration;

pub(super) const MAY: Contender = Contender {
    name: "may",
    about: "may, stackful coroutines on one worker",
    entries: || {
        let mut entries = table::stacks::<May>();
        entries.extend(table::echo::<May>());
        entries
    },
    memory: || {
        let mut entries = table::memory_of_stacks::<May>();
        entries.push(table::memory_of_connection_stacks::<May>());
        entries
    },
};

struct May;

/// Stack size in words, as may counts.
const STACK_WORDS: usize = 256 * 1024 / 8;

fn configure(workers: usize) {
    may::config().set_workers(workers).set_stack_size(STACK_WORDS).set_pool_capacity(10_000);
}

impl Stacks for May {
    type Join<T: Send + 'static> = JoinHandle<T>;
    type OneTx = spsc::Sender<u64>;
    type OneRx = spsc::Receiver<u64>;
    type Tx = mpsc::Sender<u64>;
    type Rx = mpsc::Receiver<u64>;

    fn run<T, F>(workers: usize, body: F) -> T
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        configure(workers);
        Self::join(Self::spawn(body)).expect("the body ran to its end")
    }

    #[inline]
    fn spawn<T, F>(body: F) -> JoinHandle<T>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        // SAFETY: may asks that a coroutine neither overflow its stack nor keep thread-local
        // addresses across a switch. The bodies are the cases': shallow but for deep_recursion,
        // whose 500 frames fit in 256 KiB, and they touch no thread-local storage of their own.
        unsafe { coroutine::spawn(body) }
    }

    #[inline]
    fn join<T: Send + 'static>(join: JoinHandle<T>) -> Option<T> {
        join.join().ok()
    }

    #[inline]
    fn yield_now() {
        coroutine::yield_now();
    }

    #[inline]
    fn sleep(time: Duration) {
        coroutine::sleep(time);
    }

    #[inline]
    fn oneshot() -> (Self::OneTx, Self::OneRx) {
        spsc::channel()
    }

    #[inline]
    fn send_one(tx: Self::OneTx, value: u64) {
        tx.send(value).expect("the receiver waits");
    }

    #[inline]
    fn recv_one(rx: Self::OneRx) -> u64 {
        rx.recv().expect("the sender sends")
    }

    fn channel() -> (Self::Tx, Self::Rx) {
        mpsc::channel()
    }

    #[inline]
    fn send(tx: &Self::Tx, value: u64) {
        tx.send(value).expect("the receiver receives");
    }

    fn drain(rx: Self::Rx) -> (u64, u64) {
        rx.iter().fold((0, 0), |(count, sum), value| (count + 1, sum + value))
    }
}

impl Echo for May {
    fn echo(ready: Ready) {
        May::run(1, move || {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
            ready.listening(listener.local_addr().expect("an address"));
            loop {
                let (stream, _) = listener.accept().expect("a connection");
                stream.set_nodelay(true).expect("no delay");
                drop(May::spawn(move || echo(stream)));
            }
        })
    }
}

fn echo(mut stream: TcpStream) {
    let mut buffer = [0; 4096];
    while let Ok(n) = stream.read(&mut buffer) {
        if n == 0 || stream.write_all(&buffer[..n]).is_err() {
            return;
        }
    }
}

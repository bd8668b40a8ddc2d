//! std: a thread for each task, blocking calls, the channels of std.
//!
//! What the operating system gives without any runtime. Stacks of 256 KiB, as may's coroutines get.

use super::table;
use crate::contender::Contender;
use crate::rt::Stacks;
use crate::served::{Echo, Ready};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub(super) const STD: Contender = Contender {
    name: "std",
    about: "std, a thread a task",
    entries: || {
        let mut entries = table::stacks::<Std>();
        entries.extend(table::echo::<Std>());
        entries.extend([
            table::storm_on_stacks::<Std>(),
            table::offload_to_thread::<Std>(),
            table::files_by_pread(),
        ]);
        entries
    },
    memory: || {
        let mut entries = table::memory_of_stacks::<Std>();
        entries.push(table::memory_of_connection_stacks::<Std>());
        entries
    },
};

struct Std;

const STACK: usize = 256 * 1024;

impl Stacks for Std {
    type Join<T: Send + 'static> = JoinHandle<T>;
    type OneTx = mpsc::SyncSender<u64>;
    type OneRx = mpsc::Receiver<u64>;
    type Tx = mpsc::Sender<u64>;
    type Rx = mpsc::Receiver<u64>;

    fn run<T, F>(_workers: usize, body: F) -> T
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        Self::join(Self::spawn(body)).expect("the body ran to its end")
    }

    #[inline]
    fn spawn<T, F>(body: F) -> JoinHandle<T>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        thread::Builder::new().stack_size(STACK).spawn(body).expect("a thread starts")
    }

    fn join<T: Send + 'static>(join: JoinHandle<T>) -> Option<T> {
        join.join().ok()
    }

    fn yield_now() {
        thread::yield_now();
    }

    fn sleep(time: Duration) {
        thread::sleep(time);
    }

    fn oneshot() -> (Self::OneTx, Self::OneRx) {
        mpsc::sync_channel(1)
    }

    fn send_one(tx: Self::OneTx, value: u64) {
        tx.send(value).expect("the receiver waits");
    }

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

impl Echo for Std {
    fn echo(ready: Ready) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        ready.listening(listener.local_addr().expect("an address"));
        for stream in listener.incoming() {
            let stream = stream.expect("a connection");
            stream.set_nodelay(true).expect("no delay");
            drop(Std::spawn(move || echo(stream)));
        }
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

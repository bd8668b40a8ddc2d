//! A ring of processes, each with a stack and a mailbox of its own, that pass a token round.

use raddle::actor::{self, Address, Cx, ExitReason};
use raddle::sync::Wait;

const PROCESSES: u64 = 100_000;
const ROUNDS: u64 = 3;

/// A process that passes on what it receives, one higher, until it has done so once a round.
fn link(next: Address<u64>) -> Address<u64> {
    let process = actor::spawn(move |cx: &mut Cx<u64>| {
        for _ in 0..ROUNDS {
            let Ok(token) = cx.receive() else { return };
            if next.send(token + 1).wait().is_err() {
                return;
            }
        }
    });
    process.address().clone()
}

/// Closes the ring at this process, and sends the token round.
fn ring(cx: &mut Cx<u64>) -> u64 {
    let mut first = cx.address();
    for _ in 1..PROCESSES {
        first = link(first);
    }
    let mut token = 0;
    for _ in 0..ROUNDS {
        first.send(token + 1).wait().expect("the first of the ring receives");
        token = cx.receive().expect("the token comes round");
    }
    token
}

fn main() -> Result<(), ExitReason> {
    let passed = actor::run(|_| actor::spawn(ring).join().wait())??;
    assert_eq!(passed, PROCESSES * ROUNDS);
    println!("passed {passed} times");
    Ok(())
}

//! Two processes on one worker that yield to each other, and nothing else: no I/O, no timers, no
//! channels. For looking at a switch under a debugger, or for counting its instructions:
//! `valgrind --tool=callgrind --toggle-collect='*probed*' ctx_switch_probe 10000`.

use raddle::Builder;
use raddle::actor::{self, Cx};
use raddle::sync::Wait;

/// What a process does: yields a number of times.
#[inline(never)]
fn probed(cx: &mut Cx<()>, yields: u32) -> u32 {
    for _ in 0..yields {
        cx.yield_now();
    }
    yields
}

fn main() -> std::io::Result<()> {
    let yields: u32 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1000);
    let done = actor::run_with(Builder::new().workers(1), move |_| {
        let pair = [(); 2].map(|()| actor::spawn(move |cx: &mut Cx<()>| probed(cx, yields)));
        pair.into_iter().map(|process| process.join().wait().expect("it only yields")).sum::<u32>()
    })?;
    assert_eq!(done, Ok(2 * yields));
    println!("{} yields", 2 * yields);
    Ok(())
}

//! Seeded rounds: what a stress test does again and again, and which runtime it does it on.
//!
//! Without a wish a test makes a few rounds, so that it is known to work. `RADDLE_STRESS` is the
//! number of seconds each goes on for instead; `RADDLE_SEED` names the one seed to repeat. A
//! round that fails or does not end within the watchdog's time says its seed.

use std::time::{Duration, Instant};

use raddle::{Builder, Io, Runtime};
use raddle_base::random::{self, Rng};

use crate::watched;

/// Rounds that are made where no stress is asked for.
const FEW: u32 = 3;

/// How long to go on; `None` for a few rounds.
fn wished() -> Option<Duration> {
    let seconds = std::env::var("RADDLE_STRESS").ok()?;
    Some(Duration::from_secs(seconds.parse().unwrap_or(20)))
}

/// Says the seed if the round panics, or when it is stuck and its thread is given up.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("to repeat this round: RADDLE_SEED={}", self.0);
        }
    }
}

/// Makes rounds, each with the dice of a new seed, each under the watchdog.
pub fn rounds(round: impl Fn(&mut Rng) + Send + Clone + 'static) {
    let make = |seed: u64| {
        let round = round.clone();
        let _said = Seed(seed);
        watched(move || round(&mut Rng::new(seed)));
    };
    if let Some(seed) = std::env::var("RADDLE_SEED").ok().and_then(|seed| seed.parse().ok()) {
        return make(seed);
    }
    let (begin, wished) = (Instant::now(), wished());
    let mut made = 0;
    while wished.map_or(made < FEW, |long| begin.elapsed() < long) {
        make(random::seed());
        made += 1;
    }
    println!("{made} rounds");
}

/// A runtime of one to three workers, on a backend by chance unless the environment has one.
pub fn any_runtime(dice: &mut Rng) -> Runtime {
    let builder = Builder::new().workers(1 + dice.below(3) as usize);
    let free = std::env::var_os("RADDLE_IO").is_none();
    let builder = if free && dice.below(2) == 0 { builder.io(Io::Epoll) } else { builder };
    builder.build().expect("a runtime can be made")
}

/// Dice for a part of a round, decided by those of the round.
pub fn dice_of(dice: &mut Rng) -> Rng {
    Rng::new(dice.next_u64())
}

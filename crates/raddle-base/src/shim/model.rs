//! The entry to a model run, and constants that shrink under it.

/// `production` in a real build, `model` under a checker: a ring of 256 becomes a ring of 4, so
/// that its edges are reached within the model's budget.
#[inline]
pub const fn bound(production: usize, model: usize) -> usize {
    if cfg!(any(loom, shuttle)) { model } else { production }
}

/// Explores every interleaving of `f` under loom, and runs it once otherwise.
///
/// At most three preemptions per execution are explored unless `LOOM_MAX_PREEMPTIONS` says
/// otherwise: the bound under which concurrency faults of this size are known to show.
///
/// **What it overlooks.** Loom tries other orders against the *last* access to an atomic only. If
/// thread A loads a word and does nothing else to it, and thread B then loads and exchanges it, the
/// exchange finds B's own load as the last access, and the order "exchange, then A's load" is not
/// explored. So let the thread that may only load be a spawned one and the exchanging side run in
/// `f` itself, or run the model in both role arrangements; and see each model fail once.
pub fn check(f: impl Fn() + Sync + Send + 'static) {
    check_bounded(3, f);
}

/// As [`check`], with a preemption bound of the caller's: for models of three threads, whose
/// number of interleavings would not fit into a run otherwise.
pub fn check_bounded(preemptions: usize, f: impl Fn() + Sync + Send + 'static) {
    #[cfg(not(loom))]
    {
        let _ = preemptions;
        f();
    }
    #[cfg(loom)]
    {
        let mut builder = loom::model::Builder::new();
        if builder.preemption_bound.is_none() {
            builder.preemption_bound = Some(preemptions);
        }
        builder.check(f);
    }
}

/// Runs `f` many times on schedules drawn by shuttle: `iterations` purely random ones, and as many
/// with random priorities that change three times a run (PCT), all from `seed`. Runs it once
/// without shuttle.
///
/// A run that fails prints its seed, with which `SHUTTLE_RANDOM_SEED` repeats it, and its schedule.
/// A run in which nobody can go on is a deadlock and fails; so does one of a million steps.
pub fn shuffle(seed: u64, iterations: usize, f: impl Fn() + Sync + Send + 'static) {
    #[cfg(not(shuttle))]
    {
        let _ = (seed, iterations);
        f();
    }
    #[cfg(shuttle)]
    {
        use shuttle::scheduler::{PctScheduler, RandomScheduler};
        let mut config = shuttle::Config::new();
        config.stack_size = 1 << 18;
        config.silence_warnings = true;
        let f = std::sync::Arc::new(move || {
            crate::shim::world::begin();
            f();
        });
        let runs = std::sync::Arc::clone(&f);
        eprintln!("random schedules from seed {seed}");
        let random = RandomScheduler::new_from_seed(seed, iterations);
        shuttle::Runner::new(random, config.clone()).run(move || runs());
        eprintln!("priorities from seed {seed}");
        let pct = PctScheduler::new_from_seed(seed, 3, iterations);
        shuttle::Runner::new(pct, config).run(move || f());
    }
}

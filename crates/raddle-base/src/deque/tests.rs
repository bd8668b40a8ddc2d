//! The ring in twins: against an oracle on one thread and under load on several; and every
//! interleaving of short programs under the model checker.

#[cfg(loom)]
mod models;
mod sequential;
mod threads;

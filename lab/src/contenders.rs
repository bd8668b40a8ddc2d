//! Who takes part, and where: a file for each runtime, and the table of them all.
//!
//! Adding a contender is a file with the adapter (`Tasks` or `Stacks`, and what it can of
//! `Offload`, `Files`, `Echo`, `Http`) and a row in `ALL`.

mod compio;
mod epoll;
mod home;
mod may;
mod monoio;
mod raddle;
mod smol;
mod std_threads;
mod table;
mod tokio;

use crate::contender::Contender;

#[cfg(test)]
mod tests;

/// All contenders, in the order of reports.
pub(crate) static ALL: &[Contender] = &[
    raddle::ONE,
    raddle::ONE_EPOLL,
    raddle::MULTI,
    raddle::MULTI_EPOLL,
    raddle::QUIET,
    raddle::LOCAL,
    raddle::LOCAL_EPOLL,
    tokio::CURRENT,
    tokio::MULTI,
    smol::SMOL,
    may::MAY,
    monoio::MONOIO,
    compio::COMPIO,
    epoll::RAW_EPOLL,
    std_threads::STD,
];

/// A contender by name.
pub(crate) fn find(name: &str) -> Option<&'static Contender> {
    ALL.iter().find(|contender| contender.name == name)
}

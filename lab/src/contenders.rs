//! Who takes part, and where: a file for each runtime, and the table of them all.
//!
//! Adding a contender is a file with the adapter (`Tasks` or `Stacks`, and what it can of
//! `Offload`, `Files`, `Echo`, `Http`; of a library of primitives, what it can of `kinds`) and a
//! row in `ALL`. `table` has the cases of runtimes, `rows` those of primitives.

mod async_channel;
mod async_lock;
mod asyncband;
mod compio;
mod epoll;
mod event_listener;
mod flume;
mod futures_intrusive;
mod home;
mod kanal;
mod may;
mod monoio;
mod parking_lot;
mod raddle;
mod rows;
mod smol;
mod std_threads;
mod table;
mod tokio;

use crate::contender::{Contender, Entry};

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
    asyncband::ASYNCBAND,
    tokio::primitives::TOKIO,
    async_lock::ASYNC_LOCK,
    event_listener::EVENT_LISTENER,
    futures_intrusive::FUTURES_INTRUSIVE,
    async_channel::ASYNC_CHANNEL,
    flume::FLUME,
    kanal::KANAL,
    parking_lot::PARKING_LOT,
];

/// A library of primitives: its name, and its entries.
pub(crate) type Library = (&'static str, fn() -> Vec<Entry>);

/// Who takes part in the cases of primitives, and how; apart from `ALL`, so that a program that
/// only runs these has no runtime but raddle's in it.
pub(crate) static LIBRARIES: &[Library] = &[
    ("raddle", raddle::primitives),
    ("asyncband", asyncband::ASYNCBAND.entries),
    ("tokio", tokio::primitives::TOKIO.entries),
    ("async-lock", async_lock::ASYNC_LOCK.entries),
    ("event-listener", event_listener::EVENT_LISTENER.entries),
    ("futures-intrusive", futures_intrusive::FUTURES_INTRUSIVE.entries),
    ("async-channel", async_channel::ASYNC_CHANNEL.entries),
    ("flume", flume::FLUME.entries),
    ("kanal", kanal::KANAL.entries),
    ("parking_lot", parking_lot::PARKING_LOT.entries),
];

/// A contender by name.
pub(crate) fn find(name: &str) -> Option<&'static Contender> {
    ALL.iter().find(|contender| contender.name == name)
}

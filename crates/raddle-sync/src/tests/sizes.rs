//! How large the types are: the table in the crate's documentation, row by row.

use crate::*;

macro_rules! rows {
    ($($name:literal: $type:ty),* $(,)?) => {
        [$(($name, size_of::<$type>())),*]
    };
}

#[test]
fn the_table_of_sizes_is_true() {
    let rows = rows! {
        "ManualResetEvent": ManualResetEvent,
        "AutoResetEvent": AutoResetEvent,
        "Mutex<()>": Mutex<()>,
        "RwLock<()>": RwLock<()>,
        "Condvar": Condvar,
        "Semaphore": Semaphore,
        "Notify": Notify,
        "Latch": Latch,
        "WaitGroup": WaitGroup,
        "Barrier": Barrier,
        "Phaser": Phaser,
        "EventCount": EventCount,
        "TaskTracker": TaskTracker,
        "Shutdown": Shutdown,
        "CancellationToken": CancellationToken,
        "Once": Once,
        "OnceCell<u64>": OnceCell<u64>,
        "SetOnce<u64>": SetOnce<u64>,
        "OnceMap<u64, u64>": OnceMap<u64, u64>,
        "WaitMap<u64, u64>": WaitMap<u64, u64>,
        "oneshot::Sender": oneshot::Sender<u64>,
        "oneshot::Receiver": oneshot::Receiver<u64>,
        "mpsc::Sender": mpsc::Sender<u64>,
        "mpsc::Receiver": mpsc::Receiver<u64>,
        "mpmc::Sender": mpmc::Sender<u64>,
        "mpmc::Receiver": mpmc::Receiver<u64>,
        "broadcast::Sender": broadcast::Sender<u64>,
        "broadcast::Receiver": broadcast::Receiver<u64>,
        "watch::Sender": watch::Sender<u64>,
        "watch::Receiver": watch::Receiver<u64>,
    };
    let text = include_str!("../lib.rs");
    for (name, size) in rows {
        let row = format!("//! | `{name}` | {size} |");
        assert!(text.lines().any(|line| line == row), "the table in lib.rs lacks\n{row}");
    }
}

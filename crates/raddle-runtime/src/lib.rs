//! Tasks, the work-stealing scheduler, timers and the blocking pool.

pub mod time;

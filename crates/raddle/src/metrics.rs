//! What a runtime has counted, and how long events waited for it.
//!
//! [`Runtime::metrics`](crate::Runtime::metrics) and [`Handle::metrics`](crate::Handle::metrics)
//! give a snapshot at any time, on any thread. Counting is always on. Latencies and lengths are
//! sampled, one event in 64, because a reading of the clock costs more than a short dispatch; each
//! field says how. [`Builder::metrics`](crate::Builder::metrics) turns the samples off.
//!
//! ```
//! # use std::time::Duration;
//! let runtime = raddle::Runtime::builder().workers(1).build()?;
//! runtime.block_on(async {
//!     for _ in 0..10 {
//!         raddle::spawn(raddle::time::sleep(Duration::from_micros(100))).await.unwrap();
//!     }
//! });
//! let metrics = runtime.metrics().total();
//! println!("{metrics}");
//! assert!(metrics.dispatches >= 20);
//! let late = &metrics.timer_lateness;
//! assert_eq!(late.count(), 10);
//! println!("half of the timers were late by {:?} or less", late.percentile(0.5));
//! # Ok::<(), std::io::Error>(())
//! ```

pub use raddle_runtime::{Histogram, Metrics, WorkerMetrics};

//! hyper on raddle: its traits for input and output, for spawning and for time.
//!
//! * [`RaddleIo`] makes a stream of raddle one of hyper's, without a copy and without zeroing
//!   buffers; writes are vectored.
//! * [`RaddleExecutor`] spawns hyper's tasks (HTTP/2 needs some) on the current runtime.
//! * [`RaddleTimer`] gives hyper raddle's time, for its time-outs.
//!
//! ```
//! # use hyper::{Request, Response, body::Incoming, server::conn::http1, service::service_fn};
//! # use raddle_hyper::{RaddleIo, RaddleTimer};
//! # async fn serve(stream: raddle::net::TcpStream) -> hyper::Result<()> {
//! let hello = service_fn(|_: Request<Incoming>| async {
//!     Ok::<_, std::convert::Infallible>(Response::new(String::from("hello")))
//! });
//! http1::Builder::new()
//!     .timer(RaddleTimer)
//!     .serve_connection(RaddleIo::new(stream), hello)
//!     .await
//! # }
//! ```

mod executor;
mod io;
mod timer;

pub use executor::RaddleExecutor;
pub use io::RaddleIo;
pub use timer::{RaddleTimer, TimerSleep};

//! tokio's traits of input and output for streams of raddle, and the other way round.
//!
//! Libraries that ask for `tokio::io::AsyncRead` and `AsyncWrite` take a [`Compat`] around any
//! type with the traits of `futures-io`, such as raddle's streams, halves and files. Around a type
//! with tokio's traits, a `Compat` has those of `futures-io`. None of tokio's runtime is used or
//! needed; what asks for tokio's *context* (its timers, its sockets) does not work.
//!
//! ```
//! # async fn example(stream: raddle::net::TcpStream) -> std::io::Result<()> {
//! use raddle_tokio_io::Compat;
//! use tokio::io::AsyncWriteExt;
//! let mut stream = Compat::new(stream);
//! stream.write_all(b"hello").await?;
//! # Ok(()) }
//! ```

mod compat;

pub use compat::Compat;

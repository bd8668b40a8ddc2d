//! The input and output traits of tokio for streams of raddle.

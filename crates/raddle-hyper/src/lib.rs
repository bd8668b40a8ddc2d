//! The traits of hyper (Read, Write, Executor, Timer) for raddle.

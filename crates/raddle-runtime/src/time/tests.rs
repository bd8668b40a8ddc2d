//! Tests of the timers: the wheel against an ordered map, the protocol sequentially and under
//! loom, and what users see.

mod support;

mod boot;
mod model;
mod sleep;
mod timers;
mod wheel;

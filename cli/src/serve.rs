//! `raddle serve [DIR]`: a directory over HTTP/1.1.
//!
//! The parts that decide and those that open files stand first, each pure or blocking and
//! tested alone; the serving loop is put on top of them.
#![cfg_attr(not(test), expect(dead_code, reason = "the loop follows with the runtime"))]

mod admission;
mod conditional;
mod content_type;
mod escape;
mod listing;
mod lookup;
mod options;
mod plan;
mod range;
mod root;
mod target;
mod validators;

pub(crate) use options::Options;

use crate::failure::Failure;

/// Runs the subcommand until Ctrl-C.
pub(crate) fn run(options: Options) -> Result<(), Failure> {
    root::Root::open(&options.dir).map_err(|error| {
        Failure::of(format_args!("cannot serve {}", options.dir.display()), &error)
    })?;
    Err(Failure::new("serve: not in this build yet"))
}

//! `alloc_probe`: how often does each primitive allocate, ready and suspended?
//!
//! The program runs under an allocator that counts. First table: every wait of raddle's primitives,
//! made and polled by hand, found ready and left waiting until it is released; waits must not
//! allocate at all. Second: what making a thing allocates, against what its documentation says.
//! Third: the lab's cases of primitives, all contenders, allocations an operation. A number of
//! raddle that is not the documented one is an exit code other than 0, except in the third table
//! where a case runs on tasks or threads: those allocate when they like, and it is only shown.

mod channels;
mod locks;
mod made;
mod many;
mod meetings;
mod once;
mod peers;
mod report;

use report::Report;
use std::process::ExitCode;

/// The program `alloc_probe`: `--raddle` leaves out the third table.
pub(crate) fn main() -> ExitCode {
    let mut report = Report::default();
    report.table("| wait | ready | suspended | no allocation |");
    locks::waits(&mut report);
    meetings::waits(&mut report);
    once::waits(&mut report);
    channels::waits(&mut report);
    many::waits(&mut report);
    report.table("| operation | allocations | documented | as documented |");
    made::operations(&mut report);
    if !std::env::args().any(|argument| argument == "--raddle") {
        peers::cases(&mut report);
    }
    print!("{}", report.text.trim_start());
    if report.wrong == 0 {
        return ExitCode::SUCCESS;
    }
    eprintln!("{} not as documented", report.wrong);
    ExitCode::FAILURE
}

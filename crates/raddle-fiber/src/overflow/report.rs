//! The report of a stack overflow, written without allocating and without a lock.

use crate::control::Control;
use crate::stack::map::Place;
use std::fmt::{self, Write};

/// The report: what is longer is cut off.
struct Text {
    bytes: [u8; 512],
    length: usize,
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = &mut self.bytes[self.length..];
        let fits = text.len().min(room.len());
        room[..fits].copy_from_slice(&text.as_bytes()[..fits]);
        self.length += fits;
        Ok(())
    }
}

/// Names are cut after so many bytes.
const NAME: usize = 128;

/// Writes the report to standard error.
pub(super) fn write(control: &Control, place: Place, address: usize) {
    let mut text = Text { bytes: [0; 512], length: 0 };
    let name = control.name.as_str().unwrap_or("<unnamed>");
    let name = name.get(..NAME).unwrap_or(name);
    // The buffer takes everything, and cuts.
    let _ = write!(
        text,
        "\nfiber '{name}' (id {}) has overflowed its stack\nstack {:#x}..{:#x} ({} bytes), guard \
         {:#x}..{:#x}, fault at {address:#x}\nfatal error: stack overflow of a fiber\n",
        control.id,
        place.bottom,
        place.top,
        place.top - place.bottom,
        place.guard,
        place.bottom,
    );
    let mut rest = &text.bytes[..text.length];
    while !rest.is_empty() {
        // SAFETY: writes initialised bytes.
        let written = unsafe { libc::write(2, rest.as_ptr().cast(), rest.len()) };
        match usize::try_from(written) {
            Ok(written) if written > 0 => rest = &rest[written.min(rest.len())..],
            _ => return,
        }
    }
}

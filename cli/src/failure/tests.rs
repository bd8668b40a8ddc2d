//! One line, with the reason once.

use super::*;

#[test]
fn reason_without_number() {
    let error = io::Error::from_raw_os_error(98);
    let line = Failure::of("cannot listen on 127.0.0.1:80", &error).to_string();
    assert_eq!(line, "cannot listen on 127.0.0.1:80: Address already in use");
}

#[test]
fn text_of_other_errors_is_kept() {
    let error = io::Error::other("no ring (memlock)");
    assert_eq!(Failure::of("x", &error).to_string(), "x: no ring (memlock)");
}

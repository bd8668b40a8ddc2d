//! Small writes: order, what waits behind, errors, memory.

use super::*;

fn slices<'a>(bytes: &'a [&'a [u8]]) -> Vec<IoSlice<'a>> {
    bytes.iter().map(|bytes| IoSlice::new(bytes)).collect()
}

/// As `begin`, without a ring to submit to.
fn begin(outgoing: &mut Outgoing, bytes: &[u8]) {
    outgoing.flying.extend_from_slice(bytes);
    outgoing.busy = true;
}

#[test]
fn what_is_written_meanwhile_goes_next_and_in_order() {
    let mut outgoing = Outgoing::default();
    begin(&mut outgoing, b"one");
    assert_eq!(outgoing.append(&slices(&[b"tw", b"o"])), 3);
    assert_eq!(outgoing.append(&slices(&[b"three"])), 5);
    let sent = outgoing.tell(0, Some(3));
    assert!(sent.again.is_some() && !sent.failed);
    assert_eq!(outgoing.flying, b"twothree");
    let sent = outgoing.tell(0, Some(8));
    assert!(sent.again.is_none() && !sent.failed && !outgoing.is_busy());
}

#[test]
fn a_short_send_goes_on_with_the_rest() {
    let mut outgoing = Outgoing::default();
    begin(&mut outgoing, b"abcdef");
    assert!(outgoing.tell(0, Some(2)).again.is_some());
    assert_eq!(outgoing.taken, 2);
    assert!(outgoing.tell(0, Some(3)).again.is_some());
    assert!(outgoing.tell(0, Some(-libc::EINTR)).again.is_some());
    assert!(outgoing.tell(0, Some(1)).again.is_none());
    assert!(!outgoing.is_busy());
}

#[test]
fn what_waits_behind_is_bounded() {
    let mut outgoing = Outgoing::default();
    begin(&mut outgoing, b"x");
    let chunk = vec![0; 10_000];
    assert_eq!(outgoing.append(&slices(&[&chunk])), 10_000);
    assert_eq!(outgoing.append(&slices(&[&chunk])), BEHIND - 10_000);
    assert_eq!(outgoing.append(&slices(&[&chunk])), 0);
}

#[test]
fn an_error_is_reported_once_and_drops_what_waits() {
    for result in [Some(-libc::EPIPE), None] {
        let mut outgoing = Outgoing::default();
        begin(&mut outgoing, b"x");
        outgoing.append(&slices(&[b"y"]));
        let sent = outgoing.tell(0, result);
        assert!(sent.again.is_none() && sent.failed && !outgoing.is_busy());
        let expected = if result.is_some() { libc::EPIPE } else { libc::ECANCELED };
        assert_eq!(outgoing.take_error(), Some(expected));
        assert_eq!(outgoing.take_error(), None);
    }
}

#[test]
fn large_buffers_go_back_after_use() {
    let mut outgoing = Outgoing::default();
    begin(&mut outgoing, &[0; 8000]);
    let _ = outgoing.tell(0, Some(8000));
    assert_eq!(outgoing.flying.capacity(), 0);
    begin(&mut outgoing, &[0; 64]);
    let _ = outgoing.tell(0, Some(64));
    assert!(outgoing.flying.capacity() >= 64, "small ones stay");
}

//! A reader of others as one that needs no initialised room.

use super::{PollRead, ZeroFilled, all_empty};
use std::future::poll_fn;
use std::mem::MaybeUninit;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

#[test]
fn foreign_readers_fill_uninitialised_room() {
    let mut reader = ZeroFilled::new(&b"hello"[..]);
    let mut room = [MaybeUninit::<u8>::uninit(); 4];
    let mut read = |room: &mut [MaybeUninit<u8>]| {
        let future = pin!(poll_fn(|cx| Pin::new(&mut reader).poll_read_uninit(cx, room)));
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => result.unwrap(),
            Poll::Pending => panic!("bytes in memory are there"),
        }
    };
    assert_eq!(read(&mut room), 4);
    // SAFETY: a read of four bytes has initialised them.
    assert_eq!(room.map(|byte| unsafe { byte.assume_init() }), *b"hell");
    assert_eq!(read(&mut room), 1);
    assert_eq!(read(&mut room), 0);
    assert_eq!(read(&mut []), 0);
    assert!(reader.into_inner().is_empty());
}

#[test]
fn slices_without_bytes() {
    assert!(all_empty::<&[u8]>(&[]));
    assert!(all_empty(&[&b""[..], b""]));
    assert!(!all_empty(&[&b""[..], b"x"]));
}

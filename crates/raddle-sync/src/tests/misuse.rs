//! What is asked for wrongly is refused, by a panic that says so in the caller's place or by an
//! error, and leaves everything as it was.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::{Arc, Once as StdOnce};

use super::support::Polled;
use crate::{
    AutoResetEvent, Barrier, EventSlot, Latch, ManualResetEvent, Phaser, PhaserError, RwLock,
    Semaphore, SetOnce, broadcast, mpmc, mpsc, pool, spmc,
};

thread_local! {
    /// The file and the text of the last panic here.
    static LAST: Cell<Option<(String, String)>> = const { Cell::new(None) };
}

fn watch_panics() {
    static WATCH: StdOnce = StdOnce::new();
    WATCH.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            let file = info.location().map_or("", |place| place.file()).to_owned();
            LAST.set(Some((file, info.payload_as_str().unwrap_or("").to_owned())));
            before(info);
        }));
    });
}

/// `misuse` panics, in this file, with a text that has `words` in it.
#[track_caller]
fn refused<R>(words: &str, misuse: impl FnOnce() -> R) {
    watch_panics();
    assert!(catch_unwind(AssertUnwindSafe(|| drop(misuse()))).is_err(), "not refused: {words}");
    let (file, text) = LAST.take().expect("it was seen");
    assert!(file.ends_with("tests/misuse.rs"), "told in {file}: {text}");
    assert!(text.contains(words), "{text}");
}

#[test]
fn what_cannot_be_is_not_made() {
    refused("more permits", || Semaphore::new(Semaphore::MAX_PERMITS + 1));
    refused("more permits", || Semaphore::const_new(usize::MAX));
    refused("more permits than the semaphore's maximum", || Semaphore::with_maximum(3, 2));
    refused("room for no permit", || Semaphore::with_maximum(0, 0));
    refused("at least one party", || Barrier::new(0));
    refused("more parties than it can count", || Barrier::new(usize::MAX));
    refused("count is too large", || Latch::new(Latch::MAX_COUNT + 1));
    refused("room for an object", || pool::Pool::bounded(0, pool::NeverManageObject::<u8>::new()));
    let too_large = Semaphore::MAX_PERMITS + 1;
    refused("more permits", || {
        pool::Pool::bounded(too_large, pool::NeverManageObject::<u8>::new())
    });
    refused("no reader may enter", || RwLock::with_max_readers(0, 0));
    refused("no reader may enter", || RwLock::preferring_writers_with_max_readers(0, 0));
    refused("above RwLock::MAX_LIMIT", || RwLock::with_max_readers(0, u32::MAX));
    refused("room for at least one value", || mpsc::channel::<u8>(0));
    refused("room for at least one value", || broadcast::channel::<u8>(0));
    refused("room for at least one value", || broadcast::lossless_channel::<u8>(0));
    refused("needs room for a value", || mpmc::bounded::<u8>(0));
    refused("needs room for a value", || mpmc::overwriting::<u8>(0));
    refused("needs room for a value", || spmc::bounded::<u8>(0));
    refused("bound of a channel is too large", || mpmc::bounded::<u8>(usize::MAX));
    refused("bound of a channel is too large", || mpsc::channel::<u8>(usize::MAX));
}

#[test]
fn permits_that_nobody_took_do_not_come_back() {
    let semaphore = Semaphore::with_maximum(1, 3);
    assert_eq!(semaphore.maximum(), 3);
    refused("room for 2 more", || semaphore.add_permits(3));
    refused("room for 2 more", || semaphore.add_permits(usize::MAX));
    assert_eq!(semaphore.try_add_permits(3).map_err(|error| error.room()), Err(2));
    assert_eq!(semaphore.available_permits(), 1);
    semaphore.add_permits(2);
    let all = semaphore.try_acquire_many(3).unwrap();
    // Somebody waits, and gets what is added; no more is taken than may ever be free.
    let mut waits = Polled::pending(semaphore.acquire_many(2));
    refused("room for 3 more", || semaphore.add_permits(4));
    assert!(waits.poll().is_pending());
    semaphore.add_permits(3);
    let theirs = waits.ready().unwrap();
    assert_eq!(semaphore.available_permits(), 1);
    // Six were given out or are free by now, and three may be.
    drop(all);
    assert_eq!(semaphore.available_permits(), 3);
    drop(theirs);
    assert_eq!(semaphore.available_permits(), 3);

    let semaphore = Semaphore::new(2);
    assert_eq!(semaphore.maximum(), Semaphore::MAX_PERMITS);
    refused("room for", || semaphore.add_permits(Semaphore::MAX_PERMITS - 1));
    assert_eq!(semaphore.available_permits(), 2);
    let one = semaphore.try_acquire().unwrap();
    semaphore.add_permits(Semaphore::MAX_PERMITS - 1);
    drop(one);
    assert_eq!(semaphore.available_permits(), Semaphore::MAX_PERMITS);
    semaphore.drain_permits();
    refused("taken away", || semaphore.reduce_permits(Semaphore::MAX_PERMITS + 1));
    assert_eq!((semaphore.available_permits(), semaphore.owed_permits()), (0, 0));
}

#[test]
fn permits_stay_with_their_semaphore() {
    let (one, other) = (Semaphore::new(1), Semaphore::new(1));
    let (mut mine, theirs) = (one.try_acquire().unwrap(), other.try_acquire().unwrap());
    assert!(mine.split(2).is_none());
    refused("different semaphores", || mine.merge(theirs));
    assert_eq!((mine.num_permits(), other.available_permits()), (1, 1));
    drop(mine);
    let (one, other) = (Arc::new(one), Arc::new(other));
    let mut mine = one.clone().try_acquire_owned().unwrap();
    let theirs = other.clone().try_acquire_owned().unwrap();
    refused("different semaphores", || mine.merge(theirs));
    drop(mine);
    assert_eq!((one.available_permits(), other.available_permits()), (1, 1));
}

#[test]
fn no_more_places_are_waited_for_than_there_can_be() {
    let (tx, _rx) = mpmc::bounded::<u8>(2);
    refused("more places than the channel", || tx.reserve_many(3));
    refused("more places than the channel", || tx.try_reserve_many(3).is_ok());
    assert!(tx.try_reserve_many(2).is_ok());
    let (tx, _rx) = broadcast::lossless_channel::<u8>(2);
    refused("more places than the channel", || tx.reserve_many(3));
    refused("more places than the channel", || tx.try_reserve_many(3).is_ok());
    assert_eq!(tx.capacity(), 2);
    let (tx, _rx) = mpsc::channel::<u8>(2);
    assert!(Polled::new(tx.reserve_many(3)).ready().is_err() && tx.try_reserve_many(3).is_err());
    assert_eq!(tx.capacity(), 2);
}

#[test]
fn counts_do_not_run_over() {
    let latch = Latch::new(2);
    latch.arrive(usize::MAX);
    latch.count_down();
    assert_eq!(latch.count(), 0);
    let phaser = Phaser::new();
    let parties = phaser.register(3).unwrap();
    assert!(matches!(phaser.register(usize::MAX), Err(PhaserError::TooManyParties)));
    assert_eq!(phaser.registered_parties(), 3);
    drop(parties);
    let cell = SetOnce::from(1);
    assert_eq!(cell.set(2).unwrap_err().0, 2);
}

#[test]
fn a_slot_belongs_to_its_event() {
    use std::pin::pin;
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let (one, other) = (ManualResetEvent::new(), ManualResetEvent::with_state(true));
    let mut slot = pin!(EventSlot::new(&one));
    refused("not made for", || other.poll_wait(slot.as_mut(), &mut cx).is_ready());
    let (one, other) = (AutoResetEvent::new(), AutoResetEvent::with_state(true));
    let mut slot = pin!(EventSlot::new(&one));
    refused("not made for", || other.poll_wait(slot.as_mut(), &mut cx).is_ready());
    assert!(other.reset());
}

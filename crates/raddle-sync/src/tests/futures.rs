//! Every future of a public method has a name and ends by a token, which leaves its primitive as it
//! was. The list is compared with the sources, so that none is left out.

use std::any::type_name;
use std::collections::BTreeSet;
use std::future::{Future, IntoFuture, pending};
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;

use super::support::{Polled, now};
use crate::{
    AutoResetEvent, Barrier, CancelExt, CancellationToken, Condvar, EventCount, Latch, LazyCell,
    ManualResetEvent, Mutex, Notify, Once, OnceCell, OnceMap, Phaser, RwLock,
    RwLockUpgradableGuard, Semaphore, SetOnce, Shutdown, TaskTracker, WaitGroup, WaitMap, pool,
    singleflight,
};

/// The names of the futures that were checked.
struct Seen(BTreeSet<String>);

impl Seen {
    /// A future that would wait is ended by a token before and after its first poll.
    fn check<F: Future>(&mut self, make: impl Fn() -> F) {
        let (before, after) = (CancellationToken::new(), CancellationToken::new());
        before.cancel();
        assert!(now(make().cancel_on(&before)).is_err(), "{}", type_name::<F>());
        let mut waits = Polled::pending(make().cancel_on(&after));
        after.cancel();
        assert!(waits.wakes() >= 1, "{}", type_name::<F>());
        assert!(waits.ready().is_err());
        self.note::<F>();
    }

    fn note<F>(&mut self) {
        let path = type_name::<F>().split('<').next().expect("a first part");
        assert!(path.starts_with("raddle_sync::") && !path.contains('{'), "{path} is no name");
        self.0.extend(path.rsplit("::").next().map(String::from));
    }
}

fn locks(seen: &mut Seen) {
    let lock = Arc::new(Mutex::new(0));
    let guard = lock.try_lock();
    seen.check(|| lock.lock());
    seen.check(|| lock.clone().lock_owned());
    drop(guard);
    let (condvar, other) = (Condvar::new(), Mutex::new(0));
    seen.check(|| condvar.wait(other.try_lock().unwrap()));
    seen.check(|| condvar.wait_while(other.try_lock().unwrap(), |_| true));
    assert!(lock.try_lock().is_some() && other.try_lock().is_some());

    let lock = Arc::new(RwLock::new(0));
    let guard = lock.try_write();
    seen.check(|| lock.read());
    seen.check(|| lock.write());
    seen.check(|| lock.upgradable_read());
    seen.check(|| lock.clone().read_owned());
    seen.check(|| lock.clone().write_owned());
    seen.check(|| lock.clone().upgradable_read_owned());
    drop(guard);
    let guard = lock.try_read();
    seen.check(|| RwLockUpgradableGuard::upgrade(lock.try_upgradable_read().unwrap()));
    drop(guard);
    assert!(lock.try_write().is_some());
}

fn signals(seen: &mut Seen) {
    let semaphore = Arc::new(Semaphore::new(1));
    seen.check(|| semaphore.acquire_many(2));
    seen.check(|| semaphore.clone().acquire_many_owned(2));
    assert_eq!(semaphore.available_permits(), 1);
    let notify = Arc::new(Notify::new());
    seen.check(|| notify.notified());
    seen.check(|| notify.clone().notified_owned());
    let (gate, turnstile) = (ManualResetEvent::new(), Arc::new(AutoResetEvent::new()));
    seen.check(|| gate.wait());
    seen.check(|| turnstile.clone().wait_owned());
    turnstile.set();
    assert!(turnstile.reset());
    let event = Arc::new(EventCount::new());
    seen.check(|| event.wait(event.key()));
    seen.check(|| event.clone().wait_owned(event.key()));
    seen.check(|| event.wait_until(|| None::<u8>));
    let token = CancellationToken::new();
    seen.check(|| token.cancelled());
    seen.check(|| token.clone().cancelled_owned());
    seen.check(|| token.run_until_cancelled(pending::<()>()));
    seen.check(|| token.cancelled().cancel_on(&token));
    // Of all channels with many receivers.
    let (tx, _rx) = crate::watch::channel(1);
    seen.check(|| tx.closed());
}

fn meetings(seen: &mut Seen) {
    let (latch, group) = (Arc::new(Latch::new(9)), WaitGroup::new());
    seen.check(|| latch.wait());
    seen.check(|| latch.clone().wait_owned());
    seen.check(|| latch.arrive_and_wait());
    assert_eq!(latch.count(), 8, "an arrival stays");
    seen.check(|| group.watch());
    let barrier = Arc::new(Barrier::new(2));
    seen.check(|| barrier.wait());
    seen.check(|| barrier.clone().wait_owned());
    assert_eq!(barrier.waiting(), 0);
    let phaser = Arc::new(Phaser::new());
    seen.check(|| phaser.wait(phaser.phase()));
    seen.check(|| phaser.clone().wait_owned(phaser.phase()));
    let mut parties = phaser.register(2).unwrap();
    let (one, _other) = (std::sync::Mutex::new(parties.next().unwrap()), parties.next());
    let token = CancellationToken::new();
    let mut one = one.lock().unwrap();
    let mut wait = Polled::pending(one.wait().cancel_on(&token));
    token.cancel();
    assert!(wait.ready().is_err());
    drop(wait);
    fn name<F: Future>(_: &F, seen: &mut Seen) {
        seen.note::<F>();
    }
    name(&one.wait(), seen);
    let tracker = TaskTracker::new();
    seen.check(|| tracker.wait());
    seen.check(|| tracker.clone().wait_owned());
    seen.check(|| tracker.track_future(pending::<()>()));
    let (shutdown, guard) = Shutdown::new();
    seen.check(|| guard.shutdown_requested());
    seen.check(|| guard.shutdown_requested_owned());
    seen.check(|| shutdown.clone().into_future());
    seen.check(|| shutdown.wait_in_stages([shutdown.child().0, shutdown.clone()]));
}

fn values(seen: &mut Seen) {
    let (once, cell) = (Arc::new(Once::new()), OnceCell::<u8>::new());
    seen.check(|| once.call_once(pending));
    seen.check(|| once.wait());
    seen.check(|| once.clone().wait_owned());
    seen.check(|| cell.get_or_init(pending));
    seen.check(|| cell.get_or_try_init(pending::<Result<u8, ()>>));
    seen.check(|| cell.wait());
    let making = Polled::pending(cell.get_or_init(pending));
    seen.check(|| cell.try_insert(1));
    drop(making);
    assert_eq!(cell.set(1), Ok(()));
    let set = SetOnce::<u8>::new();
    seen.check(|| set.wait());
    let (_completer, completion) = crate::completion::completion::<u8>();
    seen.check(|| completion.wait());
    seen.check(|| completion.clone().wait_owned());
    let lazy = pin!(LazyCell::new(pending::<u8>));
    let lazy = lazy.as_ref();
    seen.check(|| lazy.force_pin());
    exclusive(seen);
}

/// Those that borrow their cell exclusively.
fn exclusive(seen: &mut Seen) {
    fn check<F: Future>(future: F, seen: &mut Seen) {
        let token = CancellationToken::new();
        let mut waits = Polled::pending(future.cancel_on(&token));
        token.cancel();
        assert!(waits.ready().is_err());
        seen.note::<F>();
    }
    let mut cell = OnceCell::<u8>::new();
    check(cell.get_mut_or_init(pending), seen);
    check(cell.get_mut_or_try_init(pending::<Result<u8, ()>>), seen);
    assert_eq!(now(cell.get_mut_or_try_init(|| async { Err("no") })), Err("no"));
    assert_eq!(now(cell.get_mut_or_try_init(|| async { Ok::<_, ()>(3) })), Ok(&mut 3));
    *now(cell.get_mut_or_init(pending)) += 1;
    assert_eq!(cell.into_inner(), Some(4));
    let gate = ManualResetEvent::new();
    let mut lazy = Box::pin(LazyCell::new(|| async {
        gate.wait().await;
        5
    }));
    check(lazy.as_mut().force_pin_mut(), seen);
    let mut forced = Polled::pending(lazy.as_mut().force_pin_mut());
    gate.set();
    assert_eq!((forced.wakes(), forced.ready()), (1, &mut 5));
    let mut movable = LazyCell::new(|| std::future::ready(6));
    *now(movable.force_mut()) += 1;
    assert_eq!(movable.get(), Some(&7));
}

fn maps(seen: &mut Seen) {
    let (map, group) = (OnceMap::<String, u8>::new(), singleflight::Group::<u8, u8>::new());
    let key = || String::from("key");
    seen.check(|| map.compute(key(), pending));
    seen.check(|| map.try_compute(key(), pending::<Result<u8, ()>>));
    seen.check(|| map.compute_ref("key", pending));
    assert!(map.is_empty());
    seen.check(|| group.work(1, pending));
    seen.check(|| group.work_shared(1, pending));
    seen.check(|| group.try_work(1, pending::<Result<u8, ()>>));
    seen.check(|| group.try_work_shared(1, pending::<Result<u8, ()>>));
    assert!(group.is_empty());
    let map = Arc::new(WaitMap::<u8, u8>::new());
    seen.check(|| map.wait(1));
    seen.check(|| map.clone().wait_owned(1));
    assert_eq!(map.wake(&1, 2), Err(2));
    let pool = pool::Pool::bounded(1, pool::NeverManageObject::<u8>::new());
    seen.check(|| pool.get());
    seen.check(|| pool.replenish_to(1));
    assert_eq!(pool.status().size, 0);
}

#[test]
fn every_future_has_a_name_and_ends_by_a_token() {
    let mut seen = Seen(BTreeSet::new());
    locks(&mut seen);
    signals(&mut seen);
    meetings(&mut seen);
    values(&mut seen);
    maps(&mut seen);
    let mut documented = BTreeSet::new();
    futures_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut documented);
    assert!(documented.len() > 40, "{documented:?}");
    let missing: Vec<_> = documented.difference(&seen.0).collect();
    assert!(missing.is_empty(), "without a check: {missing:?}");
}

/// Channels have tests of their own.
const ELSEWHERE: [&str; 7] = ["tests", "oneshot", "mpsc", "mpmc", "spmc", "watch", "broadcast"];

/// The names of those that are described as "The future of".
fn futures_in(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_stem().is_some_and(|stem| ELSEWHERE.iter().any(|other| stem == *other)) {
            continue;
        }
        if path.is_dir() {
            futures_in(&path, names);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let mut described = false;
        for line in text.lines().map(str::trim) {
            assert!(!line.starts_with("pub async fn"), "{}: {line}", path.display());
            described |= line.starts_with("/// The future of");
            if described && !line.starts_with("//") && !line.starts_with("#[") {
                described = false;
                let name = line.trim_start_matches("pub struct ");
                names.extend(name.split(|c: char| !c.is_alphanumeric()).next().map(String::from));
            }
        }
    }
}

#[test]
fn a_wait_in_a_map_or_a_pool_says_where_it_was_written() {
    let (map, group) = (OnceMap::<u8, u8>::new(), singleflight::Group::<u8, u8>::new());
    let (computes, works) =
        (Polled::pending(map.compute(1, pending)), Polled::pending(group.work(1, pending)));
    for text in [format!("{:?}", computes.future), format!("{:?}", works.future)] {
        assert!(text.contains("tests/futures.rs"), "{text}");
    }
}

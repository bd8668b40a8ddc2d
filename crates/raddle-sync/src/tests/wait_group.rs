//! The wait group: handles come and go, and what is asked of everything that lets many go.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::tests::crowds::{Case, check};
use crate::tests::support::{Polled, now, watchdog};
use crate::{WaitGroup, WaitGroupFuture};

/// A group whose handles lie beside an observer's future.
struct Group {
    handles: Mutex<Vec<WaitGroup>>,
    watch: WaitGroupFuture,
}

static CASE: Case<Group, usize, WaitGroupFuture> = Case {
    make: || {
        let group = WaitGroup::new();
        let watch = group.watch();
        (Arc::new(Group { handles: Mutex::new(vec![group]), watch }), 1)
    },
    wait: |group| group.watch.clone(),
    end: |group| {
        let handles = std::mem::take(&mut *group.handles.lock().unwrap());
        drop(handles);
    },
    is_over: |handles| *handles == 0,
    operations: &[
        |group, count| {
            let handles = &mut *group.handles.lock().unwrap();
            if let Some(handle) = handles.last().cloned() {
                handles.push(handle);
                *count += 1;
            }
            false
        },
        |group, count| {
            let handle = group.handles.lock().unwrap().pop();
            let had_one = handle.is_some();
            drop(handle);
            *count = count.saturating_sub(1);
            had_one && *count == 0
        },
    ],
    compare: |group, count| {
        let handles = group.handles.lock().unwrap();
        assert_eq!(handles.last().map_or(0, WaitGroup::count), *count);
    },
};

#[test]
fn a_wait_group_lets_all_go() {
    check(&CASE);
}

#[test]
fn awaiting_a_handle_finishes_it_so_peers_do_not_wait_for_each_other() {
    let group = WaitGroup::new();
    let mut peers = [(); 3].map(|()| Polled::pending(group.clone().wait()));
    assert_eq!(group.count(), 1);
    drop(group);
    for peer in &mut peers {
        assert_eq!(peer.wakes(), 1);
        peer.ready();
    }
    now(peers[0].future.as_ref().get_ref().clone());
}

#[test]
fn work_on_threads_is_waited_for() {
    watchdog(|| {
        let group = WaitGroup::default();
        let data = Arc::new(Mutex::new(0));
        for _ in 0..8 {
            let (group, data) = (group.clone(), data.clone());
            std::thread::spawn(move || {
                *data.lock().unwrap() += 1;
                drop(group);
            });
        }
        let other = group.clone();
        assert!(!group.clone().blocking_wait_timeout(Duration::ZERO), "others are at work");
        drop(other);
        group.blocking_wait();
        assert_eq!(*data.lock().unwrap(), 8);
    });
}

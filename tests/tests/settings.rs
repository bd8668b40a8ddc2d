//! What a builder is told is what the runtime does: workers, names, processors, blocking limits.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex, mpsc};

use raddle::task::Refusal;
use raddle::{Builder, Handle};
use raddle_tests::watched;

/// The processors that the calling thread may run on.
fn own_cpus() -> BTreeSet<usize> {
    // SAFETY: an all-zero set is the empty one, and it outlives the call.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        assert_eq!(libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set), 0);
        set
    };
    // SAFETY: the numbers are within the set.
    (0..libc::CPU_SETSIZE as usize).filter(|cpu| unsafe { libc::CPU_ISSET(*cpu, &set) }).collect()
}

/// Binds the calling thread to one processor.
fn bind(cpu: usize) {
    // SAFETY: as above; the call concerns this thread only.
    let done = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set)
    };
    assert_eq!(done, 0);
}

fn thread_name() -> String {
    std::thread::current().name().unwrap_or_default().to_owned()
}

#[test]
fn workers_have_the_name_and_their_number() {
    watched(|| {
        let names = Arc::new(Mutex::new(BTreeSet::new()));
        let told = Arc::clone(&names);
        let runtime = Builder::new()
            .workers(3)
            .name("proxy")
            .on_thread_start(move |worker| {
                told.lock().unwrap().insert((worker, thread_name()));
            })
            .build()
            .unwrap();
        runtime.block_on(async {});
        while names.lock().unwrap().len() < 3 {
            std::thread::yield_now();
        }
        let names = names.lock().unwrap().clone();
        let wanted = [(0, "proxy-0"), (1, "proxy-1"), (2, "proxy-2")];
        assert!(names.iter().map(|(n, name)| (*n, name.as_str())).eq(wanted), "{names:?}");
    });
}

#[test]
fn workers_are_bound_to_the_processors_in_turn() {
    watched(|| {
        let cpus: Vec<usize> = own_cpus().into_iter().take(2).collect();
        let bound = Arc::new(Mutex::new(BTreeSet::new()));
        let told = Arc::clone(&bound);
        let runtime = Builder::new()
            .workers(3)
            .cpus(cpus.clone())
            .on_thread_start(move |worker| {
                told.lock().unwrap().insert((worker, own_cpus()));
            })
            .build()
            .unwrap();
        runtime.block_on(async {});
        while bound.lock().unwrap().len() < 3 {
            std::thread::yield_now();
        }
        let bound = bound.lock().unwrap().clone();
        let wanted = (0..3).map(|n| (n, BTreeSet::from([cpus[n % cpus.len()]])));
        assert!(bound.iter().cloned().eq(wanted), "{bound:?}");
    });
}

#[test]
fn the_default_is_as_many_workers_as_the_process_may_use() {
    watched(|| {
        let allowed = own_cpus();
        let default = Builder::new().build().unwrap().metrics().workers.len();
        assert!(default >= 1 && default <= allowed.len(), "{default} workers on {allowed:?}");
        bind(*allowed.first().expect("this thread runs somewhere"));
        assert_eq!(Builder::new().build().unwrap().metrics().workers.len(), 1);
    });
}

#[test]
fn blocking_calls_are_limited_and_refusals_say_why() {
    watched(|| {
        let builder = Builder::new().workers(1).max_blocking_threads(1).blocking_queue_limit(1);
        builder.build().unwrap().run(async {
            let (begun, running) = mpsc::channel();
            let (release, wait) = mpsc::channel::<()>();
            let first = raddle::spawn_blocking(move || {
                begun.send(()).unwrap();
                wait.recv().unwrap();
            });
            running.recv().unwrap();
            let second = raddle::spawn_blocking(|| 2);
            let third = raddle::spawn_blocking(|| 3).await.unwrap_err();
            assert!(matches!(third.refusal(), Some(Refusal::Full)), "{third}");
            let handle = Handle::current();
            let back = handle.try_spawn_blocking(|| 4).unwrap_err();
            assert_eq!((back.into_job())(), 4);
            release.send(()).unwrap();
            first.await.unwrap();
            assert_eq!(second.await.unwrap(), 2);
        });
    });
}

#[test]
fn settings_that_make_no_sense_are_errors() {
    let refused = |builder: Builder| {
        let error = builder.build().expect_err("makes no sense");
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
        error.to_string()
    };
    assert!(refused(Builder::new().workers(0)).contains("workers"));
    assert!(refused(Builder::new().workers(1025)).contains("workers"));
    assert!(refused(Builder::new().workers(1).name("a\0b")).contains("name"));
    assert!(refused(Builder::new().workers(1).cpus([1 << 20])).contains("1048576"));
}

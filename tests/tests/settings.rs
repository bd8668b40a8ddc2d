//! What a builder is told is what the runtime does: workers, names, processors, blocking limits.

#[path = "settings/limited.rs"]
mod limited;

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use raddle::sync::Notify;
use raddle::task::{Refusal, yield_now};
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

/// Why the settings are refused.
fn refusal(builder: Builder) -> String {
    let error = builder.build().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    error.to_string()
}

#[test]
fn settings_of_the_service_have_edges() {
    let new = Builder::new;
    let (zero, long) = (Duration::ZERO, Duration::from_secs(1));
    assert!(refusal(new().service_target(zero)).contains("1 µs to 10 ms"));
    assert!(refusal(new().service_target(long)).contains("1 µs to 10 ms"));
    assert!(refusal(new().slot_runs(0)).contains("1 to 1,000"));
    assert!(refusal(new().slot_runs(1001)).contains("1 to 1,000"));
    assert!(refusal(new().spin_before_park(long)).contains("1 ms"));
    assert!(refusal(new().max_stand_ins(1025)).contains("1024"));
    assert!(refusal(new().report_after(Some(zero))).contains("give a time"));
    assert!(refusal(new().rescue_after(Some(zero))).contains("give a time"));
    let edges = new()
        .workers(1)
        .service_target(Duration::from_micros(1))
        .slot_runs(1)
        .spin_before_park(Duration::from_millis(1))
        .max_stand_ins(0)
        .report_after(None)
        .rescue_after(None);
    watched(move || {
        let runtime = edges.build().unwrap();
        let done = runtime.spawn(async {
            let (near, far) = raddle::net::UnixStream::pair().unwrap();
            for n in 0..20u8 {
                let told = raddle::spawn(async move { n });
                raddle::time::sleep(Duration::from_micros(200)).await;
                near.write_all(&[told.await.unwrap()]).await.unwrap();
                let mut byte = [0];
                far.read_exact(&mut byte).await.unwrap();
                assert_eq!(byte, [n]);
            }
        });
        runtime.block_on(done).unwrap();
    });
}

#[test]
fn the_slot_runs_as_often_in_a_row_as_it_is_told() {
    watched(|| {
        for limit in [1, 3, 10] {
            let runtime = Builder::new().workers(1).slot_runs(limit).build().unwrap();
            let most = runtime.block_on(runtime.spawn(most_in_a_row())).unwrap();
            assert_eq!(most, limit as usize);
        }
    });
}

/// Two tasks wake each other by the slot while this one yields: the most runs of theirs between
/// two of this one's.
async fn most_in_a_row() -> usize {
    let bells = [Arc::new(Notify::new()), Arc::new(Notify::new())];
    let rounds = Arc::new(AtomicUsize::new(0));
    for me in 0..2 {
        let (mine, theirs, rounds) = (bells[me].clone(), bells[1 - me].clone(), rounds.clone());
        raddle::spawn(async move {
            loop {
                mine.notified().await;
                rounds.fetch_add(1, Ordering::Relaxed);
                theirs.notify_one();
            }
        })
        .detach();
    }
    bells[0].notify_one();
    // They begin from the rotating queue.
    for _ in 0..10 {
        yield_now().await;
    }
    let mut most = 0;
    for _ in 0..1000 {
        let before = rounds.load(Ordering::Relaxed);
        yield_now().await;
        most = most.max(rounds.load(Ordering::Relaxed) - before);
    }
    most
}

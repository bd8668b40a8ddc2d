//! A local runtime whose only thread blocks hands over what need not stay with it.

use std::io::Write;
use std::sync::mpsc;
use std::time::Duration;

use raddle::LocalRuntime;
use raddle::net::UnixStream;
use raddle::task::{block_in_place, yield_now};
use raddle::time::sleep;
use raddle_tests::watched;

/// Longer than anything here takes: a hand-over that does not happen fails, and does not hang.
const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn io_goes_on_while_the_only_thread_blocks() {
    watched(|| {
        LocalRuntime::new().unwrap().run(async {
            let (mut near, far) = std::os::unix::net::UnixStream::pair().unwrap();
            let far = UnixStream::from_std(far).unwrap();
            let (told, wait) = mpsc::channel();
            let reader = raddle::spawn(async move {
                for _ in 0..3 {
                    let mut byte = [0];
                    far.read_exact(&mut byte).await.unwrap();
                    told.send(byte[0]).unwrap();
                }
            });
            for round in 0..3 {
                // The reader waits, and what it waits with is in the kernel.
                sleep(Duration::from_millis(1)).await;
                let got = block_in_place(|| {
                    near.write_all(&[round]).unwrap();
                    wait.recv_timeout(PATIENCE)
                });
                assert_eq!(got, Ok(round));
            }
            reader.await.unwrap();
        });
    });
}

#[test]
fn timers_and_ready_tasks_go_on_while_the_only_thread_blocks() {
    watched(|| {
        LocalRuntime::new().unwrap().run(async {
            let (told, wait) = mpsc::channel();
            let sleeper = raddle::spawn(async move {
                sleep(Duration::from_millis(5)).await;
                told.send("slept").unwrap();
            });
            yield_now().await;
            assert_eq!(block_in_place(|| wait.recv_timeout(PATIENCE)), Ok("slept"));
            sleeper.await.unwrap();
            let (told, wait) = mpsc::channel();
            raddle::spawn(async move { told.send("ran").unwrap() }).detach();
            assert_eq!(block_in_place(|| wait.recv_timeout(PATIENCE)), Ok("ran"));
        });
    });
}

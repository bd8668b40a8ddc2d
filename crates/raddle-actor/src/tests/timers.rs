//! Timers: never early, once or again, taken back, ended with their mailbox.

use std::time::Duration;

use raddle_runtime::time::Instant;

use crate::mailbox::{Mailbox, Policy};
use crate::tests::support::{runtime, watchdog};
use crate::timers::{send_after, send_every};

const SHORT: Duration = Duration::from_millis(2);
const LONG: Duration = Duration::from_secs(3_600);

#[test]
fn a_message_comes_later_and_never_early() {
    watchdog(|| {
        runtime().run(async {
            let mut mailbox = Mailbox::new(None, Policy::Wait);
            let address = mailbox.address();
            let far = send_after(&address, LONG, 0);
            assert!(far.is_set() && far.cancel() && !far.is_set() && !far.cancel());
            for i in 0..20 {
                let before = Instant::now();
                let timer = send_after(&address, SHORT, i);
                assert_eq!(mailbox.recv().await, Some(i));
                assert!(before.elapsed() >= SHORT);
                assert!(!timer.cancel(), "it was sent");
                assert!(!timer.is_set());
            }
        });
    });
}

#[test]
fn a_timer_that_is_taken_back_sends_nothing() {
    watchdog(|| {
        runtime().run(async {
            let mut mailbox = Mailbox::new(None, Policy::Wait);
            let address = mailbox.address();
            let timers: Vec<_> = (0..10).map(|i| send_after(&address, SHORT, i)).collect();
            let late = send_after(&address, SHORT * 3, 100);
            let sent = timers.iter().filter(|timer| !timer.cancel()).count();
            drop((address, timers, late));
            let (mut received, mut late) = (0, 0);
            // The last address goes with the last timer.
            while let Some(message) = mailbox.recv().await {
                received += usize::from(message != 100);
                late += usize::from(message == 100);
            }
            assert_eq!((received, late), (sent, 1));
        });
    });
}

#[test]
fn timers_end_with_their_mailbox() {
    watchdog(|| {
        runtime().run(async {
            let mut mailbox = Mailbox::new(None, Policy::Wait);
            let address = mailbox.address();
            let once = send_after(&address, LONG, 1);
            let again = send_every(&address, LONG, || 2);
            mailbox.close();
            while once.is_set() || again.is_set() {
                raddle_runtime::task::yield_now().await;
            }
            assert!(mailbox.recv().await.is_none());
        });
    });
}

#[test]
fn a_timer_comes_again_until_it_is_cancelled() {
    watchdog(|| {
        runtime().run(async {
            let mut mailbox = Mailbox::new(None, Policy::Wait);
            let before = Instant::now();
            let mut number = 0;
            let timer = send_every(&mailbox.address(), SHORT, move || {
                number += 1;
                number
            });
            for i in 1..=5 {
                assert_eq!(mailbox.recv().await, Some(i));
                assert!(before.elapsed() >= SHORT * i);
            }
            assert!(timer.cancel());
            assert!(!timer.cancel());
            // What was sent before comes; then the timer's address, the last one, is gone.
            while mailbox.recv().await.is_some() {}
        });
    });
}

#[test]
fn a_full_mailbox_leaves_ticks_out() {
    watchdog(|| {
        runtime().run(async {
            let mut mailbox = Mailbox::new(std::num::NonZeroUsize::new(1), Policy::Reject);
            let address = mailbox.address();
            let timer = send_every(&address, Duration::from_micros(100), || ());
            while address.is_empty() {
                raddle_runtime::task::yield_now().await;
            }
            raddle_runtime::time::sleep(SHORT).await;
            assert_eq!(address.len(), 1);
            assert!(mailbox.try_recv().is_ok());
            assert_eq!(mailbox.recv().await, Some(()));
            assert!(timer.cancel());
        });
    });
}

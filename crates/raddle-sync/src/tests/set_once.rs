//! The cell that is set once from outside.

use std::sync::Arc;
use std::time::Duration;

use crate::tests::support::{Polled, now, watchdog};
use crate::{SetOnce, SetOnceError};

#[test]
fn it_is_set_once_and_waited_for() {
    let cell = SetOnce::new();
    let waits = [(); 3].map(|()| Polled::pending(cell.wait()));
    assert_eq!((cell.initialized(), cell.get()), (false, None));
    assert_eq!(cell.set(1), Ok(()));
    assert_eq!(cell.set(2), Err(SetOnceError(2)));
    for mut wait in waits {
        assert_eq!(wait.wakes(), 1);
        assert_eq!(wait.ready(), &1);
    }
    assert_eq!(now(cell.wait()), &1);
    assert_eq!((cell.clone() == cell, format!("{cell:?}")), (true, "SetOnce(Some(1))".to_owned()));
    assert_eq!(cell.into_inner(), Some(1));
    assert_eq!(SetOnce::from(3).get(), Some(&3));
    assert_eq!(SetOnce::<u8>::default().into_inner(), None);
}

#[test]
fn one_of_many_threads_sets_it() {
    watchdog(|| {
        let cell = Arc::new(SetOnce::const_new());
        assert_eq!(cell.blocking_wait_timeout(Duration::ZERO), None);
        let threads: Vec<_> = (0..4)
            .map(|number| {
                let cell = cell.clone();
                std::thread::spawn(move || {
                    let won = cell.set(Box::new(number)).is_ok();
                    assert!(!won || **cell.blocking_wait() == number);
                    won
                })
            })
            .collect();
        let won = threads.into_iter().map(|thread| thread.join().unwrap());
        assert_eq!(won.filter(|won| *won).count(), 1);
    });
}

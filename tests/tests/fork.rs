//! A runtime used in a forked child says so at once, and the parent goes on.
//!
//! One test only, because a fork copies whatever else the process is doing.

use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle::Builder;
use raddle_tests::{forked, watched};

#[test]
fn a_forked_child_is_refused_and_the_parent_is_unharmed() {
    watched(|| {
        std::panic::set_hook(Box::new(|_| {}));
        let runtime = Builder::new().workers(2).build().unwrap();
        let handle = runtime.handle().clone();
        runtime.block_on(async {});
        let refused = |f: &dyn Fn()| {
            let payload = catch_unwind(AssertUnwindSafe(f)).err();
            let text = payload.and_then(|payload| payload.downcast::<String>().ok());
            i32::from(!text.is_some_and(|text| text.contains("before a fork")))
        };
        for use_it in [
            &(|| handle.spawn(async {}).detach()) as &dyn Fn(),
            &|| handle.block_on(async {}),
            &|| drop(handle.enter()),
        ] {
            let status = forked(|| refused(use_it));
            assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "{status:#x}");
        }
        // A child made inside a task comes back into the worker's loop there: it aborts.
        let status = runtime.block_on(runtime.spawn(async {
            // SAFETY: as in `forked`; the child returns into the loop on purpose.
            let pid = unsafe { libc::fork() };
            if pid == 0 {
                return None;
            }
            let mut status = 0;
            // SAFETY: waits for the child made above.
            assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
            Some(status)
        }));
        let status = status.unwrap().unwrap();
        assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGABRT);
        // The parent goes on.
        assert_eq!(runtime.block_on(handle.spawn(async { 5 })).unwrap(), 5);
    });
}

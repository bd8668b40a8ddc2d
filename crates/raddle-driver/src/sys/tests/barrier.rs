//! Where `membarrier` is refused, a signal does it.

use super::*;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, mpsc};

/// Refuses `membarrier` to the calling thread, for good.
fn refuse_membarrier() {
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let equal = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let give = libc::BPF_RET | libc::BPF_K;
    let filter = [
        step(load, 0, 0, mem::offset_of!(libc::seccomp_data, nr) as u32),
        step(equal, 0, 1, libc::SYS_membarrier as u32),
        step(give, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        step(give, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: 4, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the kernel copies the filter during the call; both concern this thread only.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let mode = libc::SECCOMP_MODE_FILTER;
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program), 0);
    }
}

#[test]
fn a_signal_interrupts_where_membarrier_is_refused() {
    let done = Arc::new(AtomicBool::new(false));
    let (tell, told) = mpsc::channel();
    let spins = {
        let done = Arc::clone(&done);
        std::thread::spawn(move || {
            tell.send(Tid::own()).unwrap();
            while !done.load(Ordering::Acquire) {
                std::hint::spin_loop();
            }
        })
    };
    let thread = told.recv().unwrap();
    let interrupts = std::thread::spawn(move || {
        refuse_membarrier();
        assert!(!interrupt_all());
        assert!(interrupt(thread));
        while INTERRUPTED.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
    });
    interrupts.join().unwrap();
    done.store(true, Ordering::Release);
    spins.join().unwrap();
}

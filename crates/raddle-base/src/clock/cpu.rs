//! How long the kernel has run a thread, as another thread sees it.

use std::fs;
use std::time::Duration;

/// The processor time of one thread, readable from others for as long as the thread lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuClock {
    clock: libc::clockid_t,
    thread: libc::pid_t,
}

impl CpuClock {
    /// That of the calling thread.
    pub fn own() -> CpuClock {
        let mut clock = libc::CLOCK_THREAD_CPUTIME_ID;
        // SAFETY: the calling thread is alive; the identifier is written to this frame. On failure
        // it stays the reader's own clock, which a reader cannot use: see `from_bits`.
        unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut clock) };
        // SAFETY: takes and returns plain numbers.
        CpuClock { clock, thread: unsafe { libc::gettid() } }
    }

    /// As one word, never 0.
    pub fn to_bits(self) -> u64 {
        u64::from(self.clock.cast_unsigned()) << 32 | u64::from(self.thread.cast_unsigned())
    }

    /// From [`to_bits`](Self::to_bits); `None` for 0.
    pub fn from_bits(bits: u64) -> Option<CpuClock> {
        let half = |bits: u64| (bits as u32).cast_signed();
        (bits != 0).then_some(CpuClock { clock: half(bits >> 32), thread: half(bits) })
    }

    /// How long the thread has run so far; `None` if it has ended. A system call, some 0.2 µs.
    pub fn time(self) -> Option<Duration> {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: writes to this frame.
        let result = unsafe { libc::clock_gettime(self.clock, &raw mut time) };
        (result == 0).then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
    }

    /// Whether the thread waits in the kernel for something else than a processor. Reads a file of
    /// `/proc`, some 10 µs; without it the answer is yes.
    pub fn is_blocked(self) -> bool {
        let Ok(text) = fs::read_to_string(format!("/proc/self/task/{}/stat", self.thread)) else {
            return true;
        };
        // The state follows the name, which is in parentheses and may hold any character.
        let state = text.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        state != Some('R')
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_thread_that_computes_is_told_from_one_that_blocks() {
        let (tell, told) = mpsc::channel();
        let (stop, stopped) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            let clock = CpuClock::own();
            tell.send(clock.to_bits()).unwrap();
            while stopped.try_recv() == Err(mpsc::TryRecvError::Empty) {
                std::hint::spin_loop();
            }
            tell.send(0).unwrap();
            let _ = stopped.recv();
        });
        let clock = CpuClock::from_bits(told.recv().unwrap()).unwrap();
        let begin = clock.time().unwrap();
        while clock.time().unwrap() < begin + Duration::from_millis(1) {
            assert!(!clock.is_blocked(), "it computes");
        }
        stop.send(()).unwrap();
        assert_eq!(told.recv().unwrap(), 0);
        while !clock.is_blocked() {
            std::thread::yield_now();
        }
        assert!(clock.time().unwrap() > begin);
        drop(stop);
        thread.join().unwrap();
        while clock.time().is_some() {
            std::thread::yield_now();
        }
        assert_eq!(CpuClock::from_bits(0), None);
    }
}

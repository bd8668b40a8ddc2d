//! A shortage of descriptors: reported once, no spinning, others served, recovery.
//!
//! Alone in its process, because the limit of descriptors is the process's.

mod common;

use common::*;
use raddle_base::clock::Instant;
use raddle_driver::Source;
use std::cell::Cell;
use std::fs::File;
use std::io::Write;
use std::net::TcpStream;
use std::rc::Rc;
use std::time::Duration;

/// How long an event is waited for that may come late on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

fn limit_descriptors(count: u64) {
    let limit = libc::rlimit { rlim_cur: count, rlim_max: count.max(4096) };
    // SAFETY: the structure is on this frame. The hard limit may refuse to be what it is already.
    unsafe {
        let mut now = limit;
        assert_eq!(libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut now), 0);
        now.rlim_cur = limit.rlim_cur;
        assert_eq!(libc::setrlimit(libc::RLIMIT_NOFILE, &raw const now), 0);
    }
}

/// A task that reads bytes and counts them.
fn serve(world: &World, source: Source) -> Rc<Cell<usize>> {
    let served = Rc::new(Cell::new(0));
    let count = Rc::clone(&served);
    world.spawn(async move {
        loop {
            read_exact(&source, 1).await;
            count.set(count.get() + 1);
        }
    });
    served
}

#[test]
fn a_listener_out_of_descriptors_backs_off_and_recovers() {
    on_each(|world| {
        limit_descriptors(256);
        let (listener, addr) = listener();
        let clients: Vec<_> = (0..20).map(|_| TcpStream::connect(addr).unwrap()).collect();
        let (echo, mut peer) = tcp_pair();
        let mut fillers: Vec<File> = Vec::new();
        while let Ok(file) = File::open("/dev/null") {
            fillers.push(file);
        }
        let (accepted, errors) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
        let kept = Rc::new(std::cell::RefCell::new(Vec::new()));
        world.spawn({
            let (accepted, errors) = (Rc::clone(&accepted), Rc::clone(&errors));
            let kept = Rc::clone(&kept);
            async move {
                loop {
                    match listener.accept().await {
                        Ok((fd, _)) => {
                            kept.borrow_mut().push(fd);
                            accepted.set(accepted.get() + 1);
                        }
                        Err(error) => {
                            assert_eq!(error.raw_os_error(), Some(libc::EMFILE));
                            errors.set(errors.get() + 1);
                        }
                    }
                }
            }
        });
        let served = serve(world, echo);
        world.run_for(PATIENCE, || errors.get() > 0);
        let before = world.turns.get();
        world.run_for(Duration::from_millis(700), || false);
        assert_eq!((accepted.get(), errors.get()), (0, 1), "reported once");
        let turns = world.turns.get() - before;
        assert!(turns <= 60, "{turns} turns in 0.7 s: pauses of 50 and 100 ms make about twenty");
        for n in 1..=10 {
            peer.write_all(b"x").unwrap();
            world.run_for(PATIENCE, || served.get() == n);
            assert_eq!(served.get(), n);
        }
        assert_eq!(accepted.get(), 0);
        // One descriptor is freed: one connection gets through, then the next shortage begins.
        let freed = Instant::now();
        fillers.pop();
        world.run_for(PATIENCE, || accepted.get() == 1);
        assert_eq!(accepted.get(), 1, "after {:?}", freed.elapsed());
        world.run_for(PATIENCE, || errors.get() == 2);
        assert_eq!(errors.get(), 2, "a new shortage is reported again");
        fillers.clear();
        world.run_for(PATIENCE, || accepted.get() == 20);
        assert_eq!((accepted.get(), errors.get()), (20, 2));
        drop(clients);
    });
}

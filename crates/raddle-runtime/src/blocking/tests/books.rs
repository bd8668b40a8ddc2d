//! Random histories of the books, with the invariants looked at after each step.

use std::sync::Arc;

use raddle_base::parker::Parker;
use raddle_base::random::Rng;

use crate::blocking::error::Refusal;
use crate::blocking::job::Job;
use crate::blocking::state::{Admitted, Next, State};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Doing {
    Running,
    Waiting,
    Parked,
    /// Off the idle list, and not yet awake.
    Called,
}

struct History {
    state: State,
    max: usize,
    starting: usize,
    threads: Vec<(Arc<Parker>, Doing)>,
    accepted: usize,
    begun: usize,
    refused: usize,
    reserved: usize,
}

fn job() -> Job {
    Box::new(|| ())
}

impl History {
    fn new(max: usize, limit: usize) -> Self {
        History {
            state: State::new(max, limit),
            max,
            starting: 0,
            threads: Vec::new(),
            accepted: 0,
            begun: 0,
            refused: 0,
            reserved: 0,
        }
    }

    fn call(&mut self, parker: &Arc<Parker>) {
        let thread = self.threads.iter_mut().find(|(other, _)| Arc::ptr_eq(other, parker)).unwrap();
        assert_eq!(thread.1, Doing::Parked);
        thread.1 = Doing::Called;
    }

    /// Does as the verb says; a start goes well or not as chance has it.
    fn follow(&mut self, admitted: Admitted, rng: &mut Rng) {
        match admitted {
            Admitted::Queued => self.accepted += 1,
            Admitted::Wake(parker) => {
                self.accepted += 1;
                self.call(&parker);
            }
            Admitted::Refused(_, refusal) => {
                assert_ne!(refusal, Refusal::Closed);
                self.refused += 1;
            }
            Admitted::Start(job) => self.start(job, rng),
        }
    }

    fn start(&mut self, job: Job, rng: &mut Rng) {
        if rng.below(4) != 0 {
            self.accepted += 1;
            self.starting += 1;
            return;
        }
        let refusal = Refusal::NoThread { os_error: None };
        let (admitted, orphans) = self.state.start_failed(job, refusal);
        self.accepted -= orphans.len();
        self.refused += orphans.len();
        self.follow(admitted, rng);
    }

    fn next(&mut self, thread: usize, next: Next) {
        match next {
            Next::Run(_) => {
                self.begun += 1;
                self.threads[thread].1 = Doing::Running;
            }
            Next::Park => self.threads[thread].1 = Doing::Parked,
            Next::Leave => {
                self.threads.swap_remove(thread);
                self.state.ended();
            }
        }
    }

    /// One event in the life of one thread.
    fn step(&mut self, rng: &mut Rng) {
        let thread = rng.below(self.threads.len() as u32) as usize;
        let (parker, doing) = self.threads[thread].clone();
        match doing {
            Doing::Running if rng.below(3) == 0 => {
                self.threads[thread].1 = Doing::Waiting;
                let queued = self.state.queued();
                let admitted = self.state.begin_wait();
                // The job was accepted before; it comes off the queue or stays.
                self.accepted -= usize::from(matches!(admitted, Admitted::Start(_)));
                match admitted {
                    Admitted::Queued => assert_eq!(self.state.queued(), queued),
                    Admitted::Wake(parker) => self.call(&parker),
                    other => self.follow(other, rng),
                }
            }
            Doing::Running => {
                let next = self.state.next(&parker);
                self.next(thread, next);
            }
            Doing::Waiting => {
                self.state.end_wait();
                self.threads[thread].1 = Doing::Running;
            }
            Doing::Parked | Doing::Called => {
                let next = self.state.woke(&parker, rng.below(2) == 0);
                self.next(thread, next);
            }
        }
    }

    fn check(&self) {
        let is = |doing| self.threads.iter().filter(|thread| thread.1 == doing).count();
        assert_eq!(self.state.idle(), is(Doing::Parked));
        assert_eq!(self.state.present(), self.threads.len() + self.starting);
        assert_eq!(self.accepted, self.begun + self.starting + self.state.queued());
        let serving = is(Doing::Running) + is(Doing::Called) + self.starting;
        if self.state.queued() != 0 {
            assert!(serving > 0, "a job that nobody comes to");
            let called = self.state.queued() <= is(Doing::Called);
            assert!(self.state.idle() == 0 || called || serving >= self.max, "an idle thread");
        }
    }

    fn thread_starts(&mut self) {
        self.starting -= 1;
        self.begun += 1;
        self.state.started();
        self.threads.push((Arc::new(Parker::new()), Doing::Running));
    }
}

#[test]
fn random_histories_keep_the_books() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let mut history =
            History::new(1 + rng.below(3) as usize, [2, 5, usize::MAX][rng.below(3) as usize]);
        for _ in 0..400 {
            match rng.below(8) {
                6 => history.reserved += usize::from(history.state.reserve().is_ok()),
                7 if history.reserved > 0 => {
                    history.reserved -= 1;
                    if rng.below(2) == 0 {
                        history.state.unreserve();
                    } else {
                        let admitted = history.state.admit_reserved(job());
                        assert!(!matches!(admitted, Admitted::Refused(..)));
                        history.follow(admitted, &mut rng);
                    }
                }
                0 | 1 => {
                    let admitted = history.state.admit(job());
                    history.follow(admitted, &mut rng);
                }
                2 if history.starting > 0 => history.thread_starts(),
                _ if !history.threads.is_empty() => history.step(&mut rng),
                _ => {}
            }
            history.check();
        }
        assert!(history.accepted + history.refused > 0);
    }
}

#[test]
fn closing_refuses_and_lets_threads_leave() {
    let mut state = State::new(1, usize::MAX);
    assert!(matches!(state.admit(job()), Admitted::Start(_)));
    state.started();
    assert!(matches!(state.admit(job()), Admitted::Queued));
    let (queue, idle) = state.close();
    assert_eq!((queue.len(), idle.len()), (1, 0));
    assert!(matches!(state.admit(job()), Admitted::Refused(_, Refusal::Closed)));
    assert!(matches!(state.next(&Arc::new(Parker::new())), Next::Leave));
    assert!(state.ended());
}

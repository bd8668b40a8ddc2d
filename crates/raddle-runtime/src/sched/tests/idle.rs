//! The sleep protocol under the model: published work never meets only sleepers.

use raddle_base::parker::Parker;
use raddle_base::shim::atomic::AtomicUsize;
use raddle_base::shim::{Arc, model, thread};

use super::*;

/// Workers with a parker each, and one queue that is a counter.
struct Model {
    idle: Idle,
    workers: Vec<(SleepWord, Parker)>,
    work: AtomicUsize,
    wakes: AtomicUsize,
    done: AtomicUsize,
}

impl Model {
    fn new(workers: usize) -> Arc<Model> {
        Arc::new(Model {
            idle: Idle::new(),
            workers: (0..workers).map(|_| (SleepWord::new(), Parker::new())).collect(),
            work: AtomicUsize::new(0),
            wakes: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
        })
    }

    fn publish(&self) {
        // Relaxed: the protocol's fences order this, nothing else may.
        self.work.fetch_add(1, Relaxed);
        self.idle.published();
        if self.idle.wants_searcher() {
            self.send();
        }
    }

    fn send(&self) {
        for (word, parker) in &self.workers {
            if self.idle.send(word) {
                self.wakes.fetch_add(1, Relaxed);
                return parker.unpark();
            }
        }
    }

    fn take(&self) -> bool {
        let now = self.work.load(Relaxed);
        now > 0 && self.work.compare_exchange(now, now - 1, Relaxed, Relaxed).is_ok()
    }

    /// One worker's life until all `pieces` have been run by somebody.
    fn run(&self, me: usize, pieces: usize) {
        let (word, parker) = &self.workers[me];
        let mut searching = self.idle.begin_search(self.workers.len());
        while self.done.load(Relaxed) < pieces {
            if self.take() {
                if searching && self.idle.end_search() {
                    self.idle.published();
                    if self.idle.wants_searcher() {
                        self.send();
                    }
                }
                searching = false;
                if self.done.fetch_add(1, Relaxed) + 1 == pieces {
                    self.call_all();
                }
                continue;
            }
            self.idle.fall_asleep(word, searching);
            if self.work.load(Relaxed) == 0 && self.done.load(Relaxed) < pieces {
                parker.park();
            }
            searching = self.idle.awake(word) == Awake::Searching;
        }
        if searching {
            let _ = self.idle.end_search();
        }
    }

    /// The end, as a phase of the runtime is announced.
    fn call_all(&self) {
        self.idle.published();
        for (word, parker) in &self.workers {
            if self.idle.call(word) {
                parker.unpark();
            }
        }
    }
}

#[test]
fn model_one_sleeper_sees_what_is_published() {
    model::check(|| {
        let shared = Model::new(1);
        let worker = shared.clone();
        let thread = thread::spawn(move || worker.run(0, 1));
        shared.publish();
        thread.join().unwrap();
        assert!(shared.wakes.load(Relaxed) <= 1);
        assert_eq!(shared.idle.counts(), (0, 0));
    });
}

#[test]
fn model_two_sleepers_share_two_pieces() {
    model::check_bounded(2, || {
        let shared = Model::new(2);
        let (one, two) = (shared.clone(), shared.clone());
        let first = thread::spawn(move || one.run(0, 2));
        let second = thread::spawn(move || two.run(1, 2));
        shared.publish();
        shared.publish();
        first.join().unwrap();
        second.join().unwrap();
        assert_eq!(shared.idle.counts(), (0, 0));
    });
}

/// Work for one worker only: the sleep word alone must not miss it, dozing or asleep.
#[test]
fn model_a_call_is_never_lost() {
    for doze in [false, true] {
        model::check(move || {
            let shared = Model::new(1);
            let worker = shared.clone();
            let thread = thread::spawn(move || {
                let (word, parker) = &worker.workers[0];
                while !worker.take() {
                    if doze {
                        worker.idle.doze(word);
                    } else {
                        worker.idle.fall_asleep(word, false);
                    }
                    if worker.work.load(Relaxed) == 0 {
                        parker.park();
                    }
                    let _ = worker.idle.awake(word);
                }
            });
            shared.work.fetch_add(1, Relaxed);
            shared.idle.published();
            if shared.idle.call(&shared.workers[0].0) {
                shared.workers[0].1.unpark();
            }
            thread.join().unwrap();
            assert_eq!(shared.idle.counts(), (0, 0));
        });
    }
}

//! No stack to be had: in a child with little address space.

use std::env;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use super::{Dropped, runtime};
use raddle_actor::{self as actor, Actor, Builder, Cx, ExitReason};
use raddle_fiber::StackError;
use raddle_sync::Wait;

const CHILD: &str = "RADDLE_SCARCE_CHILD";
const NAME: &str = "scarce::without_a_stack_a_process_fails_and_others_go_on";
const STACK: usize = 200 << 20;

fn is_stack_error(reason: &ExitReason) -> bool {
    matches!(reason, ExitReason::Failed(failure) if failure.error().is::<StackError>())
}

fn large() -> Builder {
    Builder::new().stack_size(STACK).unwrap()
}

/// Waits in its destructor, as what is captured by a process may.
struct Waits(Arc<AtomicUsize>);

impl Drop for Waits {
    fn drop(&mut self) {
        std::future::ready(()).wait();
        self.0.fetch_add(1, SeqCst);
    }
}

struct Counts {
    handled: Arc<AtomicUsize>,
}

impl Actor for Counts {
    type Message = Waits;

    fn handle(&mut self, _: Waits, _: &mut Cx<Waits>) {
        self.handled.fetch_add(1, SeqCst);
    }
}

/// Takes stacks until there are none; how many that were.
async fn exhaust(held: &mut Vec<actor::Process<(), ()>>) {
    loop {
        assert!(held.len() < 100, "address space has no end");
        let (tx, begun) = raddle_sync::oneshot::channel();
        let process = large().spawn(move |cx: &mut Cx<()>| {
            tx.send(()).unwrap();
            cx.receive().unwrap();
        });
        if begun.await.is_err() {
            assert!(is_stack_error(&process.join().await.unwrap_err()));
            return;
        }
        held.push(process);
    }
}

fn child() {
    let dropped = Arc::new(AtomicUsize::new(0));
    runtime(1).run(async {
        let handled = Arc::new(AtomicUsize::new(0));
        let actor = large().spawn_actor(Counts { handled: handled.clone() });
        actor.address().send(Waits(dropped.clone())).await.unwrap();
        while handled.load(SeqCst) == 0 {
            raddle_runtime::task::yield_now().await;
        }
        // Its stack is the worker's to reuse: one of these gets it.
        let mut held = Vec::new();
        exhaust(&mut held).await;
        assert!(held.len() > 1);
        // A message without a stack to be handled on goes with its actor.
        actor.address().send(Waits(dropped.clone())).await.unwrap();
        assert!(is_stack_error(&actor.join().await.map(drop).unwrap_err()));
        assert_eq!((handled.load(SeqCst), dropped.load(SeqCst)), (1, 2));
        // So does what a process captured.
        let captured = (Waits(dropped.clone()), Dropped(dropped.clone()));
        let process = large().spawn(move |_: &mut Cx<()>| drop(captured));
        assert!(is_stack_error(&process.join().await.unwrap_err()));
        assert_eq!(dropped.load(SeqCst), 4);
        // Smaller stacks can be had, and large ones are again when others have ended.
        let process = actor::spawn(|cx: &mut Cx<()>| cx.yield_now());
        process.join().await.unwrap();
        for process in held.drain(..) {
            process.address().send(()).await.unwrap();
            process.join().await.unwrap();
        }
        large().spawn(|cx: &mut Cx<()>| cx.yield_now()).join().await.unwrap();
    });
}

#[test]
fn without_a_stack_a_process_fails_and_others_go_on() {
    if env::var_os(CHILD).is_some() {
        return child();
    }
    if env::var_os("ASAN_OPTIONS").is_some() {
        return; // it takes terabytes of address space itself
    }
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -v 4000000 && exec \"$0\" \"$@\""])
        .arg(env::current_exe().unwrap());
    let output = command.args([NAME, "--exact"]).env(CHILD, "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{output:?}");
}

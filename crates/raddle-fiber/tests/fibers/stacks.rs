//! Many stacks, few mappings, errors at the limits, and memory that comes back.

use super::child;
use raddle_fiber::{Fiber, GuardKind, Stack, StackError, Stacks, Step};
use std::fs;
use std::thread;

fn mappings() -> usize {
    fs::read_to_string("/proc/self/maps").unwrap().lines().count()
}

/// Resident memory of this process, in KiB.
fn resident() -> usize {
    let text = fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Does this kernel have guards without mappings?
fn guards_cost_nothing() -> bool {
    let stacks = Stacks::builder().usable(16 << 10).build().unwrap();
    let _stack = stacks.take().unwrap();
    stacks.stats().guards == Some(GuardKind::Install)
}

#[test]
fn sizes_are_what_was_asked_for() {
    assert_eq!(Stacks::usual().usable(), 192 << 10);
    let exact = Stacks::builder().usable(100_000).guard(1).build().unwrap();
    assert_eq!(exact.usable(), 102_400);
    let stack = Stack::with_size(300_000).unwrap();
    assert!(stack.size() >= 300_000);
    assert_eq!(stack.bounds().len(), stack.size());
    let least = Stacks::builder().usable(1).build().unwrap();
    assert_eq!(least.usable(), 8 << 10);
    let huge = Stacks::builder().usable(usize::MAX - 5).build();
    assert!(matches!(huge, Err(StackError::TooLarge { .. })));
    assert!(matches!(Stack::with_size(3 << 30), Err(StackError::TooLarge { .. })));
}

#[test]
fn a_stack_larger_than_an_arena_works() {
    let stack = Stack::with_size(100 << 20).unwrap();
    let bounds = stack.bounds();
    let mut fiber = Fiber::<(), (), usize>::new(stack, |_, ()| [1_u8; 70 << 20].len());
    assert!(bounds.len() >= 100 << 20);
    assert!(matches!(fiber.resume(()), Step::Finished(n) if n == 70 << 20));
}

#[test]
fn the_last_stack_is_reused_first() {
    let stacks = Stacks::builder().usable(20 << 10).build().unwrap();
    let (a, b) = (stacks.take().unwrap(), stacks.take().unwrap());
    let (first, second) = (a.bounds(), b.bounds());
    drop(a);
    drop(b);
    assert_eq!(stacks.take().unwrap().bounds(), second);
    let (b, a) = (stacks.take().unwrap(), stacks.take().unwrap());
    assert_eq!((a.bounds(), b.bounds()), (first, second));
}

#[test]
fn equal_settings_are_one_kind() {
    let one = Stacks::builder().usable(24 << 10).build().unwrap();
    let two = Stacks::builder().usable(24 << 10).build().unwrap();
    let stack = one.take().unwrap();
    assert_eq!(two.stats().out, 1);
    drop(stack);
}

#[test]
fn deep_pages_go_back() {
    let stacks = Stacks::builder().usable(1 << 20).keep(16 << 10).reuse(0, 8).build().unwrap();
    let stack = stacks.take().unwrap();
    let bounds = stack.bounds();
    let mut fiber =
        Fiber::<(), (), u8>::new(stack, |_, ()| std::hint::black_box([1_u8; 400_000])[9]);
    fiber.resume(());
    assert!(pages(&bounds) > 97);
    drop(fiber); // into the pool at once, since threads keep none of this kind
    assert!(pages(&bounds) <= 4, "16 KiB stay");
}

#[test]
fn cold_stacks_keep_nothing() {
    let stacks = Stacks::builder().usable(28 << 10).reuse(0, 0).build().unwrap();
    let stack = stacks.take().unwrap();
    let bounds = stack.bounds();
    drop(Fiber::<(), ()>::new(stack, |_, ()| ()));
    assert_eq!(pages(&bounds), 0);
}

/// Resident pages between two addresses.
fn pages(bounds: &std::ops::Range<usize>) -> usize {
    let mut answers = vec![0_u8; bounds.len() / 4096];
    let start = std::ptr::with_exposed_provenance_mut(bounds.start);
    // SAFETY: asks about pages, and writes a byte for each.
    unsafe { libc::mincore(start, bounds.len(), answers.as_mut_ptr()) };
    answers.iter().filter(|answer| *answer & 1 == 1).count()
}

#[test]
fn a_hundred_thousand_stacks_in_bounded_memory() {
    if !guards_cost_nothing() {
        return; // an older kernel: the limit is tested below
    }
    // No pages are touched, so this is about address space only.
    let stacks = Stacks::builder().usable(188 << 10).guard(68 << 10).build().unwrap();
    let before = mappings();
    let all: Vec<Stack> = (0..100_000).map(|_| stacks.take().unwrap()).collect();
    let with = mappings();
    assert_eq!(stacks.stats().stacks, 100_000);
    assert_eq!(stacks.stats().arenas, 100_000_usize.div_ceil(256));
    assert!(with.saturating_sub(before) < 1000, "{before} mappings, then {with}");
    drop(all);
    stacks.shrink();
    assert_eq!((stacks.stats().arenas, stacks.stats().out), (0, 0));
}

#[test]
fn bounded_memory_comes_back() {
    const NAME: &str = "stacks::bounded_memory_comes_back";
    if !child::is(NAME) {
        let output = child::run(NAME);
        assert!(output.status.success(), "{output:?}");
        return;
    }
    let stacks = Stacks::builder().usable(64 << 10).build().unwrap();
    let before = resident();
    let mut fibers: Vec<Fiber> =
        (0..5000).map(|_| Fiber::new(stacks.take().unwrap(), |s, ()| s.suspend(()))).collect();
    for fiber in &mut fibers {
        assert!(matches!(fiber.resume(()), Step::Suspended(())));
    }
    let with = resident();
    assert!(with - before > 5000 * 4, "each has a page or two");
    drop(fibers);
    let after = resident();
    assert!(after - before < (with - before) / 4, "{before} KiB, {with} KiB, {after} KiB");
}

#[test]
fn a_thread_that_ends_gives_its_stacks_back() {
    let stacks = Stacks::builder().usable(32 << 10).build().unwrap();
    let made = thread::spawn(move || {
        let some: Vec<Stack> = (0..10).map(|_| stacks.take().unwrap()).collect();
        drop(some);
        stacks.stats().out
    });
    assert_eq!(made.join().unwrap(), 10, "kept by the thread");
    assert_eq!(stacks.stats().out, 0);
}

#[test]
fn a_stack_may_go_to_another_thread() {
    let stack = Stacks::builder().usable(36 << 10).build().unwrap().take().unwrap();
    let ran = thread::spawn(move || {
        let mut fiber = Fiber::<u32, (), u32>::new(stack, |_, n| n + 1);
        matches!(fiber.resume(1), Step::Finished(2))
    });
    assert!(ran.join().unwrap());
}

#[test]
fn the_fallback_meets_its_limit_with_an_error() {
    let stacks = Stacks::builder().usable(40 << 10).force_mprotect(true).mapping_limit(800);
    let stacks = stacks.build().unwrap();
    let mut fibers: Vec<Fiber<(), u32, ()>> = Vec::new();
    let error = loop {
        match stacks.take() {
            Ok(stack) => fibers.push(Fiber::new(stack, |s, ()| {
                s.suspend(1);
            })),
            Err(error) => break error,
        }
    };
    assert_eq!(error, StackError::Mappings { limit: 800, stacks: 350 });
    assert!(error.to_string().contains("vm.max_map_count"));
    assert_eq!(stacks.stats().guards, Some(GuardKind::Mprotect));
    // All others work, and room that is given back is room.
    for fiber in &mut fibers {
        assert!(matches!(fiber.resume(()), Step::Suspended(1)));
    }
    drop(fibers.pop());
    assert!(stacks.take().is_ok());
    drop(fibers);
    stacks.shrink();
    assert_eq!(stacks.stats().arenas, 0);
    assert!(stacks.take().is_ok());
}

#[test]
fn the_real_limit_in_bounded_memory() {
    const NAME: &str = "stacks::the_real_limit_in_bounded_memory";
    if !child::is(NAME) {
        let output = child::run(NAME);
        assert!(output.status.success(), "{output:?}");
        return;
    }
    let stacks = Stacks::builder().usable(12 << 10).guard(1).force_mprotect(true).build().unwrap();
    let mut all = Vec::new();
    let error = loop {
        match stacks.take() {
            Ok(stack) => all.push(stack),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StackError::Mappings { .. }), "{error}");
    // The rest of the program still has mappings to use.
    assert!(thread::spawn(|| 5).join().is_ok_and(|n| n == 5));
    drop(vec![1_u8; 64 << 20]);
    drop(all);
    stacks.shrink();
    assert!(mappings() < 1000);
}

#[test]
fn bounded_memory_of_the_process_is_named() {
    const NAME: &str = "stacks::bounded_memory_of_the_process_is_named";
    if !child::is(NAME) {
        let output = child::run(NAME);
        assert!(output.status.success(), "{output:?}");
        return;
    }
    // SAFETY: zeros are a limit.
    let mut limit: libc::rlimit = unsafe { std::mem::zeroed() };
    limit.rlim_cur = 256 << 20;
    limit.rlim_max = libc::RLIM_INFINITY;
    // SAFETY: lowers a limit of this process, which does nothing but this test.
    unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) };
    let stacks = Stacks::builder().usable(44 << 10).build().unwrap();
    let mut all = Vec::new();
    let error = loop {
        match stacks.take() {
            Ok(stack) => all.push(stack),
            Err(error) => break error,
        }
    };
    assert_eq!(error, StackError::AddressSpace { limit: 256 << 20 });
    assert!(error.to_string().contains("RLIMIT_AS"));
    assert!(std::io::Error::from(error).to_string().contains("RLIMIT_AS"));
}

#[test]
fn locked_bounded_memory_works_or_is_named() {
    const NAME: &str = "stacks::locked_bounded_memory_works_or_is_named";
    if !child::is(NAME) {
        let output = child::run(NAME);
        assert!(output.status.success(), "{output:?}");
        return;
    }
    // SAFETY: locks what is mapped from now on, in a process of its own.
    if unsafe { libc::mlockall(libc::MCL_FUTURE) } != 0 {
        return;
    }
    let before = resident();
    let stacks = Stacks::builder().usable(48 << 10).build().unwrap();
    match stacks.take() {
        Ok(stack) => {
            assert!(resident() - before < 8 << 10, "the arena is not filled");
            let mut fiber = Fiber::<u32, (), u32>::new(stack, |_, n| n + 1);
            assert!(matches!(fiber.resume(1), Step::Finished(2)));
        }
        Err(error) => {
            assert!(matches!(error, StackError::LockedMemory { .. }), "{error}");
            assert!(error.to_string().contains("mlockall"));
        }
    }
}

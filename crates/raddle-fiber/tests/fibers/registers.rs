//! Do registers and control words stay what they were, fiber by fiber, over a million switches?

use raddle_fiber::{Fiber, Stack, Step, Suspender};
use std::arch::{asm, naked_asm};
use std::hint::black_box;

const FIBERS: u64 = 8;

/// A million switches; fewer under the sanitizer, which makes each of them a hundred times dearer.
fn rounds() -> u64 {
    let sanitized = std::env::var_os("ASAN_OPTIONS").is_some();
    if sanitized { 10_000 } else { 1_000_000 / FIBERS }
}

/// Puts six patterns made of `seed` into the registers that a call must keep, calls `f(data)`, and
/// returns how many of them are different afterwards.
///
/// # Safety
///
/// `f` may be called with `data`, and does not unwind.
#[unsafe(naked)]
unsafe extern "sysv64" fn with_patterns(
    seed: u64,
    data: *mut (),
    f: unsafe extern "sysv64" fn(*mut ()),
) -> u64 {
    naked_asm!(
        "push rbx",
        "push rbp",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "push rdi",
        "lea rbx, [rdi + 1]",
        "lea rbp, [rdi + 2]",
        "lea r12, [rdi + 3]",
        "lea r13, [rdi + 4]",
        "lea r14, [rdi + 5]",
        "lea r15, [rdi + 6]",
        "mov rdi, rsi",
        "call rdx",
        "pop rdi",
        "xor eax, eax",
        "sub rbx, rdi",
        "cmp rbx, 1",
        "setne cl",
        "add al, cl",
        "sub rbp, rdi",
        "cmp rbp, 2",
        "setne cl",
        "add al, cl",
        "sub r12, rdi",
        "cmp r12, 3",
        "setne cl",
        "add al, cl",
        "sub r13, rdi",
        "cmp r13, 4",
        "setne cl",
        "add al, cl",
        "sub r14, rdi",
        "cmp r14, 5",
        "setne cl",
        "add al, cl",
        "sub r15, rdi",
        "cmp r15, 6",
        "setne cl",
        "add al, cl",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbp",
        "pop rbx",
        "ret",
    )
}

/// A suspension as a call, and what it brought.
struct Call<'s> {
    suspender: &'s Suspender<u64, u64>,
    seed: u64,
    answer: u64,
}

/// # Safety
///
/// `data` is a [`Call`] that nobody else uses now.
unsafe extern "sysv64" fn suspends(data: *mut ()) {
    // SAFETY: `hold` passes its own variable.
    let call = unsafe { &mut *data.cast::<Call<'_>>() };
    call.answer = call.suspender.suspend(call.seed);
}

/// Keeps many values alive over the suspension, in every register there is and on the stack.
fn hold(s: &Suspender<u64, u64>, seed: u64) -> u64 {
    for round in 0..rounds() {
        let ints: [u64; 14] = std::array::from_fn(|n| black_box(seed ^ round ^ n as u64));
        let floats: [f64; 6] = std::array::from_fn(|n| black_box((seed + n as u64) as f64 * 0.5));
        if round % 2 == 0 {
            assert_eq!(s.suspend(seed), round);
        } else {
            let mut call = Call { suspender: s, seed, answer: 0 };
            // SAFETY: the function gets the argument it takes.
            let lost = unsafe { with_patterns(seed << 32, (&raw mut call).cast(), suspends) };
            assert_eq!((lost, call.answer), (0, round));
        }
        assert_eq!(ints, std::array::from_fn(|n| seed ^ round ^ n as u64));
        assert_eq!(floats, std::array::from_fn(|n| (seed + n as u64) as f64 * 0.5));
    }
    seed
}

/// A resume as a call, and how it went.
struct Resume<'f> {
    fiber: &'f mut Fiber<u64, u64, u64>,
    round: u64,
    answer: u64,
}

/// # Safety
///
/// `data` is a [`Resume`] that nobody else uses now.
unsafe extern "sysv64" fn resumes(data: *mut ()) {
    // SAFETY: the test passes its own variable.
    let call = unsafe { &mut *data.cast::<Resume<'_>>() };
    call.answer = match call.fiber.resume(call.round) {
        Step::Suspended(seed) | Step::Finished(seed) => seed,
        Step::Panicked(_) => u64::MAX,
    };
}

#[test]
fn registers_are_isolated() {
    let mut fibers: Vec<Fiber<u64, u64, u64>> = (1..=FIBERS)
        .map(|seed| Fiber::new(Stack::new().unwrap(), move |s, _| hold(s, seed)))
        .collect();
    for fiber in &mut fibers {
        assert!(matches!(fiber.resume(0), Step::Suspended(_)));
    }
    for round in 0..rounds() {
        for (n, fiber) in fibers.iter_mut().enumerate() {
            let mut call = Resume { fiber, round, answer: 0 };
            // SAFETY: the function gets the argument it takes.
            let lost = unsafe { with_patterns(round << 8, (&raw mut call).cast(), resumes) };
            assert_eq!((lost, call.answer), (0, n as u64 + 1), "fiber {n}, round {round}");
        }
    }
    assert!(fibers.iter().all(Fiber::is_done));
}

fn mxcsr() -> u32 {
    let mut word = 0_u32;
    // SAFETY: writes the word.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack, preserves_flags)) };
    word & !0x3f
}

fn set_mxcsr(word: u32) {
    // SAFETY: sets the rounding mode, with all exceptions masked.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const word, options(nostack, preserves_flags)) };
}

fn x87() -> u16 {
    let mut word = 0_u16;
    // SAFETY: writes the word.
    unsafe { asm!("fnstcw [{}]", in(reg) &raw mut word, options(nostack, preserves_flags)) };
    word
}

fn set_x87(word: u16) {
    // SAFETY: sets rounding and precision, with all exceptions masked.
    unsafe { asm!("fldcw [{}]", in(reg) &raw const word, options(nostack, preserves_flags)) };
}

/// Rounding mode and precision number `n`, all exceptions masked.
fn words(n: u32) -> (u32, u16) {
    (0x1f80 | ((n % 4) << 13), 0x007f | ([0, 2, 3][n as usize % 3] << 8) | ((n as u16 % 4) << 10))
}

#[test]
fn own_control_words_are_isolated() {
    let outside = (mxcsr(), x87());
    let mut fibers: Vec<Fiber<(), (), ()>> = (0..FIBERS as u32)
        .map(|n| {
            let builder = Fiber::<(), (), ()>::builder().own_fp_env();
            builder.build(Stack::new().unwrap(), move |s, ()| {
                assert_eq!((mxcsr(), x87()), (0x1f80, 0x037f), "it starts with the defaults");
                let (sse, fpu) = words(n);
                set_mxcsr(sse);
                set_x87(fpu);
                for _ in 0..rounds() {
                    s.suspend(());
                    assert_eq!((mxcsr(), x87()), (sse, fpu));
                }
            })
        })
        .collect();
    for _ in 0..=rounds() {
        for fiber in &mut fibers {
            assert!(!matches!(fiber.resume(()), Step::Panicked(_)));
            assert_eq!((mxcsr(), x87()), outside);
        }
    }
    assert!(fibers.iter().all(Fiber::is_done));
}

#[test]
fn an_end_by_force_restores_the_control_words() {
    let outside = (mxcsr(), x87());
    let builder = Fiber::<(), (), ()>::builder().own_fp_env();
    let mut fiber: Fiber<(), (), ()> = builder.build(Stack::new().unwrap(), |s, ()| {
        set_mxcsr(words(1).0);
        s.suspend(());
    });
    assert!(matches!(fiber.resume(()), Step::Suspended(())));
    drop(fiber);
    assert_eq!((mxcsr(), x87()), outside);
}

#[test]
fn the_stack_is_aligned_and_the_direction_flag_clear() {
    for extra in 0..4_usize {
        let captured = vec![0_u8; extra];
        let mut fiber = Fiber::<(), (), ()>::new(Stack::new().unwrap(), move |s, ()| {
            let _captured = captured;
            for _ in 0..2 {
                // Aligned moves fault where the stack is not.
                let wide = black_box([1.0_f64; 8]);
                #[repr(align(64))]
                struct Wide([f64; 8]);
                let copy = black_box(Wide(wide));
                assert_eq!(std::ptr::from_ref(&copy).addr() % 64, 0);
                assert_eq!(copy.0, wide);
                let flags: u64;
                // SAFETY: reads the flags.
                unsafe { asm!("pushfq", "pop {}", out(reg) flags) };
                assert_eq!(flags & 0x400, 0);
                s.suspend(());
            }
        });
        while let Step::Suspended(()) = fiber.resume(()) {}
        assert!(fiber.is_done());
    }
}

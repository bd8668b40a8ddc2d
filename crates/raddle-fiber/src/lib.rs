//! Stacks that can be left and come back to, sound in safe Rust.
//!
//! A [`Fiber`] is a function on a stack of its own. It can leave half-way with a value, and whoever
//! resumed it goes on; the next resume brings it back with another value. A switch each way costs
//! about as much as a call through a pointer.
//!
//! ```
//! use raddle_fiber::{Fiber, Stack, Step};
//!
//! let mut squares = Fiber::new(Stack::new()?, |s, first: u64| {
//!     let mut n = first;
//!     while n != 0 {
//!         n = s.suspend(n * n); // leave with a square, come back with the next number
//!     }
//!     "done"
//! });
//! assert!(matches!(squares.resume(3), Step::Suspended(9)));
//! assert!(matches!(squares.resume(4), Step::Suspended(16)));
//! assert!(matches!(squares.resume(0), Step::Finished("done")));
//! # Ok::<(), raddle_fiber::StackError>(())
//! ```
//!
//! * [`Fiber::resume`] tells by a [`Step`] whether the fiber suspended, finished or panicked.
//! * Dropping a fiber, or [`Fiber::unwind`], ends it by force: its destructors run.
//! * [`on_parent_stack`] is for calls that need more stack than a fiber has.
//! * [`Stacks`] makes stacks of other sizes; [`Stack`]s are reused by their thread.
//! * An overflow is reported with the fiber's name and the stack's bounds, then the process aborts.
//!
//! This crate knows no scheduler. x86-64 Linux only; elsewhere it does not compile.
//!
//! # Ten traps of stackful coroutines, and how each is closed
//!
//! 1. **Thread-local addresses cached across a switch.** A compiler may keep the address of a
//!    thread-local in a register over a suspension; on another thread that is the wrong one. A
//!    fiber never changes its thread: it is not `Send`, from birth.
//! 2. **`!Send` values on a stack.** For the same reason an `Rc` or a guard may lie on it.
//! 3. **Forgotten stacks.** Closure and values are `'static`, and the memory of a fiber that was
//!    forgotten or could not be unwound is never unmapped or reused: a leak, no more.
//!
//!    ```compile_fail,E0277
//!    # use raddle_fiber::{Fiber, Stack};
//!    let mut fiber: Fiber<(), (), ()> = Fiber::new(Stack::new().unwrap(), |_, ()| ());
//!    std::thread::spawn(move || { fiber.resume(()); });
//!    ```
//!
//!    ```compile_fail,E0597
//!    # use raddle_fiber::{Fiber, Stack};
//!    let local = 5;
//!    let borrowed = &local;
//!    let fiber: Fiber<(), (), i32> = Fiber::new(Stack::new().unwrap(), move |_, ()| *borrowed);
//!    ```
//!
//! 4. **A forced unwind against `catch_unwind` and destructors.** The kill has a payload of its own
//!    ([`is_forced_unwind`]); swallowed, it is raised again by the next suspension, and after a
//!    thousand times the fiber is abandoned. Frames of foreign code are declared ([`foreign`]) and
//!    never unwound. Where panics abort, fibers are abandoned.
//! 5. **The count of panics is the thread's.** A suspension while the thread is panicking is
//!    refused; a fiber's panics are caught on its own stack.
//! 6. **Overflow.** Every stack has a guard, 64 KiB wide unless set otherwise; the report comes
//!    from an alternate stack, is decided by address, and leaves other faults to whom they belong.
//! 7. **Many stacks.** Arenas, guards that cost no mappings, errors that name the limit, reuse, and
//!    pages returned above a mark: see [`Stacks`].
//! 8. **Registers.** All are declared clobbered or saved; the control words of the floating-point
//!    units belong to the thread, or with [`Builder::own_fp_env`] to the fiber; the stack is
//!    aligned and the direction flag clear at the start.
//! 9. **Shadow stacks.** Where one is in force, there is an error in place of a stack
//!    ([`StackError::ShadowStack`]).
//! 10. **It looks like a thread and is none.** Resuming a fiber that runs or has ended panics in
//!     release builds too. Backtraces go on in the resumer or end; AddressSanitizer, LeakSanitizer
//!     and valgrind are told about stacks. A lock of `std` held over a suspension blocks the thread
//!     if somebody else there wants it: that remains for the caller to avoid.
//!
//! Where to start reading: the header of the control block's file for the state machine, then the
//! instructions and their pictures in `switch/x86_64.rs`.

mod control;
mod elsewhere;
mod fiber;
mod foreign;
mod held;
mod name;
mod overflow;
mod payload;
mod stack;
mod suspender;
mod switch;
mod tools;
mod unwind;

pub use elsewhere::on_parent_stack;
pub use fiber::{Builder, Fiber, Step, Unwound};
pub use foreign::foreign;
pub use held::held;
pub use name::Name;
pub use stack::{GuardKind, Stack, StackError, Stacks, StacksBuilder, Stats};
pub use suspender::{Reason, Refused, Suspender};
pub use unwind::is_forced_unwind;

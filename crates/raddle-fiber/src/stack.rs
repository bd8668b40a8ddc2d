//! Memory to run on: stacks with guards, made in arenas, reused, and given back.
//!
//! [`Stacks`] is a kind of stacks: size, guard, and how much is kept. [`Stack`] is one of them,
//! owned. Address space is taken 64 MiB at a time and cut into stacks; guards cost no mapping where
//! the kernel can do that (Linux 6.13), so a hundred thousand stacks need a few hundred mappings.
//! Elsewhere each costs two, and there is an error before the limit is met.
//!
//! A stack that is dropped goes to a list of its thread (last in, first out), then to the pool of
//! its kind; deep pages go back to the kernel, and so do arenas without stacks in use.
//!
//! Where to start reading: the arena (how it is cut), then the pool (who has what).

mod arena;
mod cache;
mod config;
mod error;
pub(crate) mod map;
mod pool;
pub(crate) mod sys;

pub use config::GuardKind;
pub use error::StackError;
pub use pool::Stats;

use crate::tools::{sanitizer, valgrind};
use config::Config;
use pool::{Pool, Slot};
use std::mem;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, OnceLock, PoisonError};

/// A kind of stacks. Copies are the same kind, and so are two that were made with equal settings.
#[derive(Clone, Copy)]
pub struct Stacks {
    pool: &'static Pool,
}

/// One stack: memory to run on, with a guard below. It may go to another thread as long as no fiber
/// has it.
///
/// Dropping it keeps it for the next one of its kind.
pub struct Stack {
    pool: &'static Pool,
    top: NonNull<u8>,
    arena: u32,
    registered: valgrind::Registered,
}

// SAFETY: memory that nobody uses; pools are shared by all threads.
unsafe impl Send for Stack {}
// SAFETY: a shared reference only tells addresses.
unsafe impl Sync for Stack {}

/// Settings for a kind of stacks; see [`Stacks::builder`].
#[derive(Clone, Copy, Debug)]
pub struct StacksBuilder {
    config: Config,
    usable: Option<usize>,
}

/// All kinds there are. There is one entry for each combination of settings ever used.
static KINDS: Mutex<Vec<&'static Pool>> = Mutex::new(Vec::new());

impl Stacks {
    /// The usual kind: 256 KiB of address space, of which 64 KiB are guard.
    pub fn usual() -> Stacks {
        static USUAL: OnceLock<Stacks> = OnceLock::new();
        *USUAL.get_or_init(|| Stacks::of(Config::DEFAULT))
    }

    /// A kind with room for at least `usable` bytes. Address space is rounded up to a power of two,
    /// so that there are few kinds.
    ///
    /// # Errors
    ///
    /// [`StackError::TooLarge`] above about 1 GiB.
    pub fn at_least(usable: usize) -> Result<Stacks, StackError> {
        let config = Config::DEFAULT.sized(usable)?;
        let slot = config.slot.next_power_of_two();
        Ok(Stacks::of(Config { slot, ..config }))
    }

    /// Settings, at first those of [`Stacks::usual`].
    pub fn builder() -> StacksBuilder {
        StacksBuilder { config: Config::DEFAULT, usable: None }
    }

    fn of(config: Config) -> Stacks {
        let mut kinds = KINDS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = kinds.iter().find(|pool| pool.config == config) {
            return Stacks { pool };
        }
        // Never freed: stacks refer to it, and there are as few as there are settings.
        let pool: &'static Pool = Box::leak(Box::new(Pool::new(config)));
        kinds.push(pool);
        Stacks { pool }
    }

    /// A stack. The last one this thread gave back, if it has one: some 30 instructions; else one
    /// from the pool under its lock; else a new one, at about a microsecond.
    ///
    /// # Errors
    ///
    /// [`StackError`] says which limit was met.
    pub fn take(self) -> Result<Stack, StackError> {
        if sys::shadow_stack() {
            return Err(StackError::ShadowStack);
        }
        let slot = cache::take(self.pool)?;
        let (top, usable) = (slot.top.addr().get(), self.pool.usable());
        let registered = valgrind::register(top - usable, top);
        let stack = Stack { pool: self.pool, top: slot.top, arena: slot.arena, registered };
        sanitizer::stack_taken(stack.bottom(), usable);
        Ok(stack)
    }

    /// Bytes one can use of each stack.
    pub fn usable(self) -> usize {
        self.pool.usable()
    }

    /// What there is of this kind.
    pub fn stats(self) -> Stats {
        self.pool.stats()
    }

    /// Gives memory back: what this thread keeps for its next stacks, and every piece of address
    /// space without a stack in use. What other threads keep stays.
    pub fn shrink(self) {
        cache::flush(self.pool);
        self.pool.shrink();
    }
}

impl Stack {
    /// A stack of the usual kind; see [`Stacks::usual`] and [`Stacks::take`].
    ///
    /// # Errors
    ///
    /// As for [`Stacks::take`].
    pub fn new() -> Result<Stack, StackError> {
        Stacks::usual().take()
    }

    /// A stack with room for at least `usable` bytes; see [`Stacks::at_least`].
    ///
    /// # Errors
    ///
    /// As for [`Stacks::take`] and [`Stacks::at_least`].
    pub fn with_size(usable: usize) -> Result<Stack, StackError> {
        Stacks::at_least(usable)?.take()
    }

    /// Bytes one can use.
    pub fn size(&self) -> usize {
        self.pool.usable()
    }

    /// The addresses one can use, from the lowest to the one above the highest.
    pub fn bounds(&self) -> std::ops::Range<usize> {
        self.bottom().addr()..self.top.addr().get()
    }

    /// The upper end, where use begins.
    pub(crate) fn top(&self) -> NonNull<u8> {
        self.top
    }

    pub(crate) fn bottom(&self) -> *mut u8 {
        // SAFETY: the stack begins that far below its end.
        unsafe { self.top.sub(self.pool.usable()).as_ptr() }
    }

    /// Keeps the memory for ever, because what lies on it was not unwound.
    pub(crate) fn abandon(self) {
        // Relaxed: a statistic.
        self.pool.abandoned.fetch_add(1, Ordering::Relaxed);
        mem::forget(self);
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        valgrind::deregister(self.registered);
        sanitizer::stack_given_back(self.bottom(), self.pool.usable());
        cache::give(self.pool, Slot { top: self.top, arena: self.arena, warm: true });
    }
}

impl std::fmt::Debug for Stack {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Stack").field("bounds", &self.bounds()).finish()
    }
}

impl std::fmt::Debug for Stacks {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Stacks").field("usable", &self.usable()).finish()
    }
}

impl StacksBuilder {
    /// Bytes one can use, rounded up to pages, at least 8 KiB.
    pub fn usable(mut self, bytes: usize) -> Self {
        self.usable = Some(bytes);
        self
    }

    /// Bytes of the guard, rounded up to pages, at least one. Rust code touches every page it
    /// passes, so a page suffices for it; C code that was compiled without stack probes may jump
    /// over a small guard.
    pub fn guard(mut self, bytes: usize) -> Self {
        let usable = self.config.slot - self.config.guard;
        self.config.guard = bytes.clamp(1, 1 << 30).next_multiple_of(sys::PAGE);
        self.config.slot = usable + self.config.guard;
        self
    }

    /// Bytes at the upper end of a free stack that stay in memory; what was used below goes back
    /// to the kernel, at the latest when a thread passes the stack on. 16 KiB if not set.
    pub fn keep(mut self, bytes: usize) -> Self {
        self.config.keep = bytes.clamp(sys::PAGE, 1 << 30).next_multiple_of(sys::PAGE);
        self
    }

    /// Free stacks that a thread keeps for itself (32 if not set), and that keep their upper pages
    /// beyond that (256 if not set).
    pub fn reuse(mut self, per_thread: usize, warm: usize) -> Self {
        (self.config.cache, self.config.warm) = (per_thread, warm);
        self
    }

    /// Makes guards by `mprotect` even where the kernel has better ones. For tests.
    pub fn force_mprotect(mut self, yes: bool) -> Self {
        self.config.mprotect = yes;
        self
    }

    /// Counts mappings of this kind against `limit` in place of `vm.max_map_count`. For tests.
    pub fn mapping_limit(mut self, limit: usize) -> Self {
        self.config.mappings = Some(limit);
        self
    }

    /// The kind with these settings.
    ///
    /// # Errors
    ///
    /// [`StackError::TooLarge`] if stack and guard are more than 2 GiB.
    pub fn build(self) -> Result<Stacks, StackError> {
        let usable = self.usable.unwrap_or(self.config.slot - self.config.guard);
        Ok(Stacks::of(self.config.sized(usable)?))
    }
}

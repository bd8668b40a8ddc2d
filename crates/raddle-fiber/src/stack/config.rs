//! What stacks of one kind have in common: sizes, guards, and how much is kept of what is not used.

use super::error::StackError;
use super::map::MAX_SLOT;
use super::sys::PAGE;

/// Address space of a stack with its guard, unless asked for otherwise.
const SLOT: usize = 256 << 10;
/// The guard: large enough for C code that was compiled without stack probes.
pub(crate) const GUARD: usize = 64 << 10;
/// The least anybody can run on.
const LEAST: usize = 8 << 10;

/// How the memory below a stack is made to fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GuardKind {
    /// By advice (`MADV_GUARD_INSTALL`, Linux 6.13): costs no mapping.
    Install,
    /// By protection (`mprotect`): costs two mappings a stack.
    Mprotect,
}

/// The settings of a kind of stacks. Kinds with equal settings share their memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    /// Address space of a stack, its guard included; whole pages.
    pub(crate) slot: usize,
    /// Bytes of the guard; whole pages, at least one.
    pub(crate) guard: usize,
    /// Bytes at the upper end that a free stack may keep resident.
    pub(crate) keep: usize,
    /// Free stacks a thread keeps for itself.
    pub(crate) cache: usize,
    /// Further free stacks that may keep resident pages.
    pub(crate) warm: usize,
    /// Do not try the better guard.
    pub(crate) mprotect: bool,
    /// In place of `vm.max_map_count`.
    pub(crate) mappings: Option<usize>,
}

impl Config {
    pub(crate) const DEFAULT: Config = Config {
        slot: SLOT,
        guard: GUARD,
        keep: 16 << 10,
        cache: 32,
        warm: 256,
        mprotect: false,
        mappings: None,
    };

    /// With room for `usable` bytes, rounded up to pages.
    pub(crate) fn sized(mut self, usable: usize) -> Result<Config, StackError> {
        let too_large = StackError::TooLarge { size: usable };
        let usable = usable.max(LEAST).checked_next_multiple_of(PAGE).ok_or(too_large)?;
        self.slot = usable.checked_add(self.guard).ok_or(too_large)?;
        if self.slot > MAX_SLOT { Err(too_large) } else { Ok(self) }
    }
}

//! The list of a channel's blocks: how senders find the slot of their position, and how drained
//! blocks come back.
//!
//! # Question
//!
//! A sender has claimed a position by one addition to the channel's word. How does it find the
//! slot, without a lock and without waiting for another sender, and when is a drained block in
//! nobody's hands any more, so that it can be used again?
//!
//! # States
//!
//! ```text
//!   oldest           head             last
//!     │                │                │
//!     ▼                ▼                ▼
//!   ▢▢▢▢  ─▶  ▢▢▢▢  ─▶ ▢▢■■  ─▶ ■■■■ ─▶ ■·■· ─▶ ····      spare  ····
//!   drained, not free  receiver's       senders' entry
//! ```
//!
//! `oldest` and `head` belong to the receiver, `last` and `spare` to all.
//!
//! # Protocol
//!
//! *Find*: load `last`; walk along `next` to the block whose start fits the position. Who walks off
//! the end links a new block. The owner of a block's first position links the next block *before*
//! it makes its slot ready; so a receiver that has drained a block finds the next one there, and
//! waiting never allocates. *Move `last`*: who walks over a block in which all slots are ready
//! moves `last` past it by exchange, then reads the tail with a read-modify-write and stores it in
//! the block as `released`. *Reuse*: the receiver takes the oldest drained block once it is
//! released and the head has passed that tail.
//!
//! # Race
//!
//! *A late sender against moving `last`*: `last` never passes a position whose sender has not
//! finished, because a block in which all slots are ready has no such sender, and `last` moves
//! block by block. *A late sender against reuse*: one that might stand in the block claimed its
//! position before the tail was read (later claims acquire the move of `last` through the word).
//! The receiver has received all of these, so those senders have made their slots ready, which was
//! their last touch of any block.
//!
//! # Proof
//!
//! Models: `model_mpsc_blocks_are_reused`, `model_mpsc_senders_walk_and_move`, and the models of
//! `chan.rs`, in which a block has two slots.

use std::ptr;

use raddle_base::shim::atomic::AtomicPtr;
use raddle_base::shim::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use super::block::{Block, SLOTS};
use super::kind::Kind;
use super::word::Word;

/// The side of the senders.
pub(super) struct Blocks<T> {
    /// Where senders enter: at or before the block of every position not yet sent.
    last: AtomicPtr<Block<T>>,
    /// A drained block for the next one who needs it.
    spare: AtomicPtr<Block<T>>,
}

impl<T> Blocks<T> {
    /// With one block, for the positions from `first` on.
    pub(super) fn new(first: usize) -> Self {
        let last = AtomicPtr::new(Block::allocate(first));
        Blocks { last, spare: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The first block, while nothing was sent.
    pub(super) fn first(&self) -> *mut Block<T> {
        // Relaxed: called by the thread that made it.
        self.last.load(Relaxed)
    }

    /// Puts a value into the slot of a position, and makes it ready.
    ///
    /// # Safety
    ///
    /// The caller claimed the position by an acquiring change of `word`.
    #[inline]
    pub(super) unsafe fn write<K: Kind>(&self, position: usize, value: T, word: &Word<K>) {
        // Acquire: the block's start is visible.
        let last = self.last.load(Acquire);
        // SAFETY: `last` is a linked block, and no block that a claimed position may lead to is
        // reused before that position was received.
        let start = unsafe { (*last).start() };
        let ahead = Word::<K>::distance(start, position);
        // Neither in a later block, nor the first in this one.
        let block =
            if ahead.wrapping_sub(1) < SLOTS - 1 { last } else { self.find(position, word) };
        // SAFETY: the block is that of the position, which is the caller's.
        unsafe { (*block).write(position, value) };
    }

    /// Finds the block of a claimed position, moves `last` along, and links the next block if this
    /// is the first position of its block.
    #[cold]
    #[inline(never)]
    fn find<K: Kind>(&self, position: usize, word: &Word<K>) -> *mut Block<T> {
        let first = position & !(SLOTS - 1);
        // Acquire: as in `write`.
        let mut block = self.last.load(Acquire);
        let mut moving = true;
        loop {
            // SAFETY: as in `write`; the blocks behind `last` are linked and later than it.
            let here = unsafe { &*block };
            if here.start() == first {
                if position == first {
                    self.next_of::<K>(here);
                }
                return block;
            }
            let next = self.next_of::<K>(here);
            moving = moving && here.is_full();
            // AcqRel: those who load it see the block; this thread has seen the senders of the
            // full block finish, so that they cannot find a later `last` than they need.
            if moving && self.last.compare_exchange(block, next, AcqRel, Relaxed).is_ok() {
                here.release(word.tail_and_publish());
            }
            block = next;
        }
    }

    /// The block after `block`, linked now if there was none.
    pub(super) fn next_of<K: Kind>(&self, block: &Block<T>) -> *mut Block<T> {
        // Acquire: the block's start is visible.
        let next = block.next.load(Acquire);
        if next.is_null() { self.link::<K>(block) } else { next }
    }

    #[cold]
    fn link<K: Kind>(&self, block: &Block<T>) -> *mut Block<T> {
        let start = Word::<K>::after(block.start(), SLOTS);
        // Acquire: the receiver is through with it. Release: passes that on, if it comes back.
        let mut new = self.spare.swap(ptr::null_mut(), AcqRel);
        if new.is_null() {
            new = Block::allocate(start);
        } else {
            // SAFETY: the swap made it this thread's alone.
            unsafe { (*new).set_start(start) };
        }
        // Release: the block is ready for use. Acquire: the other's block is, too.
        match block.next.compare_exchange(ptr::null_mut(), new, Release, Acquire) {
            Ok(_) => new,
            Err(other) => {
                // SAFETY: it was never linked, and holds nothing.
                unsafe { self.keep(new) };
                other
            }
        }
    }

    /// Keeps a fresh block for the next one who needs it, or frees it.
    ///
    /// # Safety
    ///
    /// The caller alone has the block, which is as new.
    unsafe fn keep(&self, block: *mut Block<T>) {
        // Release: who takes it finds it as it is now. Relaxed: nothing is read on failure.
        if self.spare.compare_exchange(ptr::null_mut(), block, Release, Relaxed).is_err() {
            // SAFETY: passed on from the caller.
            unsafe { Block::free(block) };
        }
    }

    /// Takes back a drained block.
    ///
    /// # Safety
    ///
    /// No sender has the block or will have it, and all of its values were moved out.
    pub(super) unsafe fn reuse(&self, block: *mut Block<T>) {
        // SAFETY: passed on from the caller.
        unsafe {
            (*block).reset();
            self.keep(block);
        }
    }

    /// Frees the list from `oldest` on, and the spare block.
    ///
    /// # Safety
    ///
    /// Nobody uses the list any more, and no value is in it.
    pub(super) unsafe fn free(&mut self, oldest: *mut Block<T>) {
        // Relaxed, all: the caller is alone.
        let mut block = oldest;
        while !block.is_null() {
            // SAFETY: the caller is alone, and each block of the list is alive until freed here.
            unsafe {
                let next = (*block).next.load(Relaxed);
                Block::free(block);
                block = next;
            }
        }
        let spare = self.spare.load(Relaxed);
        if !spare.is_null() {
            // SAFETY: as above; it is in no list.
            unsafe { Block::free(spare) };
        }
    }
}

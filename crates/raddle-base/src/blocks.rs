//! Memory for what is made and dropped all the time (tasks, oneshot channels): the global
//! allocator, by way of a small cache on each worker.
//!
//! A general allocator takes some 330 instructions to give and take back a block among ten
//! thousand (glibc 2.36, by callgrind), a third of what a short task costs in all. A worker
//! therefore keeps blocks that were freed on its thread, by size, for the next ones. Every block
//! is one of the global allocator's, so it may be freed on any thread, into whatever cache is
//! there, and a thread that is no worker has none. A cache holds at most 2 MiB, and gives
//! everything back when the worker ends.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

/// The granularity of sizes, which is that of common allocators: rounding up costs nothing.
const GRAIN: usize = 16;
/// Blocks up to this size are cached: a task with a future of some 400 bytes.
const LARGEST: usize = 512;
const CLASSES: usize = LARGEST / GRAIN;
/// What a worker's cache holds at most: ten thousand small tasks.
const HOLD: usize = 2 << 20;

/// A cached block: its first word names the next one.
struct Block {
    next: *mut Block,
}

struct Cache {
    /// Blocks of each class, the last freed first: that one is still in the processor's cache.
    classes: [Cell<*mut Block>; CLASSES],
    held: Cell<usize>,
    /// [`HOLD`] on a worker, 0 elsewhere.
    limit: Cell<usize>,
}

crate::local! {
    static CACHE: Cache = const {
        Cache {
            classes: [const { Cell::new(ptr::null_mut()) }; CLASSES],
            held: Cell::new(0),
            limit: Cell::new(0),
        }
    };
}

/// The layout that is asked for from the allocator, and its class if blocks of it are cached.
const fn rounded(layout: Layout) -> (Layout, Option<usize>) {
    if layout.align() > GRAIN || layout.size() > LARGEST || layout.size() == 0 {
        return (layout, None);
    }
    let class = (layout.size() - 1) / GRAIN;
    match Layout::from_size_align((class + 1) * GRAIN, GRAIN) {
        Ok(layout) => (layout, Some(class)),
        Err(_) => (layout, None),
    }
}

/// A block for one `T`, not initialised: to be filled in place, without a detour by the stack.
///
/// # Panics
///
/// If `T` has no size. The process ends if there is no memory.
#[inline]
pub fn take<T>() -> NonNull<T> {
    const { assert!(size_of::<T>() != 0, "what has no size needs no block") };
    let (layout, class) = const { rounded(Layout::new::<T>()) };
    let cached = class.and_then(|class| CACHE.with(|cache| cache.take(class, layout.size())));
    cached.unwrap_or_else(|| fresh(layout)).cast::<T>()
}

/// Gives a block back. Drops nothing: what is in it is the caller's affair.
///
/// # Safety
///
/// `block` came from [`take`] of the same type, and nobody uses it any more.
#[inline]
pub unsafe fn give<T>(block: NonNull<T>) {
    let (layout, class) = const { rounded(Layout::new::<T>()) };
    let block = block.cast::<u8>();
    let kept = class.is_some_and(|class| {
        // SAFETY: nobody uses the block any more.
        CACHE.with(|cache| unsafe { cache.put(class, layout.size(), block) })
    });
    if !kept {
        // SAFETY: every block comes from the global allocator with this layout, by `fresh`.
        unsafe { dealloc(block.as_ptr(), layout) };
    }
}

/// Inlined, so that the allocator is called directly, with a constant layout.
#[inline]
fn fresh(layout: Layout) -> NonNull<u8> {
    // SAFETY: `take` refuses types without a size.
    let block = unsafe { alloc(layout) };
    NonNull::new(block).unwrap_or_else(|| handle_alloc_error(layout))
}

impl Cache {
    #[inline]
    fn take(&self, class: usize, size: usize) -> Option<NonNull<u8>> {
        let block = NonNull::new(self.classes[class].get())?;
        // SAFETY: a block in the list is this cache's alone and holds a `Block`.
        self.classes[class].set(unsafe { block.as_ref().next });
        self.held.set(self.held.get() - size);
        Some(block.cast())
    }

    /// Keeps a block if there is room; true if it was kept.
    ///
    /// # Safety
    ///
    /// The block is of this class and nobody else's.
    #[inline]
    unsafe fn put(&self, class: usize, size: usize, block: NonNull<u8>) -> bool {
        if self.held.get() + size > self.limit.get() {
            return false;
        }
        let block = block.cast::<Block>();
        // SAFETY: the block is ours, at least one grain long and aligned to one.
        unsafe { block.write(Block { next: self.classes[class].get() }) };
        self.classes[class].set(block.as_ptr());
        self.held.set(self.held.get() + size);
        true
    }

    fn clear(&self) {
        for (class, head) in self.classes.iter().enumerate() {
            let Ok(layout) = Layout::from_size_align((class + 1) * GRAIN, GRAIN) else { continue };
            while let Some(block) = self.take(class, layout.size()) {
                debug_assert!(head.get() != block.as_ptr().cast());
                // SAFETY: as in `give`.
                unsafe { dealloc(block.as_ptr(), layout) };
            }
        }
    }
}

/// Lets this thread cache blocks until the guard is dropped.
pub fn cache() -> Caching {
    let before = CACHE.with(|cache| cache.limit.replace(HOLD));
    Caching { before, thread: PhantomData }
}

/// Gives back what was cached, on drop.
#[must_use = "the cache is given back as soon as this is dropped"]
#[derive(Debug)]
pub struct Caching {
    before: usize,
    thread: PhantomData<*const ()>,
}

impl Drop for Caching {
    fn drop(&mut self) {
        CACHE.with(|cache| {
            cache.limit.set(self.before);
            if self.before == 0 {
                cache.clear();
            }
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

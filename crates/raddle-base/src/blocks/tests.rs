//! Blocks come back from the cache, by size, up to its limit and on its thread only.

use super::*;

fn place<T>(value: T) -> NonNull<T> {
    let block = take::<T>();
    // SAFETY: the block is new, large enough and aligned for `T`.
    unsafe { block.write(value) };
    block
}

/// # Safety
///
/// As for [`give`], of a value that need not be dropped.
unsafe fn free<T>(block: NonNull<T>) {
    // SAFETY: forwarded.
    unsafe { give(block) };
}

fn held() -> usize {
    CACHE.with(|cache| cache.held.get())
}

#[test]
fn a_worker_gets_its_last_block_back() {
    let _caching = cache();
    let first = place([1u64; 20]);
    // SAFETY: just made; not used afterwards, but as a number.
    unsafe { free(first) };
    assert_eq!(held(), 160);
    let second = place([2u64; 20]);
    assert_eq!(first.as_ptr(), second.as_ptr());
    assert_eq!(held(), 0);
    // Another size has another class.
    let third = place([3u64; 18]);
    assert_ne!(third.as_ptr().cast(), second.as_ptr().cast::<u8>());
    // SAFETY: as above.
    unsafe {
        free(second);
        free(third);
    }
    assert_eq!(held(), 160 + 144);
}

#[test]
fn elsewhere_nothing_is_kept_and_the_guard_gives_all_back() {
    let block = place([0u8; 100]);
    // SAFETY: just made and not used afterwards.
    unsafe { free(block) };
    assert_eq!(held(), 0);
    let caching = cache();
    let blocks: Vec<_> = (0..100u8).map(|n| place([n; 100])).collect();
    for block in blocks {
        // SAFETY: as above.
        unsafe { free(block) };
    }
    assert_eq!(held(), 100 * 112);
    drop(caching);
    assert_eq!(held(), 0);
}

#[test]
fn the_cache_is_bounded_and_large_or_aligned_values_pass_it_by() {
    #[repr(align(64))]
    struct Aligned(u8);
    let _caching = cache();
    let large = place([0u8; 513]);
    let aligned = place(Aligned(1));
    // SAFETY: both are live.
    assert_eq!(unsafe { aligned.as_ref() }.0, 1);
    // SAFETY: just made and not used afterwards.
    unsafe {
        free(large);
        free(aligned);
    }
    assert_eq!(held(), 0);
    let blocks: Vec<_> = (0..2 * HOLD / 512).map(|_| place([0u8; 512])).collect();
    for block in blocks {
        // SAFETY: as above.
        unsafe { free(block) };
    }
    assert_eq!(held(), HOLD);
}

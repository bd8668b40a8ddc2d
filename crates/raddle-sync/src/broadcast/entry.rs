//! Where a value lies, and the stock of places for values.
//!
//! A ring of values in place would do if values could not be overwritten while somebody clones
//! them, outside of every lock. So the ring holds pointers to *entries*, and an overwritten one
//! that is being cloned leaves the ring and lives on until that is over. At most one entry for
//! each receiver can be in that state, so each receiver of a channel that overwrites brings one,
//! and sending never allocates.
//!
//! | an entry is | `value` | its counts |
//! |---|---|---|
//! | in stock | empty | meaningless |
//! | in the ring | a value | `missing`: receivers that have yet to receive it or are at it |
//! | overwritten | a value | `pins`: receivers that are cloning it |
//!
//! Everything but `value` is accessed under the channel's lock. A value is written when its entry
//! comes from stock, and moved out when it goes back; in between it is only read, by receivers
//! that are counted in `pins`, and the lock orders all three.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr;

use raddle_base::shim::cell::UnsafeCell;

pub(super) struct Entry<T> {
    value: UnsafeCell<MaybeUninit<T>>,
    /// Receivers that count on this value.
    pub(super) missing: Cell<usize>,
    /// Receivers that are cloning it, counted in `missing` as well.
    pub(super) pins: Cell<usize>,
    /// It was overwritten while it was being cloned.
    pub(super) is_overwritten: Cell<bool>,
    /// Brought by a receiver, and allocated by itself.
    is_spare: bool,
    /// The next one in stock.
    next: Cell<*const Entry<T>>,
}

impl<T> Entry<T> {
    fn new(is_spare: bool) -> Self {
        Entry {
            value: UnsafeCell::new(MaybeUninit::uninit()),
            missing: Cell::new(0),
            pins: Cell::new(0),
            is_overwritten: Cell::new(false),
            is_spare,
            next: Cell::new(ptr::null()),
        }
    }

    /// Puts a value in, that so many receivers count on.
    ///
    /// # Safety
    ///
    /// The entry came from stock.
    #[inline]
    pub(super) unsafe fn put(&self, value: T, missing: usize) {
        // SAFETY: an entry from stock is the caller's alone.
        self.value.with_mut(|slot| unsafe { (*slot).write(value) });
        self.missing.set(missing);
    }

    /// Moves the value out.
    ///
    /// # Safety
    ///
    /// The entry has a value and no pins, and goes back to stock.
    #[inline]
    pub(super) unsafe fn take(&self) -> T {
        // SAFETY: nobody else has access, and the value is not read again.
        self.value.with_mut(|slot| unsafe { (*slot).assume_init_read() })
    }

    /// A clone of the value.
    ///
    /// # Safety
    ///
    /// The caller is counted in `pins`.
    pub(super) unsafe fn clone_value(&self) -> T
    where
        T: Clone,
    {
        // SAFETY: the value stays as it is while there are pins.
        self.value.with(|slot| unsafe { (*slot).assume_init_ref() }.clone())
    }
}

/// The entries that hold no value.
pub(super) struct Stock<T> {
    /// All that the channel was made with.
    first: *mut [Entry<T>],
    free: *const Entry<T>,
    /// Those that receivers brought. As many exist as there are receivers, and `owed` more.
    spares: *const Entry<T>,
    owed: usize,
}

impl<T> Stock<T> {
    pub(super) fn new(count: usize) -> Self {
        let first = Box::into_raw((0..count).map(|_| Entry::new(false)).collect::<Box<[_]>>());
        let mut stock = Stock { first, free: ptr::null(), spares: ptr::null(), owed: 0 };
        // SAFETY: just made, and freed with this only.
        for entry in unsafe { &*first }.iter().rev() {
            stock.give(entry);
        }
        stock
    }

    /// Takes an entry out.
    ///
    /// # Panics
    ///
    /// If there is none: a fault of the channel.
    #[inline]
    pub(super) fn get(&mut self) -> *const Entry<T> {
        let list = if self.free.is_null() { &mut self.spares } else { &mut self.free };
        let entry = *list;
        assert!(!entry.is_null(), "a broadcast channel is out of entries");
        // SAFETY: entries in stock are alive.
        *list = unsafe { (*entry).next.get() };
        entry
    }

    /// Puts an entry without a value back.
    #[inline]
    pub(super) fn give(&mut self, entry: &Entry<T>) {
        let list = if entry.is_spare { &mut self.spares } else { &mut self.free };
        entry.next.set(*list);
        *list = entry;
    }

    /// An entry for a receiver to bring. Allocates: not under the lock.
    pub(super) fn spare() -> Spare<T> {
        Spare(Box::into_raw(Box::new(Entry::new(true))))
    }

    /// A receiver comes and brings an entry, which is given back if one is left from before.
    pub(super) fn bring(&mut self, spare: Spare<T>) -> Option<Spare<T>> {
        if self.owed > 0 {
            self.owed -= 1;
            return Some(spare);
        }
        // SAFETY: it is alive, and from here on freed by this stock only.
        self.give(unsafe { &*spare.into_raw() });
        None
    }

    /// A receiver goes, and may take its entry along; if it is in use, a later one takes two.
    pub(super) fn owe(&mut self) {
        self.owed += 1;
    }

    /// An entry that is owed, to be freed outside of the lock.
    pub(super) fn pay(&mut self) -> Option<Spare<T>> {
        if self.owed == 0 || self.spares.is_null() {
            return None;
        }
        self.owed -= 1;
        let entry = self.spares;
        // SAFETY: entries in stock are alive.
        self.spares = unsafe { (*entry).next.get() };
        Some(Spare(entry.cast_mut()))
    }
}

impl<T> Drop for Stock<T> {
    /// All entries are in stock by now: no end of the channel is left.
    fn drop(&mut self) {
        self.owed = usize::MAX;
        while self.pay().is_some() {}
        // SAFETY: made by `Box::into_raw`, and used by nobody any more.
        drop(unsafe { Box::from_raw(self.first) });
    }
}

/// An entry outside of the channel.
pub(super) struct Spare<T>(*mut Entry<T>);

impl<T> Spare<T> {
    fn into_raw(self) -> *mut Entry<T> {
        std::mem::ManuallyDrop::new(self).0
    }
}

impl<T> Drop for Spare<T> {
    fn drop(&mut self) {
        // SAFETY: it is nobody else's, was made by `Box::into_raw`, and holds no value.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

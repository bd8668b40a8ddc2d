//! A cell that is accessed through closures, so that loom sees each access begin and end.

/// Interior mutability without a check in production and with one under loom.
///
/// A closure gets a raw pointer: making a reference from it is the caller's claim, to be argued
/// where it is made.
#[derive(Debug, Default)]
pub struct UnsafeCell<T: ?Sized>(Inner<T>);

#[cfg(not(loom))]
type Inner<T> = std::cell::UnsafeCell<T>;
#[cfg(loom)]
type Inner<T> = loom::cell::UnsafeCell<T>;

impl<T> UnsafeCell<T> {
    crate::const_unless_loom! {
        /// A cell that holds `value`.
        #[inline]
        pub const fn new(value: T) -> Self {
            UnsafeCell(Inner::new(value))
        }
    }

    /// The value, the cell being owned.
    #[inline]
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Runs `f` with a pointer for reading. Under loom, a concurrent write fails the model.
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        #[cfg(not(loom))]
        return f(self.0.get());
        #[cfg(loom)]
        return self.0.with(f);
    }

    /// Runs `f` with a pointer for writing. Under loom, any concurrent access fails the model.
    #[inline]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        #[cfg(not(loom))]
        return f(self.0.get());
        #[cfg(loom)]
        return self.0.with_mut(f);
    }

    /// The value, borrowed exclusively.
    #[inline]
    pub fn get_mut(&mut self) -> &mut T {
        #[cfg(not(loom))]
        return self.0.get_mut();
        #[cfg(loom)]
        // SAFETY: `&mut self` shows that nobody else has access; loom has no `get_mut` of its own.
        return self.0.with_mut(|p| unsafe { &mut *p });
    }
}

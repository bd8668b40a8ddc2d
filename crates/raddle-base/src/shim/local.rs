//! What each thread has for itself: std's thread-locals, or shuttle's, whose threads share a real
//! one.

/// Declares thread-locals, as `std::thread_local!` does with constant initializers.
///
/// ```
/// use std::cell::Cell;
///
/// raddle_base::local! {
///     /// How often this thread was asked.
///     static ASKED: Cell<u32> = const { Cell::new(0) };
/// }
/// ASKED.set(ASKED.get() + 1);
/// assert_eq!(ASKED.take(), 1);
/// ```
#[macro_export]
macro_rules! local {
    ($($(#[$meta:meta])* static $name:ident: $type:ty = const $init:block;)*) => {
        $($crate::__local! { $(#[$meta])* $name $type, $init })*
    };
}

#[cfg(not(shuttle))]
#[doc(hidden)]
#[macro_export]
macro_rules! __local {
    ($(#[$meta:meta])* $name:ident $type:ty, $init:block) => {
        ::std::thread_local! {
            $(#[$meta])* static $name: $type = const $init;
        }
    };
}

#[cfg(shuttle)]
#[doc(hidden)]
#[macro_export]
macro_rules! __local {
    ($(#[$meta:meta])* $name:ident $type:ty, $init:block) => {
        $(#[$meta])* static $name: $crate::shim::local::Local<$type> =
            $crate::shim::local::Local::new(|| $init);
    };
}

#[cfg(shuttle)]
pub use of_shuttle::Local;

#[cfg(shuttle)]
mod of_shuttle {
    //! The methods of std's key that are used, on a key of shuttle's.

    use shuttle::thread::{AccessError, LocalKey};
    use std::cell::Cell;
    use std::marker::PhantomData;

    /// A thread-local of shuttle's threads.
    #[derive(Debug)]
    pub struct Local<T: 'static>(LocalKey<T>);

    impl<T> Local<T> {
        /// A key whose values begin as what `init` returns.
        pub const fn new(init: fn() -> T) -> Self {
            Local(LocalKey { init, _p: PhantomData })
        }

        /// Runs `f` with this thread's value.
        pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
            self.0.with(f)
        }

        /// As [`with`](Self::with), unless the thread is being torn down.
        pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
            self.0.try_with(f)
        }
    }

    impl<T> Local<Cell<T>> {
        /// A copy of this thread's value.
        pub fn get(&'static self) -> T
        where
            T: Copy,
        {
            self.with(Cell::get)
        }

        /// Sets this thread's value.
        pub fn set(&'static self, value: T) {
            self.with(|cell| cell.set(value));
        }

        /// Sets this thread's value and gives the one before.
        pub fn replace(&'static self, value: T) -> T {
            self.with(|cell| cell.replace(value))
        }

        /// Takes this thread's value.
        pub fn take(&'static self) -> T
        where
            T: Default,
        {
            self.with(Cell::take)
        }
    }
}

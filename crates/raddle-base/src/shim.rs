//! Std, loom or shuttle: the same names for all, so that the checkers run production code.
//!
//! * [`atomic`]: atomics and `fence`.
//! * [`cell`]: `UnsafeCell` with closure access, so that loom sees each access begin and end.
//! * [`mutex`]: `Mutex` and `Condvar` without poison: a panic under an internal lock is a bug of
//!   raddle, and the data under it stays as it was left.
//! * [`lock`]: the small lock of a wait queue.
//! * [`futex`]: a word to sleep on.
//! * [`thread`]: spawn and yield. [`hint`]: `spin_loop`. [`local`]: what each thread has.
//! * [`model`]: constants that shrink under the model, and the entry to a model run.
//!
//! Loom explores every interleaving of a small part; shuttle draws schedules for whole runtimes.
//! What shuttle has not, time and the kernel's sleeps, the module `world` gives it.
//!
//! Loom's constructors are not `const`; [`const_unless_loom!`](crate::const_unless_loom) writes a
//! function as `const` in production and as a plain one in a model.

pub mod atomic;
pub mod cell;
pub mod futex;
pub mod hint;
pub mod local;
pub mod lock;
pub mod model;
pub mod mutex;
pub mod thread;
pub(crate) mod time;
#[cfg(shuttle)]
pub mod world;

#[cfg(not(loom))]
pub use std::sync::Arc;

#[cfg(loom)]
pub use loom::sync::Arc;

/// Writes functions as `const fn` in production and as plain `fn` under loom.
///
/// ```
/// use raddle_base::shim::atomic::AtomicU32;
///
/// struct Flag(AtomicU32);
///
/// impl Flag {
///     raddle_base::const_unless_loom! {
///         /// A lowered flag.
///         pub const fn new() -> Self {
///             Flag(AtomicU32::new(0))
///         }
///     }
/// }
/// static FLAG: Flag = Flag::new();
/// # let _ = &FLAG.0;
/// ```
#[macro_export]
macro_rules! const_unless_loom {
    ($($(#[$meta:meta])* $vis:vis const fn $name:ident $args:tt $(-> $ret:ty)? $body:block)*) => {
        $(
            $crate::__const_unless_loom! {
                $(#[$meta])* [$vis] $name $args [$(-> $ret)?] $body
            }
        )*
    };
}

#[cfg(not(loom))]
#[doc(hidden)]
#[macro_export]
macro_rules! __const_unless_loom {
    ($(#[$meta:meta])* [$vis:vis] $name:ident $args:tt [$($ret:tt)*] $body:block) => {
        $(#[$meta])* $vis const fn $name $args $($ret)* $body
    };
}

#[cfg(loom)]
#[doc(hidden)]
#[macro_export]
macro_rules! __const_unless_loom {
    ($(#[$meta:meta])* [$vis:vis] $name:ident $args:tt [$($ret:tt)*] $body:block) => {
        $(#[$meta])* $vis fn $name $args $($ret)* $body
    };
}

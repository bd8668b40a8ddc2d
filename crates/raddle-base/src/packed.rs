//! Named fields of one word, so that an atomic can be read as a structure.
//!
//! A lock-free structure often keeps several facts in one atomic word, because they must change
//! together. [`packed!`](crate::packed!) turns such a word into a type: each field has a name, a
//! type and a range of bits; the compiler checks that the fields fit and do not overlap; `Debug`
//! prints them by name. The word stays a plain number: loads, stores and exchanges are done by the
//! user, with `bits` and `from_bits`.
//!
//! ```
//! raddle_base::packed! {
//!     /// The state of a gate.
//!     pub struct Gate: u32 {
//!         /// Nobody may enter any more.
//!         CLOSED: bool = 0..1 => closed, with_closed;
//!         /// How many are inside.
//!         INSIDE: u16 = 16..32 => inside, with_inside;
//!     }
//! }
//!
//! let gate = Gate::ZERO.with_inside(3).with_closed(true);
//! assert_eq!(gate.bits(), 3 << 16 | 1);
//! assert_eq!(format!("{gate:?}"), "Gate { closed: true, inside: 3 }");
//! // For an operation on the whole word, such as `fetch_add` or `fetch_or`:
//! assert_eq!((Gate::INSIDE.unit(), Gate::CLOSED.mask()), (1 << 16, 1));
//! ```

#[cfg(test)]
mod tests;

/// The place of a field in its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<W> {
    mask: W,
    unit: W,
}

/// A field with the same methods for each width of word.
macro_rules! field_of {
    ($($word:ident),*) => {$(
        impl Field<$word> {
            /// The field made of the bits `low..high`.
            ///
            /// # Panics
            ///
            /// When the range is empty or does not fit the word: at compile time, when a constant
            /// is made of it.
            #[must_use]
            pub const fn new(low: u32, high: u32) -> Self {
                assert!(low < high && high <= $word::BITS, "a field outside its word");
                let ones = $word::MAX >> ($word::BITS - (high - low));
                Self { mask: ones << low, unit: 1 << low }
            }

            /// All bits of the field.
            #[inline]
            #[must_use]
            pub const fn mask(self) -> $word {
                self.mask
            }

            /// The lowest bit: what to add to the word in order to add one to the field.
            #[inline]
            #[must_use]
            pub const fn unit(self) -> $word {
                self.unit
            }

            /// The largest value the field can hold.
            #[inline]
            #[must_use]
            pub const fn max(self) -> $word {
                self.mask >> self.unit.trailing_zeros()
            }

            /// The field's value in `word`.
            #[inline]
            #[must_use]
            pub const fn get(self, word: $word) -> $word {
                (word & self.mask) >> self.unit.trailing_zeros()
            }

            /// `word` with the field set to `value`.
            ///
            /// # Panics
            ///
            /// When `value` does not fit, in builds with debug assertions; else it is cut off.
            #[inline]
            #[must_use]
            pub const fn set(self, word: $word, value: $word) -> $word {
                debug_assert!(value <= self.max(), "a value too large for its field");
                word & !self.mask | (value << self.unit.trailing_zeros()) & self.mask
            }
        }
    )*};
}

field_of!(u8, u16, u32, u64, usize);

/// Declares a type whose fields lie in one word; see the [module](mod@crate::packed).
///
/// `NAME: type = low..high => getter, setter;` gives a constant, which is
/// [a field](crate::packed::Field), and two `const` methods. `type` is `bool` (one bit) or an
/// unsigned integer. Fields that overlap, leave the word or do not fit their type are refused by
/// the compiler.
#[macro_export]
macro_rules! packed {
    ($(#[$meta:meta])* $vis:vis struct $name:ident: $word:ident {
        $($(#[$about:meta])*
        $field:ident: $type:tt = $low:literal .. $high:literal => $get:ident, $with:ident;)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        $vis struct $name($word);

        impl $name {
            $($(#[$about])*
            $vis const $field: $crate::packed::Field<$word> =
                $crate::packed::Field::<$word>::new($low, $high);)*

            /// The word with all fields zero.
            $vis const ZERO: Self = Self(0);

            /// Reads a word as fields.
            #[inline]
            #[must_use]
            $vis const fn from_bits(bits: $word) -> Self {
                Self(bits)
            }

            /// The word itself.
            #[inline]
            #[must_use]
            $vis const fn bits(self) -> $word {
                self.0
            }

            $($(#[$about])*
            #[inline]
            #[must_use]
            $vis const fn $get(self) -> $type {
                $crate::packed!(@read $type, Self::$field.get(self.0))
            }

            /// The same word with this field changed:
            $(#[$about])*
            #[inline]
            #[must_use]
            $vis const fn $with(self, value: $type) -> Self {
                Self(Self::$field.set(self.0, value as $word))
            })*
        }

        impl ::core::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_struct(stringify!($name))
                    $(.field(stringify!($get), &self.$get()))*
                    .finish()
            }
        }

        // The layout test, run by the compiler.
        const _: () = {
            let mut taken: $word = 0;
            $(
                let field = $name::$field;
                assert!(taken & field.mask() == 0, "two fields overlap");
                taken |= field.mask();
                assert!($crate::packed!(@fits $type, field.max()), "a field wider than its type");
                let largest = $crate::packed!(@read $type, field.max());
                let word = $name::from_bits(0).$with(largest);
                assert!(word.bits() == field.mask() && word.$get() as $word == field.max());
            )*
            assert!($name::ZERO.bits() & taken == 0);
        };
    };
    (@read bool, $value:expr) => { $value != 0 };
    (@read $type:tt, $value:expr) => { $value as $type };
    (@fits bool, $max:expr) => { $max == 1 };
    (@fits $type:tt, $max:expr) => { $max as u64 <= $type::MAX as u64 };
}

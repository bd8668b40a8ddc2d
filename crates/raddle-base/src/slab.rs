//! A table whose keys stay valid for one occupant only: the generation in a key tells old from new.
//!
//! It answers: how is something named to the kernel, or to another thread, by one number, such
//! that a name that comes back late finds nothing instead of the wrong thing? Operations in
//! flight are named by such keys.
//!
//! * Insert, look-up and removal are O(1); insertion allocates when the table grows, removal moves
//!   the table when it has shrunk to a quarter (both amortised: an element that stays is moved a
//!   bounded number of times). Elements that must not move are put in as boxes.
//! * **A key is never given out twice**, for the life of the slab. Each place counts generations
//!   and is retired when its count is used up, after at least 2^31 occupants. A retired place keeps
//!   its few bytes, so a slab that ran at a million insertions a second grows by one empty place
//!   in half an hour or slower.
//! * **Memory goes back.** Vacant places at the end are given up while more than half are vacant
//!   (an element that stays near the end keeps what is before it); the generation they had reached
//!   is remembered as the floor from which the places that come later start.
//!
//! ```
//! use raddle_base::slab::{Key, Slab};
//!
//! let mut slab = Slab::new();
//! let old = slab.insert("first");
//! assert_eq!(slab.remove(old), Some("first"));
//! let new = slab.insert("second");
//! assert_eq!((slab.get(old), slab.get(new)), (None, Some(&"second")));
//! // A key fits one word, and a word below 2^32 is never a key.
//! assert_eq!(Key::from_bits(new.to_bits()), Some(new));
//! assert_eq!(Key::from_bits(7), None);
//! ```

mod key;
#[cfg(test)]
mod tests;

use core::num::NonZeroU32;
use core::{fmt, mem};

pub use key::Key;

/// Generations up to here may be forgotten by giving up their place; a place beyond keeps its
/// count until it is retired. Half of the range: so each place has at least the other half.
const FORGETTABLE: u32 = u32::MAX / 2;

/// So many places are kept, vacant or not.
const SMALL: usize = 32;

/// A table of elements under generational keys. See the [module](self).
pub struct Slab<T> {
    places: Vec<Place<T>>,
    live: usize,
    /// Head of the list of vacant places, the last one vacated first.
    vacant: Option<Index>,
    /// Generation of the first occupant of a place that is added. At most [`FORGETTABLE`].
    floor: NonZeroU32,
}

/// Index of a place, plus one: so that an absent one costs no space.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Index(NonZeroU32);

struct Place<T> {
    /// Of the occupant, or of the next one if vacant. `None`: retired.
    generation: Option<NonZeroU32>,
    content: Content<T>,
}

enum Content<T> {
    Live(T),
    /// Neighbours in the list of vacant places: doubly linked, so that a place can be given up
    /// wherever it stands in it. A retired place stands in no list.
    Vacant {
        prev: Option<Index>,
        next: Option<Index>,
    },
}

impl<T> Slab<T> {
    /// An empty table; allocates nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self::starting_at(NonZeroU32::MIN)
    }

    /// A table whose generations start at `floor`: tests start close to the end.
    const fn starting_at(floor: NonZeroU32) -> Self {
        Self { places: Vec::new(), live: 0, vacant: None, floor }
    }

    /// How many elements there are.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.live
    }

    /// True when there is none.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// How many elements there is memory for.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.places.capacity()
    }

    /// Puts `element` in and returns its key.
    ///
    /// # Panics
    ///
    /// When the table would exceed 2^32 − 2 places.
    #[inline]
    pub fn insert(&mut self, element: T) -> Key {
        self.insert_with(|_| element)
    }

    /// Puts in what `make` makes of the key it will have, and returns the key.
    ///
    /// # Panics
    ///
    /// When the table would exceed 2^32 − 2 places, or when `make` does; then nothing is put in.
    #[inline]
    pub fn insert_with(&mut self, make: impl FnOnce(Key) -> T) -> Key {
        let index = self.vacant.unwrap_or_else(|| self.grow());
        let Some(Place { generation: Some(generation), .. }) = self.place(index) else {
            unreachable!("the list of vacant places holds no retired one");
        };
        let key = Key::new(index.get(), *generation);
        let element = make(key);
        self.unlist(index);
        self.places[index.at()].content = Content::Live(element);
        self.live += 1;
        key
    }

    /// The element under `key`, if it is still there.
    #[inline]
    #[must_use]
    pub fn get(&self, key: Key) -> Option<&T> {
        match self.places.get(key.index() as usize)? {
            Place { generation, content: Content::Live(element) }
                if *generation == Some(key.generation()) =>
            {
                Some(element)
            }
            _ => None,
        }
    }

    /// The element under `key`, if it is still there.
    #[inline]
    #[must_use]
    pub fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        match self.places.get_mut(key.index() as usize)? {
            Place { generation, content: Content::Live(element) }
                if *generation == Some(key.generation()) =>
            {
                Some(element)
            }
            _ => None,
        }
    }

    /// True when the element under `key` is still there.
    #[inline]
    #[must_use]
    pub fn contains(&self, key: Key) -> bool {
        self.get(key).is_some()
    }

    /// Takes the element under `key` out, if it is still there. The key is stale from then on.
    pub fn remove(&mut self, key: Key) -> Option<T> {
        self.get(key)?;
        let index = Index::of(key.index());
        let place = &mut self.places[index.at()];
        let vacant = Content::Vacant { prev: None, next: self.vacant };
        let content = mem::replace(&mut place.content, vacant);
        place.generation = key.generation().checked_add(1);
        if place.generation.is_some() {
            self.enlist(index);
        } else {
            // Retired: a vacant place that is in no list.
            place.content = Content::Vacant { prev: None, next: None };
        }
        self.live -= 1;
        self.give_back();
        match content {
            Content::Live(element) => Some(element),
            Content::Vacant { .. } => None,
        }
    }

    /// The elements and their keys, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (Key, &T)> {
        self.places.iter().zip(0..).filter_map(|(place, index)| match (place.generation, place) {
            (Some(generation), Place { content: Content::Live(element), .. }) => {
                Some((Key::new(index, generation), element))
            }
            _ => None,
        })
    }

    /// Gives all memory back that is not needed now.
    pub fn shrink_to_fit(&mut self) {
        self.trim(0);
        self.places.shrink_to_fit();
    }

    fn place(&self, index: Index) -> Option<&Place<T>> {
        self.places.get(index.at())
    }

    /// Adds a vacant place at the end.
    #[cold]
    fn grow(&mut self) -> Index {
        let index = u32::try_from(self.places.len()).ok().filter(|index| *index < u32::MAX);
        let index = Index::of(index.expect("a slab has at most 2^32 - 2 places"));
        let content = Content::Vacant { prev: None, next: self.vacant };
        self.places.push(Place { generation: Some(self.floor), content });
        self.enlist(index);
        index
    }

    /// Puts a vacant place, whose `next` is the present head, before it.
    fn enlist(&mut self, index: Index) {
        let before = self.vacant.replace(index);
        self.relink(before, |prev, _| *prev = Some(index));
    }

    /// Takes a vacant place out of the list.
    fn unlist(&mut self, index: Index) {
        let Some(&Place { content: Content::Vacant { prev, next }, .. }) = self.place(index) else {
            return;
        };
        self.relink(next, |place_prev, _| *place_prev = prev);
        match prev {
            None => self.vacant = next,
            Some(_) => self.relink(prev, |_, place_next| *place_next = next),
        }
    }

    /// Changes the neighbours of a vacant place.
    fn relink(
        &mut self,
        index: Option<Index>,
        change: impl FnOnce(&mut Option<Index>, &mut Option<Index>),
    ) {
        let Some(index) = index else { return };
        if let Content::Vacant { prev, next } = &mut self.places[index.at()].content {
            change(prev, next);
        }
    }

    /// Gives up vacant places at the end when more than half are vacant, and memory when three
    /// quarters of it are not used. Amortised O(1): each place given up was added once.
    #[inline]
    fn give_back(&mut self) {
        let enough = SMALL + 2 * self.live;
        if self.places.len() > enough {
            self.trim(enough);
        }
    }

    /// Gives up vacant places at the end until `enough` are left.
    #[cold]
    fn trim(&mut self, enough: usize) {
        while self.places.len() > enough {
            let Some(Place { generation: Some(generation), content: Content::Vacant { .. } }) =
                self.places.last()
            else {
                break;
            };
            if generation.get() > FORGETTABLE {
                break;
            }
            self.floor = self.floor.max(*generation);
            self.unlist(Index::of(self.places.len() as u32 - 1));
            self.places.pop();
        }
        if self.places.len() < self.places.capacity() / 4 {
            self.places.shrink_to(SMALL.max(self.places.len() * 2));
        }
    }
}

impl Index {
    /// Of a table index, which is below `u32::MAX`.
    #[inline]
    fn of(index: u32) -> Self {
        Self(NonZeroU32::MIN.saturating_add(index))
    }

    #[inline]
    fn get(self) -> u32 {
        self.0.get() - 1
    }

    #[inline]
    fn at(self) -> usize {
        self.get() as usize
    }
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for Slab<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slab").field("len", &self.live).field("capacity", &self.capacity()).finish()
    }
}

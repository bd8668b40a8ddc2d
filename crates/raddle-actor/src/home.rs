//! Where the state of an actor lies: in a place of its own, which can outlast the actor's task.
//!
//! A handler works on the state by reference, and may lend it on: to threads in a scope, say. If
//! its stack cannot be unwound, and is kept for ever as it is, such a loan never ends. Then the
//! state is kept for ever too, where it is, although the task goes.

use std::marker::PhantomData;
use std::mem;
use std::ptr::NonNull;

/// Owns the state until it is taken or given up.
pub(crate) struct Home<A> {
    state: Option<NonNull<A>>,
    owns: PhantomData<A>,
}

impl<A> Home<A> {
    pub(crate) fn new(state: A) -> Self {
        let place = Box::into_raw(Box::new(state));
        Home { state: NonNull::new(place), owns: PhantomData }
    }

    /// Where it lies. Valid until it is taken, or this is dropped; for ever if it is given up.
    pub(crate) fn state(&self) -> Option<NonNull<A>> {
        self.state
    }

    pub(crate) fn take(&mut self) -> Option<A> {
        // SAFETY: came from a box in `new`, and is taken out once.
        self.state.take().map(|state| *unsafe { Box::from_raw(state.as_ptr()) })
    }

    /// Lends the state for ever: nobody will take or drop it.
    pub(crate) fn give_up(&mut self) {
        self.state = None;
    }
}

impl<A> Drop for Home<A> {
    fn drop(&mut self) {
        mem::drop(self.take());
    }
}

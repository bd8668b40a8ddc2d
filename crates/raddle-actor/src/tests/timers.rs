//! The tests of this part are on their way.

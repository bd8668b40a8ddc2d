//! The models of this part are on their way.

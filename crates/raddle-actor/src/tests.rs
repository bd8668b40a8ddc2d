//! What the tests of several parts share; their tests stand beside it in the folder.

#[cfg(loom)]
pub(crate) mod model;
#[cfg(not(loom))]
pub(crate) mod support;

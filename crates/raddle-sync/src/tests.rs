//! What the tests of several primitives share; their tests stand beside it in the folder.

#[cfg(not(loom))]
mod budget;
#[cfg(not(loom))]
mod drop_points;
#[cfg(loom)]
pub(crate) mod model;
#[cfg(not(loom))]
pub(crate) mod support;

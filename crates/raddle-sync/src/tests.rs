//! What the tests of several primitives share; their tests stand beside it in the folder.

#[cfg(not(loom))]
mod budget;
#[cfg(not(loom))]
mod coming_from;
#[cfg(not(loom))]
pub(crate) mod crowds;
#[cfg(not(loom))]
mod drop_points;
#[cfg(not(loom))]
mod futures;
#[cfg(not(loom))]
mod matrix;
#[cfg(not(loom))]
mod misuse;
#[cfg(loom)]
pub(crate) mod model;
#[cfg(not(loom))]
mod places;
#[cfg(not(loom))]
pub(crate) mod sequences;
#[cfg(all(not(loom), target_pointer_width = "64"))]
mod sizes;
#[cfg(not(loom))]
pub(crate) mod support;

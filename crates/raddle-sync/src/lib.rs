//! Synchronisation primitives that never allocate to wait and know no runtime.

//! Behaviour through the public API of raddle, a file a promise.

//! Sockets, files and signals on raddle's driver and runtime.

//! What every floor of raddle needs: shim, clock, execution context, lists, rings and the one wait queue.

//! What happens to a message for which there is no room.

/// What a bounded mailbox does when it is full. It concerns messages only: signals and events have
/// a lane of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Policy {
    /// The sender waits for room, first come first served. `try_send` hands the message back.
    #[default]
    Wait,
    /// The message is handed back at once.
    Reject,
    /// The message is accepted, and the oldest one that was not received is dropped.
    DropOldest,
    /// The message is accepted and dropped.
    DropNewest,
}

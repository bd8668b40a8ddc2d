//! The order in which slot, served and rotating tasks of one side take turns.

use super::*;

#[test]
fn served_and_rotating_alternate_while_both_have_work() {
    let turns = Turns::new(3);
    for _ in 0..3 {
        assert!(turns.queues());
        assert!(turns.rotating_next());
        assert!(!turns.queues());
    }
}

#[test]
fn after_an_empty_served_queue_the_next_served_task_goes_first() {
    let turns = Turns::new(3);
    assert!(turns.queues(), "a lone served task");
    assert!(!turns.queues(), "a rotating one");
    // The served queue is found empty, and a rotating task runs in this turn.
    assert!(turns.queues());
    turns.served_was_empty();
    assert!(turns.queues(), "it would wait for a dispatch more than it must");
}

#[test]
fn the_slot_has_its_limit_between_turns_of_the_queues() {
    let turns = Turns::new(2);
    for _ in 0..3 {
        for _ in 0..2 {
            assert!(turns.slot_may_run());
            turns.ran_slot();
        }
        assert!(!turns.slot_may_run());
        turns.queues();
    }
}

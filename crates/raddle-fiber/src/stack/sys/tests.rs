//! Which answers of the kernel mean what?

use super::{StackError, explain, forbids};

#[test]
fn a_shadow_stack_is_told_from_its_other_features() {
    assert!(!forbids(0), "no shadow stack, or no kernel that knows of them");
    assert!(forbids(1), "returns are checked");
    assert!(forbids(3), "and it may be written to");
    assert!(!forbids(2), "the permission to write alone checks nothing");
}

#[test]
fn refusals_are_told_by_their_limit() {
    assert!(matches!(explain(libc::EAGAIN), StackError::LockedMemory { .. }));
    assert!(matches!(explain(libc::EPERM), StackError::Os(libc::EPERM)));
    let shadow = StackError::ShadowStack.to_string();
    assert!(shadow.contains("x86_shstk=off"), "{shadow}");
}

//! Groups: membership, order, broadcasts by type, ends.

use crate::address::Address;
use crate::control::Life;
use crate::exit::ExitReason::Normal;
use crate::groups::{broadcast, join, leave, members, members_of};
use crate::mailbox::{Mailbox, Policy};
use crate::names::NameError;

fn member<M>() -> (Life, Mailbox<M>, Address<M>) {
    let (life, mut mailbox) = (Life::begin(), Mailbox::new(None, Policy::Wait));
    mailbox.begin_incarnation(life.process());
    let address = mailbox.address();
    (life, mailbox, address)
}

#[test]
fn members_are_listed_in_their_order_until_they_leave_or_end() {
    let (a, _a, to_a) = member::<u8>();
    let (b, _b, to_b) = member::<u8>();
    let (c, _c, to_c) = member::<u16>();
    assert_eq!(join("groups.order", &to_b), Ok(true));
    assert_eq!(join("groups.order", &to_a), Ok(true));
    assert_eq!(join("groups.order", &to_c), Ok(true));
    assert_eq!(join("groups.order", &to_a), Ok(false));
    assert_eq!(members("groups.order"), [b.process(), a.process(), c.process()]);
    assert_eq!(members_of::<u8>("groups.order").len(), 2);
    assert!(leave("groups.order", a.pid()));
    assert!(!leave("groups.order", a.pid()));
    b.end(Normal);
    assert_eq!(members("groups.order"), [c.process()]);
    assert_eq!(join("groups.order", &to_b), Err(NameError::NoProcess));
    drop(c);
    assert_eq!(members("groups.order"), []);
    assert_eq!(join("groups.order", &to_b), Err(NameError::NoProcess));
}

#[test]
fn a_broadcast_reaches_those_who_take_the_type() {
    let (_a, mut first, to_a) = member::<u8>();
    let (_b, mut second, to_b) = member::<u8>();
    let (_c, _other, to_c) = member::<u16>();
    join("groups.cast", &to_a).unwrap();
    join("groups.cast", &to_b).unwrap();
    join("groups.cast", &to_c).unwrap();
    assert_eq!(broadcast("groups.cast", &7_u8), 2);
    assert_eq!((first.try_recv(), second.try_recv()), (Ok(7), Ok(7)));
    second.close();
    assert_eq!(broadcast("groups.cast", &8_u8), 1);
    assert_eq!(broadcast("groups.nobody", &8_u8), 0);
}

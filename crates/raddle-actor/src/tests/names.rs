//! Names: taken, found by type, free at the end, taken again.

use std::sync::Arc;

use crate::control::Life;
use crate::exit::ExitReason::Normal;
use crate::mailbox::{Mailbox, Policy};
use crate::names::{
    self, LookupError, NameError, lookup, register, register_address, unregister, whereis,
};

#[test]
fn a_name_belongs_to_one_until_it_ends() {
    let (a, b) = (Life::begin(), Life::begin());
    assert_eq!(register("names.one", &a.process()), Ok(()));
    assert_eq!(register("names.one", &b.process()), Err(NameError::Taken { by: a.pid() }));
    assert_eq!(register("names.one", &a.process()), Err(NameError::Taken { by: a.pid() }));
    assert_eq!(whereis("names.one"), Some(a.process()));
    assert_eq!(a.process().name().as_deref(), Some("names.one"));
    assert!(names::registered().contains(&(Arc::from("names.one"), a.pid())));
    // Free before anybody is told of the end.
    b.monitor(&a.process());
    a.end(Normal);
    assert_eq!(whereis("names.one"), None);
    assert_eq!(register("names.one", &a.process()), Err(NameError::NoProcess));
    assert_eq!(register("names.one", &b.process()), Ok(()));
    assert_eq!(whereis("names.one"), Some(b.process()));
    assert!(unregister("names.one"));
    assert!(!unregister("names.one"));
    assert_eq!(b.process().name(), None);
}

#[test]
fn what_was_given_back_is_not_taken_from_the_next() {
    let (a, b) = (Life::begin(), Life::begin());
    register("names.next", &a.process()).unwrap();
    unregister("names.next");
    register("names.next", &b.process()).unwrap();
    a.end(Normal);
    assert_eq!(whereis("names.next"), Some(b.process()));
}

#[test]
fn an_address_is_found_by_its_type() {
    let (life, mut mailbox) = (Life::begin(), Mailbox::<u32>::new(None, Policy::Wait));
    let address = mailbox.address();
    assert_eq!(register_address("names.typed", &address), Err(NameError::NoProcess));
    mailbox.begin_incarnation(life.process());
    assert_eq!(address.pid(), Some(life.pid()));
    register_address("names.typed", &address).unwrap();
    lookup::<u32>("names.typed").unwrap().try_send(7).unwrap();
    assert_eq!(mailbox.try_recv(), Ok(7));
    assert_eq!(lookup::<u64>("names.typed").err(), Some(LookupError::OtherType));
    assert_eq!(lookup::<u32>("names.nobody").err(), Some(LookupError::NotFound));
    register("names.untyped", &life.process()).unwrap();
    assert_eq!(lookup::<u32>("names.untyped").err(), Some(LookupError::NoAddress));
    // The next incarnation registers again, and the same address is found.
    life.end(Normal);
    mailbox.end_incarnation();
    assert_eq!((address.pid(), lookup::<u32>("names.typed").is_err()), (None, true));
    let next = Life::begin();
    mailbox.begin_incarnation(next.process());
    register_address("names.typed", &address).unwrap();
    assert!(lookup::<u32>("names.typed").unwrap().same_mailbox(&address));
}

/// A message whose destructor asks for names.
struct Asks;

impl Drop for Asks {
    fn drop(&mut self) {
        let _ = (whereis("names.asks"), unregister("names.asks.not"));
    }
}

#[test]
fn messages_that_go_with_a_name_may_ask_for_names() {
    let life = Life::begin();
    let mut mailbox = Mailbox::new(None, Policy::Wait);
    mailbox.begin_incarnation(life.process());
    let address = mailbox.address();
    address.try_send(Asks).unwrap();
    register_address("names.asks", &address).unwrap();
    drop((address, mailbox));
    life.end(Normal);
    assert_eq!(whereis("names.asks"), None);
}

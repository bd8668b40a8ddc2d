//! The choice of a backend.

use super::*;

#[test]
fn epoll_is_there_for_the_asking() {
    let (backend, reason) = choose(Choice::Epoll).unwrap();
    assert_eq!((backend, reason.to_string().as_str()), (Backend::Epoll, "asked for"));
}

#[test]
fn auto_always_finds_one_and_says_why() {
    let (backend, reason) = choose(Choice::Auto).unwrap();
    assert!(!reason.to_string().is_empty());
    assert_eq!(choose(Choice::Uring).is_ok(), backend == Backend::Uring);
}

#[test]
fn names_of_choices() {
    assert_eq!("auto".parse::<Choice>().unwrap(), Choice::Auto);
    assert_eq!("uring".parse::<Choice>().unwrap(), Choice::Uring);
    assert_eq!("io_uring".parse::<Choice>().unwrap(), Choice::Uring);
    assert_eq!("epoll".parse::<Choice>().unwrap(), Choice::Epoll);
    let error = "kqueue".parse::<Choice>().unwrap_err().to_string();
    for word in ["kqueue", "auto", "uring", "io_uring", "epoll"] {
        assert!(error.contains(word), "{error}");
    }
}

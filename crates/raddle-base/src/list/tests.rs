//! The list against a `VecDeque`, its ends, and what its nodes are not.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::list::{Linked, Links, List};
use crate::random::Rng;

struct Node {
    value: usize,
    links: Links<Node>,
}

enum Kind {}

// SAFETY: always the same field, used by this kind of list alone.
unsafe impl Linked for Kind {
    type Node = Node;

    unsafe fn links(node: NonNull<Node>) -> NonNull<Links<Node>> {
        // SAFETY: the node is alive, as the caller promises.
        unsafe { NonNull::new_unchecked(&raw mut (*node.as_ptr()).links) }
    }
}

/// Nodes that stay where they are, and pointers to them.
struct Nodes(Vec<NonNull<Node>>);

impl Nodes {
    fn new(count: usize) -> Self {
        let node = |value| NonNull::from(Box::leak(Box::new(Node { value, links: Links::new() })));
        Self((0..count).map(node).collect())
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        for node in &self.0 {
            // SAFETY: leaked above, and each test's lists are gone or not used any more.
            drop(unsafe { Box::from_raw(node.as_ptr()) });
        }
    }
}

fn value(node: NonNull<Node>) -> usize {
    // SAFETY: the nodes live longer than the lists in all tests.
    unsafe { (*node.as_ptr()).value }
}

fn values(list: &List<Kind>) -> Vec<usize> {
    list.iter().map(value).collect()
}

fn list(nodes: &[NonNull<Node>]) -> List<Kind> {
    let mut list = List::new();
    // SAFETY: the nodes live longer than the list and are in no other.
    nodes.iter().for_each(|node| unsafe { list.push_back(*node) });
    list
}

#[test]
fn any_node_leaves_and_only_once() {
    for leaving in 0..3 {
        let nodes = Nodes::new(3);
        let mut all = list(&nodes.0);
        // SAFETY: the node is in this list, then in none.
        assert!(unsafe { all.remove(nodes.0[leaving]) });
        // SAFETY: as above.
        assert!(!unsafe { all.remove(nodes.0[leaving]) }, "it has left already");
        let rest: Vec<_> = (0..3).filter(|value| *value != leaving).collect();
        assert_eq!(values(&all), rest);
        assert_eq!(all.pop_front().map(value), Some(rest[0]));
        assert_eq!(all.pop_back().map(value), Some(rest[1]));
        assert!(all.is_empty() && all.pop_front().is_none() && all.pop_back().is_none());
    }
}

#[test]
fn splicing_moves_everything_at_once() {
    let nodes = Nodes::new(4);
    let (mut front, mut back) = (list(&nodes.0[..2]), list(&nodes.0[2..]));
    front.append(&mut back);
    assert!(back.is_empty());
    assert_eq!(values(&front), [0, 1, 2, 3]);
    front.append(&mut back);
    back.append(&mut front);
    let mut taken = back.take();
    assert!(back.is_empty() && front.is_empty());
    // SAFETY: the node is in no list, or in the one that holds all of them.
    assert!(!unsafe { List::<Kind>::new().remove(Nodes::new(1).0[0]) });
    // SAFETY: as above.
    assert!(unsafe { taken.remove(nodes.0[2]) });
    assert_eq!(values(&taken), [0, 1, 3]);
}

#[test]
fn a_cursor_takes_out_on_the_way() {
    let nodes = Nodes::new(6);
    let mut all = list(&nodes.0);
    let (mut cursor, mut out) = (all.cursor(), Vec::new());
    while let Some(node) = cursor.current() {
        match value(node) % 2 {
            0 => out.extend(cursor.remove_current().map(value)),
            _ => cursor.move_next(),
        }
    }
    assert!(cursor.remove_current().is_none());
    cursor.move_next();
    assert_eq!((out, values(&all)), (vec![0, 2, 4], vec![1, 3, 5]));
}

#[test]
fn a_node_goes_before_another() {
    let nodes = Nodes::new(4);
    let mut all = list(&nodes.0[..2]);
    // SAFETY: the new nodes are in no list, the places are in this one.
    unsafe { all.insert_before(nodes.0[0], nodes.0[2]) };
    // SAFETY: as above.
    unsafe { all.insert_before(nodes.0[1], nodes.0[3]) };
    assert_eq!(values(&all), [2, 0, 3, 1]);
    assert_eq!(all.front().map(value).zip(all.back().map(value)), Some((2, 1)));
}

#[test]
fn random_steps_agree_with_an_oracle() {
    const NODES: usize = 12;
    for seed in 0..100 {
        let (mut rng, nodes) = (Rng::new(seed), Nodes::new(NODES));
        let (mut all, mut oracle) = (List::<Kind>::new(), VecDeque::new());
        for _ in 0..500 {
            let at = rng.below(NODES as u32) as usize;
            let (node, place) = (nodes.0[at], oracle.iter().position(|value| *value == at));
            match (rng.below(5), place) {
                (0, None) => {
                    // SAFETY: the oracle says that it is in no list.
                    unsafe { all.push_back(node) };
                    oracle.push_back(at);
                }
                (1, None) => {
                    // SAFETY: as above.
                    unsafe { all.push_front(node) };
                    oracle.push_front(at);
                }
                (2, _) => assert_eq!(all.pop_front().map(value), oracle.pop_front()),
                (3, _) => assert_eq!(all.pop_back().map(value), oracle.pop_back()),
                (_, place) => {
                    // SAFETY: it is in this list or in none.
                    assert_eq!(unsafe { all.remove(node) }, place.is_some());
                    place.map(|place| oracle.remove(place));
                }
            }
            assert_eq!(oracle, values(&all), "seed {seed}");
        }
        while all.pop_back().is_some() {}
    }
}

/// A type that contains links must not be `Unpin`: then the compiler would take an exclusive
/// reference to it for the only way to its content.
#[test]
fn nodes_are_not_unpin() {
    trait Answer<T> {
        fn is_unpin(&self) -> bool;
    }
    struct Ask<T>(PhantomData<T>);
    impl<T: Unpin> Ask<T> {
        fn is_unpin(&self) -> bool {
            true
        }
    }
    impl<T> Answer<T> for Ask<T> {
        fn is_unpin(&self) -> bool {
            false
        }
    }
    assert!(!Ask::<Node>(PhantomData).is_unpin());
    assert!(Ask::<usize>(PhantomData).is_unpin());
}

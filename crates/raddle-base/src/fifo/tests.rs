//! The queue against a `VecDeque`, and its ends.

use std::collections::VecDeque;
use std::ptr::NonNull;
use std::rc::Rc;

use crate::fifo::Fifo;
use crate::pointer::{Link, Pointer, QueueLink};
use crate::random::Rng;

struct Node {
    link: Link,
    value: u32,
    alive: Option<Rc<()>>,
}

struct Item(Box<Node>);

impl Item {
    fn new(value: u32) -> Self {
        Self(Box::new(Node { link: Link::new(), value, alive: None }))
    }
}

// SAFETY: that of the box.
unsafe impl Pointer for Item {
    fn into_raw(self) -> NonNull<()> {
        self.0.into_raw()
    }

    unsafe fn from_raw(raw: NonNull<()>) -> Self {
        // SAFETY: as the caller promises.
        Self(unsafe { Box::from_raw(raw.cast().as_ptr()) })
    }
}

// SAFETY: a box has one owner and with it one link.
unsafe impl QueueLink for Item {
    unsafe fn link(raw: NonNull<()>) -> NonNull<Link> {
        // SAFETY: `raw` is a live node, as the caller promises.
        unsafe { NonNull::new_unchecked(&raw mut (*raw.cast::<Node>().as_ptr()).link) }
    }
}

fn values(queue: Fifo<Item>) -> Vec<u32> {
    queue.into_iter().map(|item| item.0.value).collect()
}

fn queue(values: impl IntoIterator<Item = u32>) -> Fifo<Item> {
    values.into_iter().map(Item::new).collect()
}

#[test]
fn both_ends_and_append() {
    let mut all = queue(0..3);
    all.append(&mut Fifo::new());
    let mut more = queue(3..5);
    all.append(&mut more);
    assert!(more.is_empty() && more.pop_front().is_none());
    more.append(&mut all);
    more.push_front(Item::new(9));
    assert_eq!((more.len(), all.len()), (6, 0));
    assert_eq!(values(more), [9, 0, 1, 2, 3, 4]);
}

#[test]
fn a_front_is_split_off() {
    for (count, front, rest) in [(0, 0, 3), (2, 2, 1), (3, 3, 0), (9, 3, 0)] {
        let mut all = queue(0..3);
        let split = all.split_front(count);
        assert_eq!((split.len(), all.len()), (front, rest));
        all.push_back(Item::new(7));
        assert_eq!(values(split), (0..front as u32).collect::<Vec<_>>());
        assert_eq!(values(all), (front as u32..3).chain([7]).collect::<Vec<_>>());
    }
}

#[test]
fn a_chain_newest_first_is_turned_round() {
    // A chain 2 → 1 → 0, as an inbox leaves it.
    let mut newest = None;
    for value in 0..3 {
        let raw = Item::new(value).into_raw();
        // SAFETY: the node is ours.
        unsafe { Item::link(raw).as_ref().set_next(newest) };
        newest = Some(raw);
    }
    // SAFETY: the chain was just made of owned items and is given away here.
    let mut all = unsafe { Fifo::<Item>::from_newest(newest.unwrap()) };
    all.push_back(Item::new(3));
    assert_eq!((all.len(), values(all)), (4, vec![0, 1, 2, 3]));
}

#[test]
fn dropping_the_queue_drops_the_rest() {
    let alive = Rc::new(());
    let mut all = queue(0..5);
    for mut item in std::mem::take(&mut all) {
        item.0.alive = Some(alive.clone());
        all.push_back(item);
    }
    drop(all.pop_front());
    assert_eq!(Rc::strong_count(&alive), 5);
    drop(all);
    assert_eq!(Rc::strong_count(&alive), 1);
}

#[test]
fn random_steps_agree_with_an_oracle() {
    for seed in 0..50 {
        let mut rng = Rng::new(seed);
        let (mut all, mut oracle) = (Fifo::new(), VecDeque::new());
        for value in 0..1_000 {
            match rng.below(6) {
                0 | 1 => {
                    all.push_back(Item::new(value));
                    oracle.push_back(value);
                }
                2 => {
                    all.push_front(Item::new(value));
                    oracle.push_front(value);
                }
                3 => assert_eq!(all.pop_front().map(|i| i.0.value), oracle.pop_front()),
                4 => {
                    all.append(&mut queue([value, value]));
                    oracle.extend([value, value]);
                }
                _ => {
                    let count = rng.below(4) as usize;
                    let split = values(all.split_front(count));
                    let count = count.min(oracle.len());
                    assert_eq!(split, oracle.drain(..count).collect::<Vec<_>>());
                }
            }
            assert_eq!((all.len(), all.is_empty()), (oracle.len(), oracle.is_empty()));
        }
        assert_eq!(oracle, values(all));
    }
}

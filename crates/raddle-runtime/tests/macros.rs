//! `join!`, `try_join!` and `select!`, as users of the crate write them.

use std::cell::Cell;
use std::future::{Future, pending, poll_fn, ready};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use raddle_runtime::{join, select, try_join};

/// Polls once; for futures that are ready at once.
fn now<F: Future>(future: F) -> F::Output {
    match poll_once(pin!(future)) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("pending"),
    }
}

fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Pending for `polls` polls, then ready with `value`.
fn after<T: Copy>(polls: usize, value: T) -> impl Future<Output = T> {
    let mut left = polls;
    poll_fn(move |_| {
        if left == 0 {
            return Poll::Ready(value);
        }
        left -= 1;
        Poll::Pending
    })
}

#[test]
fn join_gives_all_outputs() {
    now(async {
        assert_eq!(join!(), ());
        assert_eq!(join!(ready(1)), (1,));
        assert_eq!(join!(ready(1), async { "two" }, ready('3'),), (1, "two", '3'));
    });
    let mut waiting = pin!(async { join!(after(3, 1), ready(String::from("x")), after(1, 2)) });
    for _ in 0..3 {
        assert!(poll_once(waiting.as_mut()).is_pending());
    }
    assert_eq!(poll_once(waiting), Poll::Ready((1, String::from("x"), 2)));
}

#[test]
fn join_borrows_from_its_surroundings() {
    let count = Cell::new(0);
    let add = |n| {
        let count = &count;
        async move { count.set(count.get() + n) }
    };
    now(async { join!(add(1), add(2), add(3)) });
    assert_eq!(count.get(), 6);
}

#[test]
fn try_join_ends_with_the_first_error() {
    now(async {
        let all: Result<(i32, &str), ()> = try_join!(ready(Ok(1)), ready(Ok("two")));
        assert_eq!(all, Ok((1, "two")));
        let none: Result<(), ()> = try_join!();
        assert_eq!(none, Ok(()));
        // The other branch never ends.
        let first: Result<((), i32), &str> = try_join!(pending(), ready(Err("broken")));
        assert_eq!(first, Err("broken"));
    });
}

#[test]
fn select_takes_the_first_that_is_ready() {
    now(async {
        let value = select! {
            _ = pending::<()>() => 1,
            n = ready(2) => n,
        };
        assert_eq!(value, 2);
    });
}

#[test]
fn all_forms_of_branches() {
    now(async {
        let yes = true;
        let mut out = 0;
        select! {
            biased;
            _ = pending::<()>() => {}
            _ = pending::<()>(), if yes => {}
            _ = pending::<()>() => {},
            _ = ready(()), if !yes => { unreachable!() },
            (a, mut b) = ready((1, 2)), if yes && out == 0 => {
                b += a;
                out = b;
            }
            else => unreachable!(),
        }
        assert_eq!(out, 3);
        let only_else = select! { else => 4 };
        assert_eq!(only_else, 4);
        let no_comma = select! { n = ready(5) => n };
        assert_eq!(no_comma, 5);
        let reference = String::from("six");
        let kept = select! { Some(text) = ready(Some(&reference)) => text.len(), else => 0 };
        assert_eq!(kept, 3);
    });
}

/// Bindings by move, by reference, nested, of things that are not `Copy`.
#[test]
fn patterns_bind_what_they_say() {
    now(async {
        let text = select! {
            Ok(mut text) = ready(Ok::<String, ()>(String::from("a"))) => { text.push('b'); text }
            else => String::new(),
        };
        assert_eq!(text, "ab");
        let both = select! {
            whole @ (1..=5, _) = ready((3, String::from("c"))) => whole,
            else => unreachable!(),
        };
        assert_eq!(both, (3, String::from("c")));
        let either = select! { Ok(n) | Err(n) = ready(Err::<i32, i32>(7)) => n };
        assert_eq!(either, 7);
        let vector = select! {
            ref numbers = ready(vec![1, 2]) => numbers.len(),
        };
        assert_eq!(vector, 2);
    });
}

#[test]
fn a_branch_that_does_not_match_is_disabled() {
    now(async {
        let value = select! {
            biased;
            Some(n) = ready(None::<i32>) => n,
            n = ready(2) => n,
        };
        assert_eq!(value, 2);
        let value = select! {
            Some(n) = ready(None::<i32>) => n,
            Ok(n) = ready(Err::<i32, String>(String::from("dropped"))) => n,
            else => 9,
        };
        assert_eq!(value, 9);
    });
}

#[test]
#[should_panic(expected = "all branches of a select! are disabled")]
fn all_disabled_without_else_panics() {
    now(async {
        select! { _ = ready(()), if false => {} }
    });
}

/// Handlers mean by `?`, `break`, `continue` and `return` what stands around the macro.
#[test]
fn handlers_control_the_flow_outside() {
    async fn early() -> Result<i32, String> {
        loop {
            select! {
                biased;
                n = ready(Err::<i32, String>(String::from("out"))) => { n?; }
            }
        }
    }
    assert_eq!(now(early()), Err(String::from("out")));
    now(async {
        let mut rounds = 0;
        'outer: loop {
            for _ in 0..2 {
                select! {
                    biased;
                    () = ready(()), if rounds < 3 => { rounds += 1; continue; }
                    () = ready(()) => break 'outer,
                }
            }
        }
        assert!(rounds >= 3);
        let awaited = select! { n = ready(1) => ready(n + 1).await };
        assert_eq!(awaited, 2);
    });
}

/// Futures are gone when the handler runs, so it may use what they borrowed.
#[test]
fn futures_are_dropped_before_the_handler() {
    now(async {
        let mut buffer = vec![1];
        async fn fill(buffer: &mut Vec<i32>) {
            buffer.push(2);
        }
        select! {
            () = fill(&mut buffer) => buffer.push(3),
        }
        assert_eq!(buffer, [1, 2, 3]);
    });
}

#[test]
fn a_pinned_future_survives_several_selects() {
    let mut whole = pin!(async {
        let mut slow = pin!(after(3, "slow"));
        let mut ticks = 0;
        loop {
            select! {
                biased;
                text = &mut slow => return (text, ticks),
                () = ready(()) => ticks += 1,
            }
        }
    });
    assert_eq!(poll_once(whole.as_mut()), Poll::Ready(("slow", 3)));
}

#[test]
fn random_order_lets_every_branch_win() {
    now(async {
        let mut wins = [0; 3];
        for _ in 0..3_000 {
            let branch = select! {
                _ = ready(()) => 0,
                _ = ready(()) => 1,
                _ = ready(()) => 2,
            };
            wins[branch] += 1;
        }
        // A thousand each, with a deviation of 26; twelve of them are allowed.
        assert!(wins.iter().all(|&wins| wins > 700), "{wins:?}");
    });
}

#[test]
fn sixty_four_branches() {
    macro_rules! many {
        ($($n:literal)*) => {
            select! {
                biased;
                $(n = pending::<u32>() => n + $n,)*
                n = ready(7) => n,
            }
        };
    }
    let seven = now(async {
        many!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30
              31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58
              59 60 61 62)
    });
    assert_eq!(seven, 7);
}

/// A task's poll, with its budget.
fn poll_as_task<F: Future>(future: Pin<&mut F>) -> (Poll<F::Output>, bool) {
    use raddle_base::context::{begin_poll, end_poll, enter_worker};
    use std::sync::Arc;
    use std::task::Wake;
    struct Nobody;
    impl Wake for Nobody {
        fn wake(self: Arc<Self>) {}
    }
    let waker = Waker::from(Arc::new(Nobody));
    // SAFETY: the function takes any pointer.
    let _worker = unsafe { enter_worker(waker.vtable(), |_| 1) };
    begin_poll(waker.data());
    let polled = future.poll(&mut Context::from_waker(&waker));
    (polled, end_poll().is_yield())
}

/// Spends the rest of the budget, in each poll, and counts the polls.
async fn greedy(polls: &Cell<usize>) {
    poll_fn(|cx| {
        polls.set(polls.get() + 1);
        while raddle_base::context::check_budget(cx).is_ready() {
            raddle_base::context::spend();
        }
        Poll::<()>::Pending
    })
    .await;
}

#[test]
fn a_spent_budget_ends_the_round_and_the_next_goes_on_behind() {
    let (first, second) = (Cell::new(0), Cell::new(0));
    let mut both = pin!(async {
        select! {
            biased;
            () = greedy(&first) => unreachable!(),
            () = greedy(&second) => unreachable!(),
        }
    });
    for round in 1..=4 {
        let (polled, again) = poll_as_task(both.as_mut());
        assert!(polled.is_pending() && again, "the task asks to be polled again");
        assert_eq!(first.get() + second.get(), round, "one of them is enough");
    }
    assert_eq!((first.get(), second.get()), (2, 2));
    let mut joined = pin!(async { join!(greedy(&first), greedy(&second)) });
    for round in 5..=8 {
        let (polled, again) = poll_as_task(joined.as_mut());
        assert!(polled.is_pending() && again);
        assert_eq!(first.get() + second.get(), round);
    }
    assert_eq!((first.get(), second.get()), (4, 4));
}

/// A loop around a foreign stream that is always ready gives way, and the other branch wins.
#[test]
fn a_loop_of_selects_spends_budget() {
    let mut won = 0;
    let mut taken = 0;
    let mut whole = pin!(async {
        loop {
            select! {
                biased;
                () = ready(()) => taken += 1,
                () = pending() => won += 1,
            }
        }
    });
    let (polled, again): (Poll<()>, bool) = poll_as_task(whole.as_mut());
    assert!(polled.is_pending() && again);
    assert_eq!((taken, won), (raddle_base::context::BUDGET as usize, 0));
}

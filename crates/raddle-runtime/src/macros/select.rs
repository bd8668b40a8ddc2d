//! `select!`: wait for the first.

/// Awaits several futures at once, in this task, until the first is ready whose pattern matches,
/// then runs that branch's handler and gives its value.
///
/// ```text
/// select! {
///     biased;                                      // optional
///     pattern = future [, if precondition] => handler,
///     …                                            // up to 64 branches
///     else => value,                               // optional
/// }
/// ```
///
/// First all preconditions are evaluated, then all future expressions, also those of branches
/// that a precondition disables; those are not polled. A branch whose output does not match its
/// pattern is disabled, its output dropped, and the others go on. With all branches disabled the
/// `else` value is taken.
///
/// # Fairness
///
/// Each poll begins with a branch chosen at random and goes on in a circle, so a branch that is
/// always ready does not keep others from winning. With `biased;` branches are polled in the order
/// in which they are written, and it is up to you that an early one does not win each time. Either
/// way, if the task's budget is spent before all branches were polled, the next poll goes on with
/// the branch it had come to; and each `select!` that ends spends a step of that budget, so a
/// loop around one gives way even if all its futures are foreign.
///
/// # Cancel safety
///
/// All futures are dropped before the handler runs, those of the other branches unfinished. What
/// that loses is up to each of them: raddle's own say so under this heading. To keep a future over
/// several `select!`s, pin it outside and pass `&mut future`. Handlers may use what the futures
/// borrowed, and `?`, `break`, `continue`, `return` and `await` in them mean what they mean
/// around the macro.
///
/// # Panics
///
/// If all branches are disabled and there is no `else`.
///
/// # Examples
///
/// ```
/// # use raddle_runtime::{Config, Runtime, park::ThreadDrivers, select};
/// # let runtime = Runtime::new(Config::default(), Box::new(ThreadDrivers))?;
/// # runtime.run(async {
/// use std::time::Duration;
/// use raddle_runtime::time::sleep;
///
/// let first = select! {
///     _ = sleep(Duration::from_secs(60)) => "the long one",
///     _ = sleep(Duration::from_millis(1)) => "the short one",
/// };
/// assert_eq!(first, "the short one");
///
/// let even = select! {
///     Some(n) = async { (3 % 2 == 0).then_some(3) } => n,
///     else => 0,
/// };
/// assert_eq!(even, 0);
/// # });
/// # std::io::Result::Ok(())
/// ```
#[macro_export]
macro_rules! select {
    () => { ::std::compile_error!("select! needs at least one branch") };
    (biased; $($branches:tt)+) => {
        $crate::__select!(@ [|_| 0u32] [] [] $($branches)+)
    };
    ($($branches:tt)+) => {
        $crate::__select!(@ [$crate::macros::support::thread_below] [] [] $($branches)+)
    };
}

/// Gathers branches as `([before] pattern = future, if precondition => handler)`, where `before`
/// has an underscore for each branch before it; then expands.
#[doc(hidden)]
#[macro_export]
macro_rules! __select {
    // The end, with and without `else`.
    (@ [$($first:tt)*] [$($all:tt)*] [$($done:tt)*] else => $else:expr $(,)?) => {
        $crate::__select!(! [$($first)*] [$($all)*] [$($done)*] $else)
    };
    (@ [$($first:tt)*] [$($all:tt)*] [$($done:tt)*]) => {
        $crate::__select!(! [$($first)*] [$($all)*] [$($done)*] ::std::panic!(
            "all branches of a select! are disabled and there is no else"
        ))
    };
    // One branch: a handler that is a block needs no comma behind it.
    (@ $first:tt [$($before:tt)*] [$($done:tt)*]
        $pattern:pat = $future:expr, if $if:expr => $handler:block, $($rest:tt)*
    ) => {
        $crate::__select!(@ $first [$($before)* _]
            [$($done)* ([$($before)*] $pattern = $future, if $if => $handler)] $($rest)*)
    };
    (@ $first:tt [$($before:tt)*] [$($done:tt)*]
        $pattern:pat = $future:expr => $handler:block, $($rest:tt)*
    ) => {
        $crate::__select!(@ $first [$($before)* _]
            [$($done)* ([$($before)*] $pattern = $future, if true => $handler)] $($rest)*)
    };
    (@ $first:tt [$($before:tt)*] [$($done:tt)*]
        $pattern:pat = $future:expr, if $if:expr => $handler:block $($rest:tt)*
    ) => {
        $crate::__select!(@ $first [$($before)* _]
            [$($done)* ([$($before)*] $pattern = $future, if $if => $handler)] $($rest)*)
    };
    (@ $first:tt [$($before:tt)*] [$($done:tt)*]
        $pattern:pat = $future:expr => $handler:block $($rest:tt)*
    ) => {
        $crate::__select!(@ $first [$($before)* _]
            [$($done)* ([$($before)*] $pattern = $future, if true => $handler)] $($rest)*)
    };
    (@ $first:tt [$($before:tt)*] [$($done:tt)*]
        $pattern:pat = $future:expr, if $if:expr => $handler:expr $(, $($rest:tt)*)?
    ) => {
        $crate::__select!(@ $first [$($before)* _]
            [$($done)* ([$($before)*] $pattern = $future, if $if => $handler)] $($($rest)*)?)
    };
    (@ $first:tt [$($before:tt)*] [$($done:tt)*]
        $pattern:pat = $future:expr => $handler:expr $(, $($rest:tt)*)?
    ) => {
        $crate::__select!(@ $first [$($before)* _]
            [$($done)* ([$($before)*] $pattern = $future, if true => $handler)] $($($rest)*)?)
    };
    // All branches are there.
    (! $first:tt [] [] $else:expr) => { $else };
    (! [$($first:tt)*] $all:tt
        [$(([$($before:tt)*] $pattern:pat = $future:expr, if $if:expr => $handler:expr))+]
        $else:expr
    ) => {{
        const _: () = ::std::assert!(
            $crate::__select!(# $all) <= 64, "a select! has at most 64 branches"
        );
        let mut disabled = 0u64;
        $(if !$if {
            disabled |= 1 << $crate::__count!($($before)*);
        })+
        let (chosen, outputs) = {
            let mut futures = ($($crate::macros::support::pin!(
                $crate::macros::support::IntoFuture::into_future($future)
            ),)+);
            let mut turn = $crate::macros::support::Turn::new($crate::__select!(# $all));
            $crate::macros::support::poll_fn(|cx| {
                let chosen = turn.poll(cx, $($first)*, |number, cx| {
                    if disabled & 1 << number != 0 {
                        return ::std::option::Option::None;
                    }
                    $(if number == $crate::__count!($($before)*) {
                        let ($($before,)* future, ..) = &mut futures;
                        let ::std::task::Poll::Ready(output) =
                            ::std::future::Future::poll(future.as_mut(), cx)
                        else {
                            return ::std::option::Option::None;
                        };
                        disabled |= 1 << number;
                        if !$crate::__matches!(output, $pattern) {
                            return ::std::option::Option::None;
                        }
                        let mut outputs = $crate::__select!(? $all);
                        let ($($before,)* place, ..) = &mut outputs;
                        *place = ::std::option::Option::Some(output);
                        return ::std::option::Option::Some((number, outputs));
                    })+
                    ::std::option::Option::None
                });
                match chosen {
                    ::std::option::Option::Some(chosen) => ::std::task::Poll::Ready(chosen),
                    ::std::option::Option::None
                        if disabled.count_ones() == $crate::__select!(# $all) =>
                    {
                        ::std::task::Poll::Ready((u32::MAX, $crate::__select!(? $all)))
                    }
                    ::std::option::Option::None => ::std::task::Poll::Pending,
                }
            })
            .await
        };
        $(if chosen == $crate::__count!($($before)*) {
            let ($($before,)* output, ..) = outputs;
            match output {
                ::std::option::Option::Some($pattern) => $handler,
                _ => ::std::unreachable!("it was there, and it matched"),
            }
        } else)+ {
            $else
        }
    }};
    // How many branches there are, and a place for the output of each.
    (# [$($all:tt)*]) => { $crate::__count!($($all)*) };
    (? [$($all:tt)*]) => { ($($crate::__none!($all),)*) };
}

/// Nothing, for any token.
#[doc(hidden)]
#[macro_export]
macro_rules! __none {
    ($token:tt) => {
        ::std::option::Option::None
    };
}

/// Whether a place matches a pattern, without moving out of it: bindings are made only after the
/// guard, which never holds.
#[doc(hidden)]
#[macro_export]
macro_rules! __matches {
    ($place:ident, $pattern:pat) => {{
        let mut matched = false;
        #[expect(unused_variables, unused_mut, reason = "the bindings are for the handler")]
        match $place {
            $pattern
                if {
                    matched = true;
                    false
                } =>
            {
                ::std::unreachable!("its guard does not hold")
            }
            _ => {}
        }
        matched
    }};
}

//! `join!` and `try_join!`: wait for all.

/// Awaits several futures at once, in this task, and gives a tuple of their outputs.
///
/// The futures run concurrently but not in parallel: one poll of the task polls those that are not
/// done, in turn. To have them run on several workers, spawn them. Nothing is allocated. At most
/// 64 futures; for a number that is not known beforehand there is a `JoinSet`.
///
/// # Cancel safety
///
/// Dropping the future drops all branches, done or not.
///
/// # Examples
///
/// ```
/// # use raddle_runtime::{Config, Runtime, park::ThreadDrivers, join};
/// # let runtime = Runtime::new(Config::default(), Box::new(ThreadDrivers))?;
/// # runtime.run(async {
/// let (sum, text) = join!(async { 1 + 2 }, async { "three" });
/// assert_eq!((sum, text), (3, "three"));
/// # });
/// # std::io::Result::Ok(())
/// ```
#[macro_export]
macro_rules! join {
    () => { async {}.await };
    ($($future:expr),+ $(,)?) => {
        $crate::__join!(@ [] [] $($future,)+)
    };
}

/// Awaits several futures at once, in this task, until all are `Ok` or the first is `Err`.
///
/// Gives `Ok` with a tuple of the values, or the first error that shows; the other branches are
/// then dropped where they stand. All futures have the same error type. Otherwise as
/// [`join!`](crate::join).
///
/// # Examples
///
/// ```
/// # use raddle_runtime::{Config, Runtime, park::ThreadDrivers, try_join};
/// # let runtime = Runtime::new(Config::default(), Box::new(ThreadDrivers))?;
/// # runtime.run(async {
/// async fn parse(text: &str) -> Result<u32, std::num::ParseIntError> {
///     text.parse()
/// }
/// assert_eq!(try_join!(parse("1"), parse("2")), Ok((1, 2)));
/// assert!(try_join!(parse("1"), parse("two")).is_err());
/// # });
/// # std::io::Result::Ok(())
/// ```
#[macro_export]
macro_rules! try_join {
    () => { async { ::std::result::Result::Ok(()) }.await };
    ($($future:expr),+ $(,)?) => {
        $crate::__try_join!(@ [] [] $($future,)+)
    };
}

/// Gathers branches as `[before] future`, where `before` has an underscore for each branch before
/// it; then expands.
#[doc(hidden)]
#[macro_export]
macro_rules! __join {
    (@ [$($before:tt)*] [$($done:tt)*] $future:expr, $($rest:tt)*) => {
        $crate::__join!(@ [$($before)* _] [$($done)* ([$($before)*] $future)] $($rest)*)
    };
    (@ [$($all:tt)*] [$(([$($before:tt)*] $future:expr))*]) => {{
        const _: () = ::std::assert!(
            $crate::__count!($($all)*) <= 64, "at most 64 futures are joined in one place"
        );
        let mut futures = ($(
            $crate::macros::support::pin!($crate::macros::support::MaybeDone::Future(
                $crate::macros::support::IntoFuture::into_future($future)
            )),
        )*);
        let mut turn = $crate::macros::support::Turn::new($crate::__count!($($all)*));
        let mut done = 0u32;
        let mut finished = 0u64;
        $crate::macros::support::poll_fn(|cx| {
            let all = turn.poll(cx, |_| 0, |number, cx| {
                if finished & 1 << number != 0 {
                    return ::std::option::Option::None;
                }
                $(if number == $crate::__count!($($before)*) {
                    let ($($before,)* future, ..) = &mut futures;
                    if future.as_mut().poll_done(cx) {
                        finished |= 1 << number;
                        done += 1;
                    }
                })*
                (done == $crate::__count!($($all)*)).then_some(())
            });
            match all {
                ::std::option::Option::None => ::std::task::Poll::Pending,
                ::std::option::Option::Some(()) => ::std::task::Poll::Ready(($({
                    let ($($before,)* future, ..) = &mut futures;
                    future.as_mut().take()
                },)*)),
            }
        })
        .await
    }};
}

/// As `__join!`, for results.
#[doc(hidden)]
#[macro_export]
macro_rules! __try_join {
    (@ [$($before:tt)*] [$($done:tt)*] $future:expr, $($rest:tt)*) => {
        $crate::__try_join!(@ [$($before)* _] [$($done)* ([$($before)*] $future)] $($rest)*)
    };
    (@ [$($all:tt)*] [$(([$($before:tt)*] $future:expr))*]) => {{
        const _: () = ::std::assert!(
            $crate::__count!($($all)*) <= 64, "at most 64 futures are joined in one place"
        );
        let mut futures = ($(
            $crate::macros::support::pin!($crate::macros::support::MaybeDone::Future(
                $crate::macros::support::IntoFuture::into_future($future)
            )),
        )*);
        let mut turn = $crate::macros::support::Turn::new($crate::__count!($($all)*));
        let mut done = 0u32;
        let mut finished = 0u64;
        $crate::macros::support::poll_fn(|cx| {
            let all = turn.poll(cx, |_| 0, |number, cx| {
                if finished & 1 << number != 0 {
                    return ::std::option::Option::None;
                }
                $(if number == $crate::__count!($($before)*) {
                    let ($($before,)* future, ..) = &mut futures;
                    if future.as_mut().poll_done(cx) {
                        if let ::std::option::Option::Some(error) = future.as_mut().take_error() {
                            return ::std::option::Option::Some(::std::result::Result::Err(error));
                        }
                        finished |= 1 << number;
                        done += 1;
                    }
                })*
                (done == $crate::__count!($($all)*)).then_some(::std::result::Result::Ok(()))
            });
            match all {
                ::std::option::Option::None => ::std::task::Poll::Pending,
                ::std::option::Option::Some(::std::result::Result::Err(error)) => {
                    ::std::task::Poll::Ready(::std::result::Result::Err(error))
                }
                ::std::option::Option::Some(::std::result::Result::Ok(())) => {
                    ::std::task::Poll::Ready(::std::result::Result::Ok(($({
                        let ($($before,)* future, ..) = &mut futures;
                        future.as_mut().take_ok()
                    },)*)))
                }
            }
        })
        .await
    }};
}

/// The number of tokens.
#[doc(hidden)]
#[macro_export]
macro_rules! __count {
    ($($token:tt)*) => { $crate::macros::support::count(&[$($crate::__unit!($token)),*]) };
}

/// Nothing much, for any token.
#[doc(hidden)]
#[macro_export]
macro_rules! __unit {
    ($token:tt) => {
        ()
    };
}

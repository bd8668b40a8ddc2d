//! The attribute macros `main` and `test` of raddle: an async function, and a runtime around it.
//!
//! Use them through the facade, as `#[raddle::main]` and `#[raddle::test]`. The expansion names
//! the facade by path, so nothing below the facade depends on this crate.

mod args;
mod expand;

#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

use crate::expand::Kind;

/// Makes an async function the `main` of a program: the calling thread becomes the first worker
/// of a runtime and runs the function on it.
///
/// ```text
/// #[raddle::main]
/// async fn main() -> std::io::Result<()> {
///     …
/// }
/// ```
///
/// | argument | meaning | default |
/// |---|---|---|
/// | `workers = 2` | threads that run tasks, 1 to 1024 | as many as the process may use |
/// | `io = "auto"` | `"auto"`, `"uring"` or `"epoll"` | the variable `RADDLE_IO`, else auto |
/// | `crate = path` | where the facade is, if not at `::raddle` | `::raddle` |
///
/// If the runtime cannot be started, the program says why on standard error and ends with exit
/// code 1.
#[proc_macro_attribute]
pub fn main(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(Kind::Main, args.into(), item.into()).into()
}

/// Makes an async function a test: it runs on a runtime of its own.
///
/// ```text
/// #[raddle::test(workers = 2, timeout = 60)]
/// async fn tasks_meet() {
///     …
/// }
/// ```
///
/// | argument | meaning | default |
/// |---|---|---|
/// | `workers = 2` | threads that run tasks, 1 to 1024 | 1 |
/// | `io = "auto"` | `"auto"`, `"uring"` or `"epoll"` | the variable `RADDLE_IO`, else auto |
/// | `timeout = 60` | seconds after which the test fails, if it still waits | none |
/// | `crate = path` | where the facade is, if not at `::raddle` | `::raddle` |
///
/// Other attributes, such as `#[ignore]` and `#[should_panic]`, stay on the function.
#[proc_macro_attribute]
pub fn test(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(Kind::Test, args.into(), item.into()).into()
}

//! Expansions and errors of the attributes, as tokens: what they mean to the compiler is tested
//! where the facade is.

use proc_macro2::TokenStream;
use quote::quote;

use crate::expand::{Kind, expand};

fn text(kind: Kind, args: TokenStream, item: TokenStream) -> String {
    expand(kind, args, item).to_string()
}

/// The message of the compile error.
fn error(kind: Kind, args: TokenStream, item: TokenStream) -> String {
    let text = text(kind, args, item);
    let from = text.find("compile_error").unwrap_or_else(|| panic!("no error in {text}"));
    let message: syn::LitStr = text[from..]
        .split_once('"')
        .and_then(|(_, rest)| rest.split_once("\" }"))
        .and_then(|(message, _)| syn::parse_str(&format!("\"{message}\"")).ok())
        .unwrap_or_else(|| panic!("no message in {text}"));
    message.value()
}

#[test]
fn main_becomes_the_first_worker() {
    let text = text(
        Kind::Main,
        quote!(workers = 2, io = "epoll"),
        quote! {
            /// The program.
            pub async fn main() -> std::io::Result<()> { serve().await }
        },
    );
    let file: syn::File = syn::parse_str(&text).unwrap();
    let [syn::Item::Fn(outer)] = file.items.as_slice() else { panic!("{text}") };
    assert!(outer.sig.asyncness.is_none() && outer.attrs.len() == 1);
    assert!(text.contains("builder () . workers (2) . io (:: raddle :: Io :: Epoll) . build ()"));
    assert!(text.contains("async fn main () -> std :: io :: Result < () > { serve () . await }"));
    assert!(text.contains("exit (1)"));
}

#[test]
fn tests_have_one_worker_and_may_have_a_limit() {
    let test = text(
        Kind::Test,
        quote!(),
        quote!(
            #[ignore]
            async fn waits() {}
        ),
    );
    assert!(test.starts_with("# [:: core :: prelude :: v1 :: test] # [ignore] fn waits ()"));
    assert!(test.contains("workers (1)") && !test.contains("timeout"));
    let limited = text(
        Kind::Test,
        quote!(timeout = 9, crate = crate::face,),
        quote!(
            async fn waits() {}
        ),
    );
    assert!(limited.contains("from_secs (9)"), "{limited}");
    assert!(limited.contains("crate :: face :: time :: timeout (limit , waits ())"), "{limited}");
}

#[test]
fn what_cannot_be_expanded_says_why() {
    let good = || {
        quote!(
            async fn main() {}
        )
    };
    let main = |item| error(Kind::Main, quote!(), item);
    assert_eq!(
        main(quote!(
            fn main() {}
        )),
        "#[main]: the function must be `async fn`"
    );
    assert_eq!(
        main(quote!(
            async fn main(n: u8) {}
        )),
        "#[main]: the function takes no arguments"
    );
    assert!(
        main(quote!(
            async fn main<T>() {}
        ))
        .contains("no generic parameters")
    );
    assert!(
        main(quote!(
            struct Main;
        ))
        .contains("expected")
    );
    let args = |args| error(Kind::Main, args, good());
    assert!(args(quote!(workers = 0)).contains("1 to 1024 workers"));
    assert!(args(quote!(workers = "two")).contains("expected integer literal"));
    assert!(args(quote!(workers = 1, workers = 2)).contains("given twice"));
    assert!(args(quote!(io = "kqueue")).contains("\"uring\""));
    assert!(args(quote!(flavor = "multi")).contains("`flavor` is no argument; there are"));
    assert!(args(quote!(timeout = 3)).contains("`timeout` is for tests"));
    let twice = quote!(
        #[test]
        async fn again() {}
    );
    assert!(error(Kind::Test, quote!(), twice).contains("a test already"));
    assert!(error(Kind::Test, quote!(timeout = 0), good()).contains("at least 1"));
}

/// After an error there is still a function of the name, and no second error about it.
#[test]
fn an_error_leaves_the_function_there() {
    let text = text(
        Kind::Main,
        quote!(nonsense = 1),
        quote!(
            async fn main() -> u8 {
                3
            }
        ),
    );
    assert!(text.contains("fn main () -> u8") && !text.contains("async fn main"), "{text}");
}

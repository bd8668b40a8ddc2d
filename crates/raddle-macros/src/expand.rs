//! The function that the attributes put around an async one.
//!
//! The user's function stays whole, as an inner function with its own signature: types are
//! inferred, and errors are reported, as if the attribute were not there.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Error, ItemFn, Path, Result, parse_quote};

use crate::args::Args;

/// Which attribute is expanded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Main,
    Test,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Main => "#[main]",
            Kind::Test => "#[test]",
        }
    }
}

/// The expansion; an error becomes a compile error, and the function is kept beside it so that
/// nothing else is reported as missing.
pub(crate) fn expand(kind: Kind, args: TokenStream, item: TokenStream) -> TokenStream {
    let function: ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            let error = error.into_compile_error();
            return quote!(#item #error);
        }
    };
    let expanded = syn::parse2(args).and_then(|args| around(kind, &args, &function));
    expanded.unwrap_or_else(|error| {
        let error = error.into_compile_error();
        let mut function = function;
        // An async `main` would be reported as a second error.
        function.sig.asyncness = None;
        function.block = parse_quote!({ loop {} });
        quote!(#error #function)
    })
}

fn check(kind: Kind, args: &Args, function: &ItemFn) -> Result<()> {
    let name = kind.name();
    let signature = &function.sig;
    let refuse = |span: Span, what: &str| Err(Error::new(span, format!("{name}: {what}")));
    if signature.asyncness.is_none() {
        return refuse(signature.fn_token.span, "the function must be `async fn`");
    }
    if let Some(first) = signature.inputs.first() {
        let span = syn::spanned::Spanned::span(first);
        return refuse(span, "the function takes no arguments");
    }
    if let Some(first) = signature.generics.params.first() {
        let span = syn::spanned::Spanned::span(first);
        return refuse(span, "the function has no generic parameters");
    }
    if kind == Kind::Main && args.timeout.is_some() {
        return refuse(signature.ident.span(), "`timeout` is for tests");
    }
    if let Some(attribute) = function.attrs.iter().find(|attribute| is_test(attribute.path()))
        && kind == Kind::Test
    {
        let span = syn::spanned::Spanned::span(attribute);
        return refuse(span, "this is a test already; one of the two attributes is enough");
    }
    Ok(())
}

fn is_test(path: &Path) -> bool {
    path.segments.last().is_some_and(|segment| segment.ident == "test")
}

fn around(kind: Kind, args: &Args, function: &ItemFn) -> Result<TokenStream> {
    check(kind, args, function)?;
    let ItemFn { attrs, vis, sig, block } = function;
    let (name, output) = (&sig.ident, &sig.output);
    let krate = match &args.krate {
        Some(path) => quote!(#path),
        None => quote!(::raddle),
    };
    let builder = builder(kind, args, &krate);
    let body = body(args, function, &krate);
    let refused = refused(kind);
    let test = (kind == Kind::Test).then(|| quote!(#[::core::prelude::v1::test]));
    // What is wrong about the output is reported at the function's body.
    let span = block.brace_token.span.join();
    let run = quote_spanned! {span=>
        match #builder.and_then(|runtime| runtime.try_run(#body)) {
            ::core::result::Result::Ok(output) => output,
            ::core::result::Result::Err(error) => #refused,
        }
    };
    Ok(quote! {
        #test
        #(#attrs)*
        #vis fn #name() #output {
            async fn #name() #output #block
            #run
        }
    })
}

fn builder(kind: Kind, args: &Args, krate: &TokenStream) -> TokenStream {
    let workers = match (&args.workers, kind) {
        (Some(number), _) => Some(quote!(.workers(#number))),
        (None, Kind::Test) => Some(quote!(.workers(1))),
        (None, Kind::Main) => None,
    };
    let io = args.io.as_ref().map(|io| {
        let variant = &io.0;
        quote!(.io(#krate::Io::#variant))
    });
    quote!(#krate::Runtime::builder() #workers #io .build())
}

fn body(args: &Args, function: &ItemFn, krate: &TokenStream) -> TokenStream {
    let name = &function.sig.ident;
    let Some(seconds) = &args.timeout else { return quote!(#name()) };
    quote! {
        async {
            let limit = ::core::time::Duration::from_secs(#seconds);
            match #krate::time::timeout(limit, #name()).await {
                ::core::result::Result::Ok(output) => output,
                ::core::result::Result::Err(_) => {
                    ::core::panic!("the test still waits after {limit:?}")
                }
            }
        }
    }
}

/// What is done if there is no runtime.
fn refused(kind: Kind) -> TokenStream {
    match kind {
        Kind::Main => quote! {{
            ::std::eprintln!("error: the runtime cannot be started: {error}");
            ::std::process::exit(1)
        }},
        Kind::Test => quote!(::core::panic!("the runtime cannot be started: {error}")),
    }
}

//! The arguments of the attributes: `name = value`, separated by commas.

use syn::parse::{Parse, ParseStream};
use syn::{Error, Ident, LitInt, LitStr, Path, Result, Token};

/// Most workers that a runtime can have.
const MAX_WORKERS: usize = 1024;

/// What was given, each at most once.
#[derive(Default)]
pub(crate) struct Args {
    pub(crate) workers: Option<LitInt>,
    pub(crate) io: Option<Io>,
    pub(crate) timeout: Option<LitInt>,
    pub(crate) krate: Option<Path>,
}

/// A way of doing I/O, by its variant in the facade.
pub(crate) struct Io(pub(crate) Ident);

impl Parse for Args {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut args = Args::default();
        while !input.is_empty() {
            args.parse_one(input)?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(args)
    }
}

impl Args {
    fn parse_one(&mut self, input: ParseStream<'_>) -> Result<()> {
        if input.peek(Token![crate]) {
            let name = input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            return once(&mut self.krate, input.call(Path::parse_mod_style)?, name.span);
        }
        let name: Ident = input.parse()?;
        input.parse::<Token![=]>()?;
        match name.to_string().as_str() {
            "workers" => once(&mut self.workers, workers(input)?, name.span()),
            "io" => once(&mut self.io, io(input)?, name.span()),
            "timeout" => once(&mut self.timeout, seconds(input)?, name.span()),
            other => Err(Error::new(
                name.span(),
                format!("`{other}` is no argument; there are `workers`, `io`, `timeout`, `crate`"),
            )),
        }
    }
}

fn once<T>(place: &mut Option<T>, value: T, span: proc_macro2::Span) -> Result<()> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(Error::new(span, "given twice")),
    }
}

fn workers(input: ParseStream<'_>) -> Result<LitInt> {
    let number: LitInt = input.parse()?;
    match number.base10_parse::<usize>() {
        Ok(1..=MAX_WORKERS) => Ok(number),
        _ => Err(Error::new(number.span(), format!("a runtime has 1 to {MAX_WORKERS} workers"))),
    }
}

fn seconds(input: ParseStream<'_>) -> Result<LitInt> {
    let number: LitInt = input.parse()?;
    match number.base10_parse::<u64>() {
        Ok(1..) => Ok(number),
        _ => Err(Error::new(number.span(), "a whole number of seconds, at least 1")),
    }
}

fn io(input: ParseStream<'_>) -> Result<Io> {
    let text: LitStr = input.parse()?;
    let variant = match text.value().as_str() {
        "auto" => "Auto",
        "uring" => "Uring",
        "epoll" => "Epoll",
        _ => {
            return Err(Error::new(text.span(), "one of \"auto\", \"uring\" and \"epoll\""));
        }
    };
    Ok(Io(Ident::new(variant, text.span())))
}

//! One Rust file as the rules want it: a flat list of tokens with lines, and its comments.
//!
//! The tokens come from a real lexer, so a word in a string or a comment is never taken for code.
//! They are flat, with the index of its partner at each bracket, because most rules are about what
//! stands beside what, inside macros too, where no syntax tree exists. Comments are what lies in
//! the gaps between tokens; documentation comments are tokens of their own kind.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use std::ops::Range;
use std::str::FromStr;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    Punct,
    Literal,
    Open,
    Close,
    Doc,
}

/// One token. `mate` is the index of the other bracket, for brackets only.
#[derive(Debug)]
pub(crate) struct Token<'t> {
    pub(crate) text: &'t str,
    pub(crate) line: usize,
    pub(crate) kind: Kind,
    pub(crate) mate: usize,
    pub(crate) bytes: Range<usize>,
}

impl Token<'_> {
    pub(crate) fn is(&self, text: &str) -> bool {
        self.kind != Kind::Doc && self.kind != Kind::Literal && self.text == text
    }
}

/// A comment that is not documentation, one entry a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Comment<'t> {
    pub(crate) line: usize,
    pub(crate) text: &'t str,
}

/// A lexed and parsed file.
pub(crate) struct Source<'t> {
    pub(crate) path: &'t str,
    pub(crate) lines: Vec<&'t str>,
    pub(crate) tokens: Vec<Token<'t>>,
    pub(crate) comments: Vec<Comment<'t>>,
    pub(crate) syntax: syn::File,
}

impl<'t> Source<'t> {
    /// Lexes and parses. The error is the line and what the parser said.
    pub(crate) fn parse(path: &'t str, text: &'t str) -> Result<Source<'t>, (usize, String)> {
        let stream = TokenStream::from_str(text)
            .map_err(|error| (error.span().start().line, error.to_string()))?;
        let mut tokens = Vec::new();
        flatten(text, stream.clone(), &mut tokens);
        let syntax = syn::parse2::<syn::File>(stream)
            .map_err(|error| (error.span().start().line, error.to_string()))?;
        let comments = comments(text, &tokens);
        Ok(Source { path, lines: text.lines().collect(), tokens, comments, syntax })
    }

    /// Does the file hold only tests? Such files lie in a folder of tests or are called so.
    pub(crate) fn is_test(&self) -> bool {
        is_test_path(self.path)
    }

    /// Is token `at` followed by exactly these texts?
    pub(crate) fn followed_by(&self, at: usize, texts: &[&str]) -> bool {
        texts
            .iter()
            .enumerate()
            .all(|(n, text)| self.tokens.get(at + 1 + n).is_some_and(|token| token.is(text)))
    }

    /// The first token of the statement, item or match arm that token `at` belongs to, and with it
    /// the starts of the call arguments on the way out. The last entry is the outermost.
    pub(crate) fn starts(&self, at: usize) -> Vec<usize> {
        let mut starts = Vec::new();
        let mut here = at;
        let in_braces = self.enclosing(at).is_none_or(|open| self.tokens[open].text == "{");
        let mut comma_ends = in_braces;
        while here > 0 {
            let before = &self.tokens[here - 1];
            match (before.kind, before.text) {
                (Kind::Close, "}") if !self.continues(here) => break,
                (Kind::Close, _) => here = before.mate,
                (Kind::Open, "{") => break,
                (Kind::Open, _) => {
                    starts.push(here);
                    here -= 1;
                    let outer = self.enclosing(here);
                    comma_ends = outer.is_none_or(|open| self.tokens[open].text == "{");
                }
                (Kind::Punct, ";") => break,
                (Kind::Punct, ",") if comma_ends => break,
                (Kind::Punct, ",") => {
                    starts.push(here);
                    here -= 1;
                }
                _ => here -= 1,
            }
        }
        starts.push(here);
        starts
    }

    /// The index of the bracket that is open at token `at`.
    pub(crate) fn enclosing(&self, at: usize) -> Option<usize> {
        let mut here = at;
        while here > 0 {
            here -= 1;
            match self.tokens[here].kind {
                Kind::Close => here = self.tokens[here].mate,
                Kind::Open => return Some(here),
                _ => {}
            }
        }
        None
    }

    /// Does the token after a closing brace carry on the same expression?
    fn continues(&self, at: usize) -> bool {
        let next = &self.tokens[at];
        next.is("else") || (next.kind == Kind::Punct && !matches!(next.text, "#" | "'" | "*" | "&"))
    }
}

/// Does a path name a file of tests?
pub(crate) fn is_test_path(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.starts_with("tests/") || path.contains("/tests/")
}

fn flatten<'t>(text: &'t str, stream: TokenStream, out: &mut Vec<Token<'t>>) {
    let mut doc_end = 0;
    for tree in stream {
        let range = tree.span().byte_range();
        if range.end <= doc_end {
            continue; // the rest of a documentation comment
        }
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = (group.span_open(), group.span_close());
                if group.delimiter() == Delimiter::None {
                    flatten(text, group.stream(), out);
                    continue;
                }
                let at = out.len();
                push(text, open, Kind::Open, out);
                flatten(text, group.stream(), out);
                let end = out.len();
                push(text, close, Kind::Close, out);
                out[at].mate = end;
                out[end].mate = at;
            }
            TokenTree::Ident(_) => push(text, tree.span(), Kind::Word, out),
            TokenTree::Literal(_) => push(text, tree.span(), Kind::Literal, out),
            TokenTree::Punct(_) if range.len() > 1 => {
                doc_end = range.end;
                push(text, tree.span(), Kind::Doc, out);
            }
            TokenTree::Punct(_) => push(text, tree.span(), Kind::Punct, out),
        }
    }
}

fn push<'t>(text: &'t str, span: Span, kind: Kind, out: &mut Vec<Token<'t>>) {
    let bytes = span.byte_range();
    out.push(Token { text: &text[bytes.clone()], line: span.start().line, kind, mate: 0, bytes });
}

fn comments<'t>(text: &'t str, tokens: &[Token<'t>]) -> Vec<Comment<'t>> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut line = 1;
    let last = text.len()..text.len();
    let ends = tokens.iter().map(|token| token.bytes.clone());
    for token in ends.chain(std::iter::once(last)) {
        for (n, piece) in text[at..token.start].split('\n').enumerate() {
            line += usize::from(n > 0);
            let piece = piece.trim();
            if !piece.is_empty() {
                found.push(Comment { line, text: piece });
            }
        }
        line += text[token.clone()].matches('\n').count();
        at = token.end;
    }
    found
}

/// Every attribute: index of the first token inside its bracket, first word, index of its end.
pub(crate) fn attributes<'s>(
    source: &'s Source<'_>,
) -> impl Iterator<Item = (usize, &'s str, usize)> {
    let tokens = &source.tokens;
    tokens.iter().enumerate().filter_map(move |(at, token)| {
        let inner = usize::from(source.followed_by(at, &["!"]));
        let open = tokens.get(at + 1 + inner)?;
        let first = tokens.get(at + 2 + inner)?;
        let opens = token.is("#") && open.is("[") && first.kind == Kind::Word;
        opens.then_some((at + 2 + inner, first.text, open.mate))
    })
}

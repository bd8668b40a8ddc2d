//! Which part of a file a Range header asks for (RFC 9110, section 14).
//!
//! | Range value                              | answer                                       |
//! |------------------------------------------|----------------------------------------------|
//! | another unit, or not well formed         | the whole file, as if it were absent         |
//! | one range, satisfiable                   | that part, cut at the file's end             |
//! | one or more ranges, none satisfiable     | unsatisfiable (416)                          |
//! | several ranges, exactly one satisfiable  | that part                                    |
//! | several ranges, two or more satisfiable  | the whole file                               |
//! | a suffix (`-5`) of an empty file         | the whole, empty file                        |
//!
//! The fifth row is a choice. A server may ignore Range altogether (section 14.2), and a client
//! that asks for several ranges must be able to take a 200; `multipart/byteranges` would buy
//! little for what today's clients send and costs a second body format. The last row follows
//! from the grammar: the range is satisfiable, and Content-Range cannot name an empty part.

/// A part of a file: `first..=last`, never empty, within the length it was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl Span {
    /// Bytes in it.
    pub(crate) fn len(self) -> u64 {
        self.last - self.first + 1
    }
}

/// What to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    Whole,
    Part(Span),
    Unsatisfiable,
}

/// One element of the header.
#[derive(Clone, Copy)]
enum Spec {
    /// `first-last` or `first-` (then `last` is the maximum).
    From { first: u64, last: u64 },
    /// `-count`
    Suffix { count: u64 },
}

/// Reads a Range value for a file of `length` bytes.
pub(crate) fn select(value: &str, length: u64) -> Selection {
    let Some(specs) = parse(value) else { return Selection::Whole };
    let mut satisfiable = specs.iter().filter_map(|spec| spec.within(length));
    match (satisfiable.next(), satisfiable.next()) {
        (None, _) => Selection::Unsatisfiable,
        (Some(only), None) => only,
        (Some(_), Some(_)) => Selection::Whole,
    }
}

impl Spec {
    /// The part of a file of `length` bytes that this names, if it is satisfiable.
    fn within(self, length: u64) -> Option<Selection> {
        match self {
            Self::From { first, .. } if first >= length => None,
            Self::From { first, last } => {
                Some(Selection::Part(Span { first, last: last.min(length - 1) }))
            }
            Self::Suffix { count: 0 } => None,
            Self::Suffix { .. } if length == 0 => Some(Selection::Whole),
            Self::Suffix { count } => Some(Selection::Part(Span {
                first: length.saturating_sub(count),
                last: length - 1,
            })),
        }
    }
}

/// The elements of the header, at least one; `None` when the unit is unknown or the form is bad.
fn parse(value: &str) -> Option<Vec<Spec>> {
    let (unit, set) = value.split_once('=')?;
    if !unit.eq_ignore_ascii_case("bytes") {
        return None;
    }
    let mut specs = Vec::new();
    for element in set.split(',').map(|element| element.trim_matches([' ', '\t'])) {
        // A list may hold empty elements (RFC 9110, section 5.6.1.2).
        if !element.is_empty() {
            specs.push(spec(element)?);
        }
    }
    if specs.is_empty() { None } else { Some(specs) }
}

fn spec(element: &str) -> Option<Spec> {
    let (first, last) = element.split_once('-')?;
    if first.is_empty() {
        return Some(Spec::Suffix { count: number(last)? });
    }
    let first = number(first)?;
    let last = if last.is_empty() { u64::MAX } else { number(last)? };
    if first <= last { Some(Spec::From { first, last }) } else { None }
}

/// Digits only, as many as there are: what does not fit is beyond the end of every file.
fn number(digits: &str) -> Option<u64> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(digits.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;

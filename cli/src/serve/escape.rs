//! How bytes that came from file names and requests are written into links, HTML and log lines.
//!
//! Three places, three alphabets. A link keeps RFC 3986's unreserved characters and encodes the
//! rest, so that a name can be neither a scheme, a query nor a fragment, whatever it contains.
//! HTML text and attribute values lose the five characters with a meaning. A log line stays one
//! line with its quotes in order.

use std::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

/// Everything but letters, digits and `-._~`.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Appends one segment of a path (never a slash: that is encoded) to a link.
pub(crate) fn push_segment(link: &mut String, segment: &[u8]) {
    link.extend(percent_encode(segment, SEGMENT));
}

/// Appends text to HTML, fit for element content and quoted attribute values.
pub(crate) fn push_html(html: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
}

/// Appends what stands between quotes in a log line: printable ASCII as it is, the rest as `\xHH`.
pub(crate) fn push_log(line: &mut String, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => {
                line.push('\\');
                line.push(char::from(byte));
            }
            b' '..=b'~' => line.push(char::from(byte)),
            other => {
                let _ = write!(line, "\\x{other:02x}");
            }
        }
    }
}

#[cfg(test)]
mod tests;

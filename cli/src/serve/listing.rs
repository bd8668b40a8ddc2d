//! The page that shows what a directory holds.
//!
//! Pure: names and sizes go in, HTML comes out. Links are relative, which the redirect to the
//! trailing slash makes safe, and percent-encoded from the name's own bytes; what is shown is
//! the name with bytes that are not UTF-8 replaced, HTML-escaped. Directories come first, then
//! byte order of names.

use std::fmt::Write as _;

use super::escape;
use super::target::Target;
use super::validators;

/// One line of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// As the file system has it.
    pub(crate) name: Vec<u8>,
    pub(crate) kind: Kind,
    /// Seconds since 1970.
    pub(crate) modified: u64,
}

/// What a line leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Directory,
    /// With its length.
    File(u64),
}

impl Entry {
    fn is_file(&self) -> bool {
        self.kind != Kind::Directory
    }
}

/// The page for the directory that `target` names. Sorts the entries.
pub(crate) fn page(target: &Target, mut entries: Vec<Entry>) -> String {
    entries.sort_unstable_by(|a, b| (a.is_file(), &a.name).cmp(&(b.is_file(), &b.name)));
    let title = title(target);
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
         <style>body {{ font-family: sans-serif }} td {{ padding-right: 2em }} \
         td + td {{ text-align: right }}</style>\n\
         </head>\n<body>\n<h1>{title}</h1>\n<table>\n"
    );
    if !target.is_root() {
        html.push_str("<tr><td><a href=\"../\">../</a></td><td></td><td></td></tr>\n");
    }
    for entry in &entries {
        push_entry(&mut html, entry);
    }
    html.push_str("</table>\n</body>\n</html>\n");
    html
}

fn title(target: &Target) -> String {
    let mut title = String::from("/");
    if !target.is_root() {
        escape::push_html(&mut title, &String::from_utf8_lossy(target.path()));
        title.push('/');
    }
    title
}

fn push_entry(html: &mut String, entry: &Entry) {
    let slash = if entry.is_file() { "" } else { "/" };
    html.push_str("<tr><td><a href=\"");
    escape::push_segment(html, &entry.name);
    let _ = write!(html, "{slash}\">");
    escape::push_html(html, &String::from_utf8_lossy(&entry.name));
    let _ = write!(html, "{slash}</a></td><td>");
    if let Kind::File(length) = entry.kind {
        let _ = write!(html, "{length}");
    }
    let _ = writeln!(html, "</td><td>{}</td></tr>", validators::date(entry.modified));
}

#[cfg(test)]
mod tests;

//! Which file a request's path names, before any file is looked at.
//!
//! A path is split at its slashes first and decoded second, so an encoded slash can never make
//! two segments of one. What is left after that is a list of plain names below DIR:
//!
//! | segment, decoded          | becomes                                                |
//! |---------------------------|--------------------------------------------------------|
//! | empty, `.`                | nothing (`//a/./b` names what `/a/b` names)            |
//! | `..`                      | not found, wherever it would lead                      |
//! | with a slash inside       | not found: no file has such a name                     |
//! | with a NUL, or a bad `%`  | bad request                                            |
//! | longer than 255 bytes     | not found: no file system has such a name              |
//! | anything else             | itself, bytes as they are (names need not be UTF-8)    |
//!
//! So there is no absolute path and no dot-dot to resolve later. Symbolic links are another
//! matter, and the kernel's: see `root.rs`.

use percent_encoding::percent_decode;

use super::escape;

/// A path below DIR, decoded and free of `..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// Names joined by single slashes, no slash at either end; empty for DIR itself.
    path: Vec<u8>,
    /// The request ended in a slash (or in a dot segment): only a directory will do.
    directory: bool,
}

/// Why a path names nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadTarget {
    /// It is not a path in origin form, or is badly encoded.
    Malformed,
    /// It is well formed, and nothing below DIR can have this name.
    Nowhere,
}

/// The longest name Linux has (NAME_MAX).
const LONGEST_NAME: usize = 255;

impl Target {
    /// Reads the path of a request, still percent-encoded and without its query.
    pub(crate) fn parse(encoded: &str) -> Result<Self, BadTarget> {
        let below = encoded.strip_prefix('/').ok_or(BadTarget::Malformed)?;
        let mut target = Self { path: Vec::with_capacity(below.len()), directory: true };
        for segment in below.split('/') {
            target.descend(segment)?;
        }
        Ok(target)
    }

    fn descend(&mut self, encoded: &str) -> Result<(), BadTarget> {
        let name = decode(encoded)?;
        match name.as_slice() {
            b"" | b"." => self.directory = true,
            b".." => return Err(BadTarget::Nowhere),
            name if name.contains(&b'/') || name.len() > LONGEST_NAME => {
                return Err(BadTarget::Nowhere);
            }
            name => {
                *self = self.child(name);
                self.directory = false;
            }
        }
        Ok(())
    }

    /// What is called `name` in the directory that this names. `name` comes from a decoded
    /// segment or from the file system, and has no slash.
    pub(crate) fn child(&self, name: &[u8]) -> Self {
        let mut path = self.path.clone();
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(name);
        Self { path, directory: false }
    }

    /// The path relative to DIR; `.` for DIR itself.
    pub(crate) fn path(&self) -> &[u8] {
        if self.path.is_empty() { b"." } else { &self.path }
    }

    /// The last name; empty for DIR itself.
    pub(crate) fn name(&self) -> &[u8] {
        self.path.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
    }

    /// Whether the request insists on a directory.
    pub(crate) fn wants_directory(&self) -> bool {
        self.directory
    }

    /// Whether a name in it begins with a dot, which by custom is not shown.
    pub(crate) fn is_hidden(&self) -> bool {
        self.path.split(|byte| *byte == b'/').any(|name| name.starts_with(b"."))
    }

    /// Whether this is DIR itself.
    pub(crate) fn is_root(&self) -> bool {
        self.path.is_empty()
    }

    /// The path as a link to a directory: from the server's root, encoded anew, one slash
    /// between names and one at the end. It starts with exactly one slash, so that a redirect
    /// to it cannot leave this server (`//host/` would).
    pub(crate) fn directory_link(&self) -> String {
        let mut link = String::from("/");
        for name in self.path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
            escape::push_segment(&mut link, name);
            link.push('/');
        }
        link
    }
}

/// The bytes of one segment.
fn decode(encoded: &str) -> Result<Vec<u8>, BadTarget> {
    let mut rest = encoded.as_bytes();
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        let digits = rest.get(at + 1..at + 3).ok_or(BadTarget::Malformed)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err(BadTarget::Malformed);
        }
        rest = &rest[at + 3..];
    }
    let decoded: Vec<u8> = percent_decode(encoded.as_bytes()).collect();
    if decoded.contains(&0) { Err(BadTarget::Malformed) } else { Ok(decoded) }
}

#[cfg(test)]
mod tests;

//! What a fiber is called in reports.

use std::fmt;
use std::sync::Arc;

/// A fiber's name: none, a constant, or one shared with others. Making one from a constant or from
/// an `Arc` allocates nothing.
#[derive(Clone, Default)]
pub struct Name(Kind);

#[derive(Clone, Default)]
enum Kind {
    #[default]
    None,
    Static(&'static str),
    Shared(Arc<str>),
}

impl Name {
    /// The name, if there is one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.0 {
            Kind::None => None,
            Kind::Static(name) => Some(name),
            Kind::Shared(name) => Some(name),
        }
    }
}

impl From<&'static str> for Name {
    fn from(name: &'static str) -> Name {
        Name(Kind::Static(name))
    }
}

impl From<Arc<str>> for Name {
    fn from(name: Arc<str>) -> Name {
        Name(Kind::Shared(name))
    }
}

impl From<String> for Name {
    fn from(name: String) -> Name {
        Name(Kind::Shared(name.into()))
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(out)
    }
}

//! What a rule reports: where, which rule, and what to do about it.

use std::fmt;

/// One violation of one rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) rule: &'static str,
    pub(crate) advice: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.path, self.line, self.rule, self.advice)
    }
}

/// Where the rules put what they find.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) list: Vec<Finding>,
}

impl Findings {
    /// Notes one violation.
    pub(crate) fn add(
        &mut self,
        path: &str,
        line: usize,
        rule: &'static str,
        advice: impl Into<String>,
    ) {
        let (path, advice) = (path.to_owned(), advice.into());
        self.list.push(Finding { path, line, rule, advice });
    }
}

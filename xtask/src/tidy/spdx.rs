//! Can a licence expression be met from a list of licences?
//!
//! SPDX expressions: `OR` is a choice, `AND` asks for both and binds tighter, `WITH` adds an
//! exception to the licence before it, parentheses group, and a trailing `+` means this version or
//! a later one. The slash of old manifests is read as `OR`.

/// Whether choosing from `allowed` alone can satisfy `expression`. An allowed entry may carry its
/// exception: a licence with an exception is only met by an entry that names both.
pub(crate) fn satisfied(expression: &str, allowed: &[&str]) -> Result<bool, String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser { words: &words, at: 0, allowed };
    let result = parser.any()?;
    match parser.words.get(parser.at) {
        None => Ok(result),
        Some(word) => Err(format!("`{word}` was not expected in `{expression}`")),
    }
}

struct Parser<'p> {
    words: &'p [&'p str],
    at: usize,
    allowed: &'p [&'p str],
}

impl<'p> Parser<'p> {
    fn any(&mut self) -> Result<bool, String> {
        let mut result = self.all()?;
        while self.take("OR") {
            result |= self.all()?;
        }
        Ok(result)
    }

    fn all(&mut self) -> Result<bool, String> {
        let mut result = self.one()?;
        while self.take("AND") {
            result &= self.one()?;
        }
        Ok(result)
    }

    fn one(&mut self) -> Result<bool, String> {
        if self.take("(") {
            let result = self.any()?;
            return if self.take(")") {
                Ok(result)
            } else {
                Err("a bracket stays open".to_owned())
            };
        }
        let licence = self.name()?;
        if self.take("WITH") {
            let exception = self.name()?;
            return Ok(self.allowed.contains(&format!("{licence} WITH {exception}").as_str()));
        }
        Ok(self.allowed.contains(&licence.trim_end_matches('+')))
    }

    fn name(&mut self) -> Result<&'p str, String> {
        match self.words.get(self.at) {
            Some(word) if !matches!(*word, "OR" | "AND" | "WITH" | "(" | ")") => {
                self.at += 1;
                Ok(word)
            }
            Some(word) => Err(format!("`{word}` where a licence should stand")),
            None => Err("it ends where a licence should stand".to_owned()),
        }
    }

    fn take(&mut self, word: &str) -> bool {
        let taken = self.words.get(self.at) == Some(&word);
        self.at += usize::from(taken);
        taken
    }
}

//! The list of things to weaken: its form, and whether it still fits the tree.

/// What an entry is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expect {
    /// This model fails.
    Red(String),
    /// No model can fail, for this reason.
    Unseen(String),
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) line: usize,
    pub(crate) file: String,
    pub(crate) find: String,
    pub(crate) with: String,
    pub(crate) expect: Expect,
}

impl Entry {
    /// The package: crates are in folders of their name.
    pub(crate) fn package(&self) -> &str {
        self.file.split('/').nth(1).unwrap_or_default()
    }
}

/// Reads the list. An error names its line.
pub(crate) fn parse(text: &str) -> Result<Vec<Entry>, (usize, String)> {
    let mut entries = Vec::new();
    let mut fields: Vec<(usize, &str, &str)> = Vec::new();
    for (n, line) in text.lines().chain([""]).enumerate() {
        if line.starts_with('#') {
            continue;
        }
        if line.trim().is_empty() {
            if !fields.is_empty() {
                entries.push(entry(&fields)?);
                fields.clear();
            }
            continue;
        }
        let (key, value) = line.split_once(':').ok_or_else(|| (n + 1, "no `key:`".to_owned()))?;
        fields.push((n + 1, key.trim(), value.strip_prefix(' ').unwrap_or(value)));
    }
    Ok(entries)
}

fn entry(fields: &[(usize, &str, &str)]) -> Result<Entry, (usize, String)> {
    const KEYS: [&str; 5] = ["file", "find", "with", "red", "unseen"];
    let line = fields[0].0;
    if let Some((line, key, _)) = fields.iter().find(|(_, key, _)| !KEYS.contains(key)) {
        return Err((*line, format!("`{key}` is none of {KEYS:?}")));
    }
    let joined = |wanted: &str| {
        let parts: Vec<&str> =
            fields.iter().filter(|(_, key, _)| *key == wanted).map(|f| f.2).collect();
        (!parts.is_empty()).then(|| parts.join("\n"))
    };
    let needed = |key: &str| joined(key).ok_or_else(|| (line, format!("`{key}:` is missing")));
    let expect = match (joined("red"), joined("unseen")) {
        (Some(test), None) => Expect::Red(test.trim().to_owned()),
        (None, Some(why)) => Expect::Unseen(why),
        _ => return Err((line, "give one of `red:` and `unseen:`".to_owned())),
    };
    let file = needed("file")?.trim().to_owned();
    Ok(Entry { line, file, find: needed("find")?, with: needed("with")?, expect })
}

/// What is wrong with an entry, given the text of its file.
pub(crate) fn problem(entry: &Entry, text: Option<&str>) -> Option<String> {
    let Some(text) = text else { return Some(format!("there is no file {}", entry.file)) };
    if entry.find == entry.with {
        return Some("`find` and `with` are the same".to_owned());
    }
    match text.matches(&entry.find).count() {
        1 => None,
        n => Some(format!("`{}` stands {n} times in {}, not once", entry.find, entry.file)),
    }
}

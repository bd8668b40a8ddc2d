//! The page for those who come from elsewhere names only what there is.

use std::path::Path;

/// The text of all sources but tests.
fn sources(folder: &Path, texts: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true if path.ends_with("tests") => {}
            true => sources(&path, texts),
            false => texts.push(std::fs::read_to_string(&path).unwrap()),
        }
    }
}

/// What stands in backticks.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Whether a source defines `name`, with one of these words before it.
fn defines(texts: &[String], words: &[&str], name: &str) -> bool {
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let defined = |text: &String, word: &str| {
        let start = format!("{word} {name}");
        text.match_indices(&start).any(|(at, _)| ends(&text[at + start.len()..]))
    };
    texts.iter().any(|text| words.iter().any(|word| defined(text, word)))
}

#[test]
fn every_name_of_ours_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("../../docs/coming-from.md")).unwrap();
    let mut texts = Vec::new();
    sources(&root.join("src"), &mut texts);
    let (mut checked, mut missing) = (0, Vec::new());
    // The last cell of each row of a table, and qualified names in the text between.
    for line in page.split("## A program").next().unwrap().lines() {
        let ours = line.strip_suffix(" |").map_or("", |row| row.rsplit(" | ").next().unwrap());
        let bullets =
            names(line).filter(|name| line.starts_with(['*', ' ']) && name.contains("::"));
        for name in names(ours).filter(|_| line.starts_with("| ")).chain(bullets) {
            checked += 1;
            let mut parts = name.rsplit("::");
            let last = parts.next().unwrap();
            let is_type = last.starts_with(char::is_uppercase);
            let words: &[&str] =
                if is_type { &["struct", "trait", "type", "enum"] } else { &["fn"] };
            let type_or_module = parts.next().is_none_or(|name| match is_type {
                false if name.starts_with(char::is_uppercase) => {
                    defines(&texts, &["struct", "trait", "type", "enum"], name)
                }
                _ => defines(&texts, &["mod"], name),
            });
            if !type_or_module || !defines(&texts, words, last) {
                missing.push(name);
            }
        }
    }
    assert!(checked > 100, "{checked}");
    assert!(missing.is_empty(), "not there: {missing:?}");
}

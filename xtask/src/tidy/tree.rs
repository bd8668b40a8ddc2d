//! The tree that tidy looks at: every text file of the project, read once.
//!
//! The rules only see this value, never the disk, so that a test can hand them a tree of its own.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// One text file; `path` is relative to the project's folder and uses forward slashes.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// All files of the project.
pub(crate) struct Tree {
    pub(crate) files: Vec<File>,
    names: BTreeSet<String>,
}

impl Tree {
    /// Reads the project from disk. Build output and version control are left out.
    pub(crate) fn read(root: &Path) -> Result<Tree, String> {
        let mut files = Vec::new();
        let mut names = BTreeSet::new();
        walk(root, "", &mut files, &mut names)
            .map_err(|error| format!("cannot read {}: {error}", root.display()))?;
        Ok(Tree { files, names })
    }

    /// A tree that stands only in memory.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Tree {
        let mut names = BTreeSet::new();
        for (path, _) in files {
            add_with_folders(&mut names, path);
        }
        let files = files
            .iter()
            .map(|(path, text)| File { path: (*path).to_owned(), text: (*text).to_owned() })
            .collect();
        Tree { files, names }
    }

    /// Is there a file or a folder of this name?
    pub(crate) fn exists(&self, path: &str) -> bool {
        path.is_empty() || self.names.contains(path)
    }

    /// The text of one file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == path).map(|file| file.text.as_str())
    }

    /// The folder of the package that a file belongs to: the nearest one with a manifest.
    pub(crate) fn package_of<'p>(&self, path: &'p str) -> Option<&'p str> {
        let mut folder = parent(path);
        while !folder.is_empty() {
            if self.names.contains(&format!("{folder}/Cargo.toml")) {
                return Some(folder);
            }
            folder = parent(folder);
        }
        None
    }
}

/// The folder part of a path, empty at the top.
pub(crate) fn parent(path: &str) -> &str {
    path.rfind('/').map_or("", |at| &path[..at])
}

#[cfg(test)]
fn add_with_folders(names: &mut BTreeSet<String>, path: &str) {
    let mut rest = path;
    while !rest.is_empty() {
        names.insert(rest.to_owned());
        rest = parent(rest);
    }
}

fn walk(
    root: &Path,
    folder: &str,
    files: &mut Vec<File>,
    names: &mut BTreeSet<String>,
) -> std::io::Result<()> {
    let mut entries = fs::read_dir(root.join(folder))?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == ".git" || name == "target" {
            continue;
        }
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_dir() {
            names.insert(path.clone());
            walk(root, &path, files, names)?;
        } else if kind.is_file() {
            names.insert(path.clone());
            // What is not text is not the business of any rule.
            if let Ok(text) = String::from_utf8(fs::read(entry.path())?) {
                files.push(File { path, text });
            }
        }
    }
    Ok(())
}

//! A copy of the tree in which code may be broken.
//!
//! It lies below the target folder and has a target folder of its own: cargo would take its crates
//! for those of the real tree.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

const LOG: &str = "weaken.log";

pub(crate) struct Sandbox {
    root: PathBuf,
    target: PathBuf,
}

impl Sandbox {
    /// Copies the project, without build output and version control.
    pub(crate) fn make(project: &Path) -> Result<Sandbox, String> {
        let root = project.join("target/weaken");
        if root.exists() {
            fs::remove_dir_all(&root).map_err(|error| format!("{}: {error}", root.display()))?;
        }
        copy(project, &root).map_err(|error| format!("cannot copy the tree: {error}"))?;
        Ok(Sandbox { root, target: project.join("target/weaken-build") })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Where the compiler's words go: they matter only if something is wrong.
    pub(crate) fn log(&self) -> Result<File, String> {
        File::create(self.root.join(LOG)).map_err(|error| format!("{LOG}: {error}"))
    }

    pub(crate) fn logged(&self) -> String {
        fs::read_to_string(self.root.join(LOG)).unwrap_or_default()
    }

    pub(crate) fn read(&self, file: &str) -> Result<String, String> {
        fs::read_to_string(self.root.join(file)).map_err(|error| format!("{file}: {error}"))
    }

    pub(crate) fn write(&self, file: &str, text: &str) -> Result<(), String> {
        fs::write(self.root.join(file), text).map_err(|error| format!("{file}: {error}"))
    }
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == "target" || name == ".git" {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to.join(&name))?;
        } else {
            fs::copy(entry.path(), to.join(&name))?;
        }
    }
    Ok(())
}

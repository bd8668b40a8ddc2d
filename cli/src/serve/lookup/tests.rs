//! Files, index files, listings, redirects, and the status of each refusal.

use super::*;
use std::fs;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

fn site() -> (TempDir, Root) {
    let top = TempDir::new().expect("temporary directory");
    let dir = top.path().join("served");
    for sub in ["plain", "indexed", "odd/index.html", "linked"] {
        fs::create_dir_all(dir.join(sub)).expect("directory");
    }
    fs::write(top.path().join("secret"), "secret").expect("file");
    fs::write(dir.join("a.txt"), "hello").expect("file");
    fs::write(dir.join("indexed/index.html"), "<p>").expect("file");
    for (to, at) in [
        ("a.txt", "to-file"),
        ("plain", "to-dir"),
        ("../secret", "out"),
        ("../../secret", "linked/index.html"),
        ("../indexed/index.html", "plain/page.html"),
    ] {
        symlink(to, dir.join(at)).expect("link");
    }
    let fifo =
        rustix::fs::mknodat(rustix::fs::CWD, dir.join("fifo"), FileType::Fifo, 0o600.into(), 0);
    fifo.expect("fifo");
    let root = Root::open(&dir).expect("there");
    (top, root)
}

/// A word for what was found.
fn ask(root: &Root, path: &str) -> String {
    word(find(root, &Target::parse(path).expect("legal")))
}

fn word(found: Result<Found, StatusCode>) -> String {
    match found {
        Ok(Found::File(located)) => {
            let name = String::from_utf8(located.name).expect("text");
            let text = io::read_to_string(located.file).expect("readable");
            assert_eq!(text.len() as u64, located.metadata.length);
            format!("{name}: {text}")
        }
        Ok(Found::Page(html)) => format!("page of {}", html.matches("<a href").count()),
        Ok(Found::Elsewhere(link)) => format!("to {link}"),
        Err(status) => status.as_str().to_owned(),
    }
}

#[test]
fn answers() {
    let (_top, root) = site();
    for (path, answer) in [
        ("/a.txt", "a.txt: hello"),
        ("/to-file", "to-file: hello"),
        ("/plain/page.html", "page.html: <p>"),
        ("/indexed/", "index.html: <p>"),
        ("/indexed/index.html", "index.html: <p>"),
        ("/indexed", "to /indexed/"),
        ("/to-dir", "to /to-dir/"),
        ("/plain/", "page of 2"),
        // An index that is a directory, or leads out, is none.
        ("/odd/", "page of 2"),
        ("/linked/", "page of 1"),
        // All but `out` and `fifo`.
        ("/", "page of 7"),
        ("/a.txt/", "404"),
        ("/nothing", "404"),
        ("/nothing/", "404"),
        ("/out", "404"),
        ("/fifo", "404"),
        ("/a.txt/x", "404"),
    ] {
        assert_eq!(ask(&root, path), answer, "{path}");
        // What can be told at once is told alike.
        if let Some(found) = at_hand(&root, &Target::parse(path).expect("legal")) {
            assert_eq!(word(found), answer, "{path}");
        }
    }
}

#[test]
fn hidden_names() {
    let (top, root) = site();
    let dir = top.path().join("served");
    fs::create_dir_all(dir.join("plain/.git")).expect("directory");
    fs::write(dir.join("plain/.git/config"), "url").expect("file");
    fs::write(dir.join("plain/.env"), "KEY").expect("file");
    symlink(".env", dir.join("plain/shown")).expect("link");
    let paths = ["/plain/.env", "/plain/.git/config", "/plain/.git/", "/plain/.git", "/.nothing"];
    for path in paths {
        assert_eq!(ask(&root, path), "404", "{path}");
        let found = at_hand(&root, &Target::parse(path).expect("legal")).expect("told at once");
        assert_eq!(word(found), "404", "{path}");
    }
    assert_eq!(ask(&root, "/plain/shown"), "shown: KEY");
    assert_eq!(ask(&root, "/plain/"), "page of 3");
    let root = root.with_hidden(true);
    let answers = [".env: KEY", "config: url", "page of 2", "to /plain/.git/", "404"];
    for (path, answer) in paths.into_iter().zip(answers) {
        assert_eq!(ask(&root, path), answer, "{path}");
    }
    assert_eq!(ask(&root, "/plain/"), "page of 5");
}

#[test]
fn status_of_each_refusal() {
    for (errno, code) in [
        (Errno::NOENT, 404),
        (Errno::XDEV, 404),
        (Errno::LOOP, 404),
        (Errno::ACCESS, 403),
        (Errno::PERM, 403),
        (Errno::MFILE, 503),
        (Errno::NFILE, 503),
        (Errno::AGAIN, 503),
        (Errno::IO, 500),
    ] {
        assert_eq!(status(&errno.into()), code, "{errno:?}");
    }
    assert_eq!(status(&io::Error::other("no number")), 500);
}
